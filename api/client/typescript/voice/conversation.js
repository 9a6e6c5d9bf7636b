// What a conversation amounts to, from its messages: lines, turns, phases, events, what
// the model received. No browser in it; views draw it.

/** Bounds of what is kept; the oldest goes first. */
export const MAX_LINES = 1000;
export const MAX_TURNS = 500;
export const MAX_EVENTS = 2000;

/**
 * @typedef {object} Line
 * @property {number} id
 * @property {"user" | "agent" | "note"} role
 * @property {string} text what was said; of the agent, what was heard of it
 * @property {string} unheard what the agent had begun to say when it was cut off
 * @property {boolean} partial it may still change
 * @property {boolean} changed it was corrected after it had been final
 * @property {number} at ms since the beginning
 */

/**
 * Where the time of one turn went, in ms. Without the owner's view only total is known, and
 * that from when the server began to think.
 * @typedef {{generation: number, turn: number, endpoint: number, model: number, voice: number, overhead: number,
 *   total: number, measured: boolean, cut: boolean}} Turn
 */

/** @typedef {{at: number, lane: "caller" | "agent" | "server" | "session", label: string, detail: string}} Happening */

/** @typedef {{role: string, text: string, interrupted?: boolean, tool_calls?: {id: string, name: string, arguments: string}[], tool_call_id?: string}} Told */

// Phases as clients know them that are not told the server's.
const phases = { prompt_set: "listening", listening: "listening", thinking: "thinking", speaking: "speaking" };

export class Conversation {
  /** @param {() => number} now ms */
  constructor(now = () => performance.now()) {
    this.now = now;
    this.clear();
  }

  clear() {
    this.began = this.now();
    this.ids = 0;
    /** @type {Line[]} */
    this.lines = [];
    /** @type {Turn[]} */
    this.turns = [];
    /** @type {Happening[]} */
    this.events = [];
    /** @type {{at: number, phase: string}[]} */
    this.phases = [];
    this.phase = ""; // nothing has begun
    this.before = ""; // the phase in which the connection was lost to a conversation that goes on
    this.cost = null; // USD
    this.echo = false;
    this.connection();
  }

  // What begins anew with each connection.
  connection() {
    this.user = this.agent = null; // lines in progress
    this.thought = new Map(); // when the server began to think, by generation
    this.told = { system: "", tools: [], messages: [], generation: 0, speculative: false, at: 0 };
    this.detailed = false; // the server tells its own phases
    this.call = ""; // its identifier
  }

  /** Ms since the beginning. */
  time() {
    return this.now() - this.began;
  }

  note(lane, label, detail = "") {
    this.events.push({ at: this.time(), lane, label, detail });
    if (this.events.length > MAX_EVENTS) this.events.shift();
  }

  enter(phase) {
    if (phase === this.phase) return;
    this.phase = phase;
    this.phases.push({ at: this.time(), phase });
    if (this.phases.length > MAX_EVENTS) this.phases.shift();
  }

  add(role, text, partial) {
    const line = { id: ++this.ids, role, text, unheard: "", partial, changed: false, at: this.time() };
    this.lines.push(line);
    if (this.lines.length > MAX_LINES) this.lines.shift();
    return line;
  }

  /** Takes what the session tells of itself. @param {{state: string, reason: string}} s */
  session({ state, reason, resumes = false }) {
    this.note("session", state, reason);
    if (state === "reconnecting" && resumes) {
      this.before ||= this.phase; // it goes on
      return this.enter("connecting");
    }
    if (state === "live" && this.before) this.enter(this.before);
    this.before = "";
    if (state === "reconnecting") {
      this.settle();
      // Said once, and only of a conversation that there was.
      if (this.lines.length && this.lines.at(-1).role !== "note") this.add("note", "The connection was lost. What follows is a new conversation.", false);
    }
    if (state === "reconnecting" || state === "connecting") this.connection();
    if (["asking", "connecting", "reconnecting"].includes(state)) this.enter("connecting");
    else if (state !== "live") this.enter(["ended", "nobalance"].includes(state) ? "over" : "");
    if (["ended", "nobalance"].includes(state)) this.settle();
  }

  // The lines in progress get nothing more.
  settle() {
    if (this.user) this.user.partial = false;
    if (this.agent) this.heard("");
    this.user = null;
  }

  /** Takes a message of the server. @param {any} m */
  take(m) {
    const handler = {
      status: () => this.status(m.data, m.generation),
      transcript: () => (m.role === "user" ? this.said(m.data) : this.heard(m.data)),
      transcript_partial: () => (m.role === "user" ? this.hears(m.data) : this.speaks(m.data)),
      transcript_update: () => this.correct(m.data, m.replaces),
      tool_call: () => this.note("agent", "function asked", `${m.name} ${m.arguments}`),
      duck: () => this.note("agent", m.data ? "voice lowered" : "voice restored"),
      error: () => this.note("server", "error", `${m.data.code}: ${m.data.message} ${m.data.detail ?? ""}`.trim()),
      session: () => m.data.resumed && this.note("server", "conversation goes on"),
      session_limit: () => this.note("server", "time is limited", `${m.data?.seconds} s left`),
      insight: () => this.insight(m),
    }[m.type];
    if (handler) handler();
    else if (m.type !== "visemes") this.note("server", m.type.replaceAll("_", " "), m.data === undefined ? "" : JSON.stringify(m.data));
  }

