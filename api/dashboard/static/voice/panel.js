// A piece of a page from which one talks to an agent. The page brings the markup: any
// element inside [data-voice-panel] may have a data-voice, and what is there is used. So the
// playground and the small test call beside the editor share this.
import { Conversation } from "./conversation.js";
import { microphones } from "./microphone.js";
import { Scope } from "./scope.js";
import { EventsView, PhaseView, ToldView, TranscriptView, WaterfallView, english } from "./views.js";
import { VoiceSession } from "./voice.js";

// What is said of each state. The reason of the server follows where there is one.
const sentences = {
  idle: "Not connected.",
  asking: "Your browser asks for the microphone. Please allow it.",
  denied: "The microphone was refused. To undo that, open the site settings beside the address (the lock or the microphone), allow the microphone, and start again. You can also go on without a microphone and type.",
  missing: "No microphone was found. Connect one and start again, or go on without a microphone and type.",
  busy: "The microphone cannot be used. Another program may have it. Close that and start again, or go on without a microphone and type.",
  insecure: "Browsers let pages use the microphone only over https, or on localhost. Open this page that way, or go on without a microphone and type.",
  connecting: "Connecting…",
  live: "Connected. Say something.",
  reconnecting: "The connection was lost. Trying again…",
  nobalance: "The balance does not suffice. Top up and start again.",
  ended: "The conversation has ended.",
};

const notices = {
  lost: "The microphone was unplugged. Connect one, and the conversation goes on with it; until then you can type.",
  regained: "The conversation goes on with another microphone: talk.",
};

