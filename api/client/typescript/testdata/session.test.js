// A session over sockets that the test plays, in a time of its own.
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { AgentSession } from "./session.js";

// Everything that is due without time passing.
const settle = async () => {
  for (let i = 0; i < 20; i++) await null;
};

// A network whose sockets open at once and keep what is sent.
class Socket {
  static all = [];
  constructor(url) {
    this.url = new URL(url);
    this.readyState = 0;
    this.bufferedAmount = 0;
    this.sent = [];
    Socket.all.push(this);
    queueMicrotask(() => {
      this.readyState = 1;
      this.onopen();
    });
  }
  send(data) {
    this.sent.push(typeof data === "string" ? JSON.parse(data) : data);
  }
  say(message) {
    this.onmessage({ data: typeof message === "string" ? message : JSON.stringify(message) });
  }
  close(code, reason = "") {
    this.readyState = 3;
    this.ended = code;
    this.onclose({ code, reason });
  }
}

// A session and what it tells.
async function begun(options = {}) {
  Socket.all = [];
  let tickets = 0;
  const told = [];
  const session = new AgentSession({ server: "https://voice.example.com", ticket: async () => `wst_${++tickets}`, webSocket: Socket, ...options });
  session.on("state", (e) => told.push([e.state, e.code, e.reason].filter(Boolean).join(" ")));
  session.on("flushed", () => told.push("flushed"));
  await session.start();
  return { session, told };
}

const ready = { type: "status", data: "prompt_set" };

test("a connection begins with a ticket, what is left to us, and what the conversation is about", async () => {
  const { session, told } = await begun({ agentId: "ag_1", variables: { name: "Ana" }, metadata: { order: "42" } });
  const [socket] = Socket.all;
  assert.equal(socket.url.href, "wss://voice.example.com/ws/agent?api_key=wst_1&agent_id=ag_1");
  assert.deepEqual(socket.sent, [
    { type: "features", data: ["resume"] },
    { type: "rates", playback: 44100, input: 16000 },
    { type: "variables", data: { name: "Ana" } },
    { type: "metadata", data: { order: "42" } },
  ]);
  socket.say(ready);
  session.sendText("hello");
  session.sendToolResult("call_1", { ok: true });
  assert.deepEqual(socket.sent.slice(-2), [{ type: "text", data: "hello" }, { type: "tool_result", data: { call_id: "call_1", result: '{"ok":true}' } }]);
  session.stop();
  assert.equal(socket.ended, 1000);
  assert.deepEqual(told, ["connecting", "live", "ended stopped"]);
});

test("the agent's voice comes as samples, and an interruption says what must not be played", async () => {
  const { session, told } = await begun();
  const heard = [];
  const end = session.on("audio", ({ samples }) => heard.push(...samples));
  Socket.all[0].onmessage({ data: new Int16Array([1, -2]).buffer });
  Socket.all[0].say({ type: "status", data: "interrupted" });
  end();
  Socket.all[0].onmessage({ data: new Int16Array([3]).buffer });
  assert.deepEqual([heard, told.at(-1)], [[1, -2], "flushed"]);
  session.stop();
});

test("sound that a slow network keeps waiting is dropped after two seconds", async () => {
  const { session } = await begun();
  const [socket] = Socket.all;
  const sent = socket.sent.length;
  session.sendAudio(new Int16Array(320));
  socket.bufferedAmount = 64001;
  session.sendAudio(new Int16Array(320));
  assert.equal(socket.sent.length, sent + 1);
  assert.deepEqual(session.transport.stats, { sent: 320, dropped: 320 });
  session.stop();
});

test("a lost connection comes back with another ticket, five times in a row at most", { skip: !mock.timers }, async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const { told } = await begun({ agentId: "ag_1", variables: { name: "Ana" } });
    Socket.all[0].say(ready);
    for (const wait of [1000, 2000, 4000, 8000, 10000]) {
      Socket.all.at(-1).close(1012);
      mock.timers.tick(0.7 * wait);
      await settle();
      assert.equal(Socket.all.at(-1).readyState, 3, "too early");
      mock.timers.tick(0.6 * wait);
      await settle();
      assert.equal(Socket.all.at(-1).readyState, 1, "too late");
    }
    Socket.all.at(-1).close(1012, "maintenance");
    assert.deepEqual(Socket.all.map((s) => s.url.searchParams.get("api_key")), [1, 2, 3, 4, 5, 6].map((n) => `wst_${n}`));
    assert.deepEqual(Socket.all[5].sent.at(-1), { type: "variables", data: { name: "Ana" } });
    assert.deepEqual(told, ["connecting", "live", ...Array(5).fill("reconnecting"), "ended maintenance"]);
  } finally {
    mock.timers.reset();
  }
});

