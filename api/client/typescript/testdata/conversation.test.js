// What messages amount to.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Conversation, MAX_EVENTS, unheard } from "./conversation.js";

function talk(...messages) {
  let at = 0;
  const c = new Conversation(() => at);
  for (const m of messages) {
    at += 10;
    if (m.state) c.session(m);
    else c.take(m);
  }
  return c;
}
const status = (data, generation) => ({ type: "status", data, generation });
const partial = (role, data) => ({ type: "transcript_partial", role, data });
const line = (role, data) => ({ type: "transcript", role, data });
const shown = (c) => c.lines.map((l) => `${l.role}${l.partial ? "?" : ""}: ${l.text}${l.unheard ? ` [${l.unheard}]` : ""}`);

test("partials become the line that they are the beginning of", () => {
  assert.deepEqual(shown(talk(partial("user", "what"), partial("user", "what time"))), ["user?: what time"]);
  assert.deepEqual(shown(talk(partial("user", "what"), line("user", "What time is it?"))), ["user: What time is it?"]);
  assert.deepEqual(shown(talk(line("user", "typed"))), ["user: typed"]);
});

test("what was begun and not heard is struck", () => {
  const c = talk(status("thinking", 1), status("speaking", 1), partial("agent", "We have three rooms."), partial("agent", "The first one has a view."), partial("user", "the"),
    status("interrupted"), line("agent", "We have three rooms. The first"), status("listening"), line("user", "the second"));
  assert.deepEqual(shown(c), ["agent: We have three rooms. The first [one has a view.]", "user: the second"]);
  assert.equal(c.turns[0].cut, true);
});

test("a reply of which nothing was heard is struck as a whole", () => {
  assert.deepEqual(shown(talk(partial("agent", "Good morning."), status("interrupted"), status("listening"))), ["agent:  [Good morning.]"]);
});

test("words that are not the beginning of what was said strike nothing", () => {
  assert.equal(unheard("one two three", "one, two"), "three");
  assert.equal(unheard("one two three", "something else"), "");
  assert.equal(unheard("one two", "one two three"), "");
});

test("a correction replaces the line, and what was shown of the rest meanwhile", () => {
  const c = talk(line("user", "I want"), status("thinking", 1), partial("user", "a room"), { type: "transcript_update", role: "user", data: "I want a room", replaces: "I want" });
  assert.deepEqual(shown(c), ["user: I want a room"]);
  assert.ok(c.lines[0].changed);
});

test("phases are the server's where it tells them", () => {
  assert.equal(talk(status("prompt_set"), status("thinking", 1)).phase, "thinking");
  const c = talk({ type: "insight", name: "phase", data: { phase: "user_speaking", turn: 1 } }, status("speaking", 1));
  assert.equal(c.phase, "user_speaking");
});

test("without the owner's view the wait is measured here", () => {
  const [t] = talk(status("thinking", 1), status("speaking", 1)).turns;
  assert.deepEqual([t.measured, t.total], [false, 10]);
  const measured = talk({ type: "insight", name: "phase", data: { phase: "thinking" } }, status("thinking", 1), status("speaking", 1),
    { type: "insight", name: "latency", generation: 1, data: { turn: 1, endpoint_ms: 200, model_ms: 30, voice_ms: 50, overhead_ms: 2, total_ms: 282, first_token_ms: 230, first_packet_ms: 282 } }).turns;
  assert.deepEqual(measured.map((t) => [t.measured, t.total, t.endpoint]), [[true, 282, 200]]);
  assert.deepEqual(measured[0].points, [{ name: "first words", at: 230 }, { name: "first packet", at: 282 }]);
});

test("what the model was told is put together from what is new", () => {
  const told = (data) => ({ type: "insight", name: "told", generation: 1, data });
  const c = talk(told({ keep: 0, system: "Be kind.", tools: [{ name: "end_call" }], messages: [{ role: "user", text: "hi" }] }),
    told({ keep: 1, messages: [{ role: "agent", text: "Hello" }, { role: "user", text: "bye" }] }));
  assert.equal(c.told.system, "Be kind.");
  assert.deepEqual(c.told.messages.map((m) => m.text), ["hi", "Hello", "bye"]);
  const back = talk(told({ keep: 0, messages: [{ role: "user", text: "I" }] }), told({ keep: 0, messages: [{ role: "user", text: "I want" }] }));
  assert.deepEqual(back.told.messages.map((m) => m.text), ["I want"]);
});

test("a connection that was lost ends what was open, and says so", () => {
  const c = talk(partial("agent", "Well, let me"), partial("user", "no"), { state: "reconnecting", reason: "" });
  assert.deepEqual(shown(c), ["agent:  [Well, let me]", "user: no", "note: The connection was lost. What follows is a new conversation."]);
  assert.equal(c.phase, "connecting");
});

test("unknown messages are events, and events are bounded", () => {
  const c = talk({ type: "weather", data: { sun: true } }, { type: "error", data: { code: "agent.provider_error", message: "broken" } });
  assert.deepEqual(c.events.map((e) => e.label), ["weather", "error"]);
  for (let i = 0; i < MAX_EVENTS + 100; i++) c.take(status("listening"));
  assert.equal(c.events.length, MAX_EVENTS);
});

test("a connection that never was is not said to be lost", () => {
  const c = talk({ state: "connecting", reason: "" }, { state: "reconnecting", reason: "" }, { state: "reconnecting", reason: "" });
  assert.deepEqual(shown(c), []);
  const twice = talk(line("user", "hello"), { state: "reconnecting", reason: "" }, { state: "reconnecting", reason: "" });
  assert.equal(twice.lines.length, 2);
});

test("before it begins no phase is the present one", () => {
  assert.equal(talk().phase, "");
  assert.equal(talk({ state: "denied", reason: "" }).phase, "");
  assert.equal(talk({ state: "connecting", reason: "" }).phase, "connecting");
});

test("a conversation that goes on says nothing, and is where it was", () => {
  const lost = [status("thinking", 1), status("speaking", 1), partial("agent", "Well, let me"), { state: "reconnecting", reason: "", resumes: true }, { state: "reconnecting", reason: "", resumes: true }];
  assert.equal(talk(...lost).phase, "connecting");
  const c = talk(...lost, { state: "live", reason: "" }, { type: "session", data: { id: "ses_1", resume: "secret", resumed: true } }, status("speaking", 1), line("agent", "Well, let me see."));
  assert.deepEqual(shown(c), ["agent: Well, let me see."]);
  assert.deepEqual([c.phase, c.turns.length], ["speaking", 1]);
  assert.ok(!JSON.stringify(c.events).includes("secret"));
  const over = talk(...lost, { state: "reconnecting", reason: "" }, { state: "live", reason: "" });
  assert.deepEqual(shown(over), ["agent:  [Well, let me]", "note: The connection was lost. What follows is a new conversation."]);
});