  status(status, generation = 0) {
    this.note("agent", status.replace("_", " "), generation ? `reply ${generation}` : "");
    if (!this.detailed && phases[status]) this.enter(phases[status]);
    if (status === "thinking") this.thought.set(generation, this.time());
    if (status === "speaking" && !this.detailed) this.answered(generation);
    if (status === "interrupted") this.cut = true;
    if (status === "listening") {
      if (this.agent) this.heard("");
      this.cut = false;
    }
  }

  // A reply is heard, of which only the time since the server began to think is known.
  answered(generation) {
    const from = this.thought.get(generation);
    this.thought.delete(generation); // who comes back hears of it again
    if (from !== undefined) this.turn({ generation, turn: 0, endpoint: 0, model: 0, voice: 0, overhead: 0, total: this.time() - from, points: [], measured: false });
  }

  turn(t) {
    this.turns.push({ ...t, cut: false });
    if (this.turns.length > MAX_TURNS) this.turns.shift();
  }

  // The caller's words so far.
  hears(text) {
    this.user ??= this.add("user", "", true);
    this.user.text = text;
    this.note("caller", "says so far", text);
  }

  said(text) {
    if (this.user) Object.assign(this.user, { text, partial: false });
    else this.add("user", text, false);
    this.user = null;
    this.note("caller", "said", text);
  }

  correct(text, replaces) {
    const line = this.lines.findLast((l) => l.role === "user" && l.text === replaces) ?? this.lines.findLast((l) => l.role === "user");
    if (line) Object.assign(line, { text, changed: true });
    if (this.user && line === this.user) this.user.partial = false;
    // The caller went on: what was shown of that meanwhile is part of it.
    if (this.user && line !== this.user) this.lines.splice(this.lines.indexOf(this.user), 1);
    this.user = null;
    this.note("caller", "said instead", text);
  }

  // A sentence that the agent begins.
  speaks(text) {
    this.agent ??= this.add("agent", "", true);
    this.agent.text = this.agent.text ? `${this.agent.text} ${text}` : text;
    this.note("agent", "begins to say", text);
  }

  // What was heard of the agent's reply.
  heard(text) {
    const line = this.agent ?? this.add("agent", text, false);
    line.unheard = unheard(line.text, text);
    Object.assign(line, { text, partial: false });
    this.agent = null;
    const last = this.turns.at(-1);
    if (last && (line.unheard || this.cut)) last.cut = true;
    this.note("agent", "was heard", text + (line.unheard ? ` (unheard: ${line.unheard})` : ""));
  }

  insight({ name, generation = 0, data }) {
    switch (name) {
      case "call":
        this.call = data.id;
        return;
      case "phase":
        this.detailed = true;
        this.enter(data.phase);
        return this.note("server", "phase", data.phase.replace("_", " "));
      case "latency":
        this.turn({ generation, turn: data.turn, endpoint: data.endpoint_ms, model: data.model_ms, voice: data.voice_ms, overhead: data.overhead_ms, total: data.total_ms, points: pointsOf(data), measured: true });
        return this.note("server", "answered", `reply ${generation} after ${data.total_ms} ms${described(data)}`);
      case "told": {
        const { keep = 0, system = this.told.system, tools = this.told.tools, messages = [], speculative = false } = data;
        this.told = { system, tools, messages: [...this.told.messages.slice(0, keep), ...messages], generation, speculative, at: this.time() };
        return this.note("server", speculative ? "model asked speculatively" : "model asked", `${this.told.messages.length} message${this.told.messages.length === 1 ? "" : "s"}`);
      }
      case "cost":
        this.cost = data.usd;
        return;
      case "echo":
        this.echo = true;
        return this.note("server", "the agent hears itself");
    }
  }
}

// What happens after the caller's last sound, and the field that says when.
const points = [
  ["final text", "final_text_ms"],
  ["first words", "first_token_ms"],
  ["first sentence", "first_sentence_ms"],
  ["first audio", "first_audio_ms"],
  ["first packet", "first_packet_ms"],
];

const pointsOf = (data) => points.filter(([, field]) => data[field] !== undefined).map(([name, field]) => ({ name, at: data[field] }));

/** The points in words. */
const described = (data) => {
  const known = pointsOf(data);
  return known.length ? ` (${known.map((p) => `${p.name} ${p.at}`).join(", ")})` : "";
};

/**
 * The words of what was begun that are not in what was heard.
 * @param {string} begun @param {string} heard
 */
export function unheard(begun, heard) {
  const all = begun.split(/\s+/).filter(Boolean);
  const said = heard.split(/\s+/).filter(Boolean);
  const plain = (w) => w.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  if (said.some((w, i) => i < all.length && plain(w) !== plain(all[i]))) return "";
  return all.slice(said.length).join(" ");
}
