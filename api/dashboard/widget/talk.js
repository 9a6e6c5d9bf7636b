// The button that one script tag puts on a page of any site, and the panel that it opens. The
// page's own style and policy stay as they are: everything is in a shadow tree, and styles are
// made by script, which no policy of styles forbids.
import { Conversation } from "../static/voice/conversation.js";
import { TranscriptView } from "../static/voice/views.js";
import { VoiceSession } from "../static/voice/voice.js";
import { Orb } from "./orb.js";
import { style } from "./style.js";
import { languages } from "./words.js";

const NAME = "parley-talk";

// Of all buttons on a page one has the conversation.
let current = null;

// The site's own server gave no ticket.
class TicketError extends Error {
  constructor(code) {
    super("");
    this.code = code;
  }
}

// Codes of refusals that a visitor can only wait for.
const crowded = ["limit.concurrency", "service.unavailable", "auth.rate_limited", "crowded"];
// Codes of limits that one conversation reaches while another may begin.
const limits = ["limit.spending", "auth.time_limited"];
const noMicrophone = ["denied", "missing", "busy", "insecure"];

const make = (tag, props = {}, ...children) => {
  const e = Object.assign(document.createElement(tag), props);
  e.append(...children);
  return e;
};

/**
 * The button. Its data attributes are those of the script tag. Events, which bubble:
 * "parley:start" {agent}, "parley:transcript" {role, text, replaces}, "parley:end" {state, code}.
 */
class Talk extends HTMLElement {
  connectedCallback() {
    if (!this.session) this.build();
    this.leaving = () => this.session.stop();
    addEventListener("pagehide", this.leaving);
  }

  disconnectedCallback() {
    removeEventListener("pagehide", this.leaving);
    this.session.stop();
  }

  build() {
    const { agentName, label, language, transport } = this.dataset;
    const code = (language || document.documentElement.lang || "en").slice(0, 2).toLowerCase();
    const known = Object.hasOwn(languages, code) ? code : "en";
    this.words = languages[known];
    this.agentName = agentName || this.words.agent;
    this.conversation = new Conversation();
    this.session = new VoiceSession({ ticket: () => this.ticket(), server: this.server, transport: transport === "webrtc" ? "webrtc" : "websocket", variables: this.variables() });
    this.session.addEventListener("state", (e) => this.state(e.detail));
    this.session.addEventListener("message", (e) => this.message(e.detail.message));
    this.session.addEventListener("notice", (e) => {
      if (e.detail.code === "lost") this.say(this.words.lost);
      if (e.detail.code === "regained") this.say(this.words.states.live);
    });
    this.draw(known, label || this.words.label);
    this.transcript = new TranscriptView(this.lines, { ...this.words.transcript, agent: this.agentName });
    this.show("idle", "");
  }

  // What the page says of its visitor; a page that says it wrongly keeps its button.
  variables() {
    try {
      return JSON.parse(this.dataset.variables || "{}");
    } catch (e) {
      console.error("data-variables is no JSON:", e.message);
      return {};
    }
  }

  draw(language, label) {
    const { words, agentName } = this;
    const button = (text, className, click, more = {}) => {
      const b = make("button", { type: "button", className, textContent: text, ...more });
      b.addEventListener("click", click);
      return b;
    };
    const title = `${words.title} ${agentName}`;
    this.launch = button(label, "launch", () => this.start(true), { ariaHasPopup: "dialog" });
    this.again = button(words.again, "main", () => this.start(true));
    this.typed = button(words.typed, "", () => this.start(false));
    this.mute = button(words.mute, "", () => this.muted(!this.session.muted));
    this.end = button(words.end, "end", () => this.session.stop());
    this.orb = new Orb();
    this.status = make("p", { className: "status", role: "status" });
    this.lines = make("div", { className: "lines", role: "log", tabIndex: 0, ariaLabel: words.log });
    this.input = make("input", { type: "text", maxLength: 2000, autocomplete: "off", ariaLabel: words.type, placeholder: words.type });
    this.form = make("form", { className: "row" }, this.input, make("button", { textContent: words.send }));
    this.form.addEventListener("submit", (e) => this.submit(e));
    this.panel = make("div", { className: "panel", role: "dialog", ariaLabel: title, hidden: true },
      make("div", { className: "row head" }, make("strong", { textContent: title }), button("×", "close", () => this.close(), { ariaLabel: words.close })),
      this.orb.element, this.status, this.lines, this.form, make("div", { className: "row" }, this.again, this.typed, this.mute, this.end));
    this.panel.addEventListener("keydown", (e) => e.key === "Escape" && !this.session.running && this.close());
    const root = this.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
    root.adoptedStyleSheets = [sheet];
    root.append(make("div", { className: "box", role: "region", ariaLabel: title, lang: language }, this.panel, this.launch));
  }