export class VoicePanel {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.parts = {};
    for (const e of root.querySelectorAll("[data-voice]")) this.parts[e.dataset.voice] = e;
    this.conversation = new Conversation();
    this.query = new URLSearchParams(location.search);
    const p = this.parts;
    this.views = [
      p.transcript && [new TranscriptView(p.transcript, { ...english, user: "You", unheard: "not heard: you interrupted" }), (c) => c.lines],
      p.turns && [new WaterfallView(p.turns, p["turns-summary"]), (c) => c.turns],
      p.events && [new EventsView(p.events), (c) => c.events],
      p.phases && [new PhaseView(p.phases), (c) => c.phase],
      p.told && [new ToldView(p.told), (c) => c.told],
    ].filter(Boolean);
    this.scope = new Scope(p.scope ?? null, { caller: p["caller-level"] ?? null, agent: p["agent-level"] ?? null }, this.conversation);
    this.session = new VoiceSession({ ticket: () => this.ticket(), insight: true, raw: this.query.has("raw") });
    this.session.addEventListener("state", (e) => this.state(e.detail));
    this.session.addEventListener("message", (e) => this.message(e.detail.message));
    this.session.addEventListener("flushed", (e) => this.happened(`flushed after ${Math.round(e.detail.heard)} ms`));
    this.session.addEventListener("notice", (e) => this.say(notices[e.detail.code] ?? e.detail.code));
    this.wire();
    this.show({ state: "idle", reason: "" });
    this.draw();
  }

  wire() {
    const on = (name, type, f) => this.parts[name]?.addEventListener(type, f);
    on("start", "click", () => this.start(true));
    on("start-typed", "click", () => this.start(false));
    on("stop", "click", () => this.session.stop());
    on("interrupt", "click", () => this.session.interrupt());
    on("mute", "click", () => this.mute());
    on("voice", "change", (e) => e.target.value && this.session.setVoice(e.target.value));
    on("language", "change", (e) => e.target.value && this.session.setLanguage(e.target.value));
    on("device", "focus", () => this.devices());
    on("type", "submit", (e) => {
      e.preventDefault();
      this.type();
    });
    this.leaving = () => this.session.stop();
    addEventListener("pagehide", this.leaving);
    this.plugged = () => this.devices();
    navigator.mediaDevices?.addEventListener("devicechange", this.plugged);
  }

  /** Ends what is open; the panel is not used any more. */
  close() {
    this.session.stop();
    removeEventListener("pagehide", this.leaving);
    navigator.mediaDevices?.removeEventListener("devicechange", this.plugged);
  }

  value(name, otherwise = "") {
    return this.parts[name]?.value || otherwise;
  }

  start(microphone) {
    this.conversation.clear();
    const agentId = this.root.dataset.voiceAgent || this.value("agent");
    const agent = agentId ? {} : { prompt: this.value("prompt", "You are a helpful assistant.") };
    for (const name of ["voice", "language"]) if (this.value(name)) agent[name] = this.value(name);
    return this.session.start({ microphone, agentId, agent, transport: this.value("transport", this.query.get("transport") ?? "websocket"), deviceId: this.value("device") });
  }

  // Makes a credential: the page's server does, for the user who is signed in.
  async ticket() {
    const answer = await fetch(this.root.dataset.voiceTicket, { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" });
    if (!answer.ok) throw new Error(answer.status === 401 ? "You are not signed in any more: reload the page." : `No ticket was given (${answer.status}).`);
    return (await answer.json()).ticket;
  }

  type() {
    const text = this.value("text").trim();
    if (!text || this.session.state !== "live") return;
    this.session.sendText(text);
    this.parts.text.value = "";
  }

  mute() {
    this.session.muted = !this.session.muted;
    this.parts.mute.ariaPressed = String(this.session.muted);
  }

  async devices() {
    const select = this.parts.device;
    if (!select) return;
    const all = await microphones();
    const chosen = select.value;
    select.replaceChildren(new Option("System default", ""), ...all.filter((d) => d.id !== "default").map((d) => new Option(d.name, d.id)));
    select.value = all.some((d) => d.id === chosen) ? chosen : "";
  }

  state(s) {
    this.conversation.session(s);
    clearInterval(this.reporting);
    if (s.state === "connecting") this.scope.start(this.session);
    if (s.state === "live") this.reporting = setInterval(() => this.report(), 1000);
    if (!this.session.running) this.scope.stop();
    if (s.state === "live") this.devices();
    this.show(s);
    this.draw();
  }

  show({ state, reason }) {
    const { root, parts, session } = this;
    root.dataset.voiceState = state;
    const more = reason && !["asking", "live"].includes(state) ? `${reason[0].toUpperCase()}${reason.slice(1)}${/[.!?]$/.test(reason) ? "" : "."}` : "";
    this.say(!more || more === sentences[state] ? sentences[state] : `${sentences[state]} ${more}`);
    const live = state === "live";
    const enable = (on, ...names) => names.forEach((n) => parts[n] && (parts[n].disabled = !on));
    // Who used a button goes on with the one that takes its place.
    const focused = [parts.start, parts["start-typed"], parts.stop].includes(document.activeElement);
    enable(!session.running, "start", "start-typed", "agent", "transport", "device", "prompt");
    enable(session.running, "stop");
    enable(live, "interrupt", "text", "send");
    enable(live && session.microphone !== null, "mute");
    if (parts.mute) parts.mute.ariaPressed = String(live && session.microphone !== null && session.muted);
    if (focused) (session.running ? parts.stop : parts.start)?.focus();
  }

  say(text) {
    if (this.parts.state) this.parts.state.textContent = text;
  }

  // How the connection is, each second that it is there.
  async report() {
    const { stats } = this.parts;
    if (stats && this.session.transport) stats.textContent = await this.session.transport.report();
  }

  message(m) {
    this.conversation.take(m);
    this.soon();
  }

  happened(label) {
    this.conversation.note("session", label);
    this.soon();
  }

  // Messages come in bursts; one drawing shows them all.
  soon() {
    this.due ??= setTimeout(() => {
      this.due = undefined;
      this.draw();
    }, 30);
  }

  draw() {
    const c = this.conversation;
    for (const [view, of] of this.views) view.draw(of(c));
    const { cost, echo, call } = this.parts;
    if (cost) cost.textContent = c.cost === null ? "–" : `$${Number(c.cost).toFixed(4)}`;
    if (echo) echo.hidden = !c.echo;
    if (call) {
      call.hidden = !c.call;
      if (c.call) call.href = call.dataset.voiceHref.replace("CALL", encodeURIComponent(c.call));
    }
  }
}

/** Makes panels of what is in root and marked as one. The panel is the element's voice. */
export function mount(root = document) {
  const found = [...root.querySelectorAll("[data-voice-panel]")];
  if (root.matches?.("[data-voice-panel]")) found.push(root);
  for (const e of found) e.voice ??= new VoicePanel(e);
}

mount();
// Pages that are changed in place bring panels, and take them away.
document.addEventListener("htmx:load", (e) => mount(e.target));
document.addEventListener("htmx:beforeCleanupElement", (e) => e.target.voice?.close());