// What the server says of the conversation itself.
const known = (resume, resumed = false) => ({ type: "session", data: { id: "ses_1", resume, resumed } });

test("a conversation whose network breaks goes on within a second", { skip: !mock.timers }, async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const { session, told } = await begun({ agentId: "ag_1", agent: { voice: "F2" }, variables: { name: "Ana" } });
    Socket.all[0].say(known("tok_1"));
    Socket.all[0].say(ready);
    Socket.all[0].close(1006);
    for (const [tick, token] of [[1000, "tok_1"], [1000, "tok_2"]]) {
      mock.timers.tick(tick);
      await settle();
      const socket = Socket.all.at(-1);
      assert.equal(socket.url.searchParams.get("resume"), token);
      assert.equal(socket.url.searchParams.get("agent_id"), null);
      assert.deepEqual(socket.sent, [], "the server knows it");
      socket.say(known("tok_2", true));
      session.sendText("hello");
      assert.deepEqual(socket.sent, [{ type: "text", data: "hello" }]);
      if (Socket.all.length < 3) socket.close(1006);
    }
    assert.deepEqual(told, ["connecting", "live", "reconnecting", "live", "reconnecting", "live"]);
    session.stop();
    assert.equal(Socket.all[2].ended, 1000);
  } finally {
    mock.timers.reset();
  }
});

test("a conversation that is over is followed by a new one at once, and one that the server ended is not come back to", { skip: !mock.timers }, async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const { session } = await begun({ agentId: "ag_1", variables: { name: "Ana" } });
    const resumes = [];
    session.on("state", (e) => e.state === "reconnecting" && resumes.push(e.resumes));
    Socket.all[0].say(known("tok_1"));
    Socket.all[0].say(ready);
    Socket.all[0].close(1006);
    mock.timers.tick(1000);
    await settle();
    Socket.all[1].say({ type: "error", data: { code: "agent.session_over", message: "It has ended." } });
    Socket.all[1].close(1008);
    await settle();
    assert.equal(Socket.all.length, 3);
    assert.equal(Socket.all[2].url.searchParams.get("agent_id"), "ag_1");
    assert.deepEqual(Socket.all[2].sent.at(-1), { type: "variables", data: { name: "Ana" } });
    Socket.all[2].say(known("tok_2"));
    Socket.all[2].say(ready);
    Socket.all[2].close(1012);
    mock.timers.tick(1300);
    await settle();
    assert.equal(Socket.all[3].url.searchParams.get("resume"), null);
    assert.deepEqual(resumes, [true, false, false]);
    session.stop();
  } finally {
    mock.timers.reset();
  }
});

test("a conversation is come back to for half a minute", { skip: !mock.timers }, async (t) => {
  mock.timers.enable({ apis: ["setTimeout"] });
  let now = 0;
  t.mock.method(performance, "now", () => now);
  try {
    const { session } = await begun({ agentId: "ag_1" });
    Socket.all[0].say(known("tok_1"));
    Socket.all[0].say(ready);
    Socket.all[0].close(1006);
    for (let i = 0; i < 40; i++) {
      now += 1000;
      mock.timers.tick(1000);
      await settle();
      if (Socket.all.at(-1).readyState === 1) Socket.all.at(-1).close(1006);
    }
    const tried = Socket.all.map((s) => s.url.searchParams.get("resume"));
    const last = tried.lastIndexOf("tok_1");
    assert.ok(last >= 5 && last <= 8 && tried.length > last + 1, String(tried));
    session.stop();
  } finally {
    mock.timers.reset();
  }
});

test("a refusal is not tried again, and says why", async () => {
  for (const [code, error, want] of [
    [1008, { code: "agent.not_found", message: "There is no such agent." }, "ended agent.not_found There is no such agent."],
    [1008, { code: "billing.insufficient_balance", message: "The balance is too low." }, "nobalance billing.insufficient_balance The balance is too low."],
    [1000, null, "ended"],
  ]) {
    const { told } = await begun();
    if (error) Socket.all[0].say({ type: "error", data: error });
    Socket.all[0].close(code);
    assert.deepEqual([told.at(-1), Socket.all.length], [want, 1]);
  }
});

test("a ticket that nobody gives ends the session with the reason, unless it is the network's fault", async () => {
  const none = await begun({ ticket: async () => Promise.reject(new Error("Ask at the desk.")) });
  assert.deepEqual(none.told, ["connecting", "ended Ask at the desk."]);
  const lost = await begun({ ticket: async () => Promise.reject(new TypeError("fetch failed")) });
  assert.deepEqual(lost.told, ["connecting", "reconnecting fetch failed"]);
  lost.session.stop();
});