  tell(type, detail) {
    this.dispatchEvent(new CustomEvent("parley:" + type, { detail, bubbles: true, composed: true }));
  }

  // The page's own server makes a ticket, one for each connection: only it has the key.
  async ticket() {
    const answer = await fetch(new URL(this.dataset.ticketUrl, document.baseURI), { method: "POST", credentials: "same-origin", headers: { Accept: "application/json" } });
    if (!answer.ok) throw new TicketError([429, 503].includes(answer.status) ? "crowded" : "ticket");
    const { ticket } = await answer.json().catch(() => ({}));
    if (typeof ticket !== "string") throw new TicketError("ticket");
    return ticket;
  }

  start(microphone) {
    if (this.session.running) return;
    if (current !== this) current?.session.stop();
    current = this;
    this.conversation.clear();
    this.lived = false;
    this.panel.hidden = false;
    this.launch.hidden = true;
    this.end.hidden = false;
    this.end.focus();
    this.redraw();
    this.session.start({ microphone });
  }

  /** Hangs up and makes a button of it again. */
  close() {
    this.session.stop();
    this.panel.hidden = true;
    this.launch.hidden = false;
    this.launch.focus();
  }

  muted(on) {
    this.session.muted = on;
    this.mute.ariaPressed = String(on);
  }

  submit(e) {
    e.preventDefault();
    const text = this.input.value.trim();
    if (!text || this.session.state !== "live") return;
    this.session.sendText(text);
    this.input.value = "";
  }

  state({ state, reason, code, resumes }) {
    this.conversation.session({ state, reason, resumes });
    if (state === "live" && !this.lived) {
      this.lived = true;
      this.tell("start", { agent: this.agentName });
    }
    this.show(state, code);
    this.redraw();
    if (!this.session.running) this.tell("end", { state, code });
  }

  show(state, code) {
    const { session, words } = this;
    const { running } = session;
    this.dataset.state = state;
    this.say(words.states[this.reason(state, code)]);
    const focused = this.shadowRoot.activeElement;
    this.again.hidden = running;
    this.typed.hidden = !noMicrophone.includes(state);
    this.end.hidden = !running;
    this.form.hidden = state !== "live";
    this.mute.hidden = state !== "live" || session.microphone === null;
    this.mute.ariaPressed = String(!this.mute.hidden && session.muted);
    if (state === "live") this.orb.follow(session);
    else this.orb.stop();
    // Who used what is gone goes on with what takes its place.
    if (focused && focused !== this.launch && !this.panel.hidden && focused.checkVisibility?.() === false) (running ? this.end : this.again).focus();
  }

  // Which sentence says how it is.
  reason(state, code) {
    if (state !== "ended" || code === "stopped") return state;
    if (this.lived && limits.includes(code)) return "ended";
    if (crowded.includes(code)) return "crowded";
    if (code.startsWith("billing.") || code === "limit.spending") return "nobalance";
    if (code === "ticket" || code.startsWith("auth.")) return "ticket";
    return this.lived ? "ended" : "unreachable";
  }

  say(text) {
    this.status.textContent = text;
  }

  message(m) {
    this.conversation.take(m);
    this.redraw();
    if (["transcript", "transcript_update"].includes(m.type)) this.tell("transcript", { role: m.role ?? "user", text: m.data, replaces: m.replaces ?? "" });
  }

  redraw() {
    this.transcript.draw(this.conversation.lines.map((l) => (l.role === "note" ? { ...l, text: this.words.anew } : l)));
    this.lines.hidden = this.conversation.lines.length === 0;
  }
}

if (!customElements.get(NAME)) customElements.define(NAME, Talk);

/**
 * Puts a button on the page that a script tag is in.
 * @param {HTMLScriptElement} tag
 */
export function mount(tag) {
  const e = document.createElement(NAME);
  Object.assign(e.dataset, tag.dataset);
  delete e.dataset.taken;
  e.server = new URL(tag.src).origin;
  if (tag.dataset.position === "inline") return tag.after(e);
  const add = () => document.body.append(e);
  if (document.body) add();
  else addEventListener("DOMContentLoaded", add, { once: true });
}
