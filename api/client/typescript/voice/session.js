// A conversation with an agent: its states, its credentials, its way back after the network was
// lost. The sound is its user's: it comes as samples, and goes as samples.
import { AgentSocket } from "./socket.js";

/**
 * @typedef {object} SessionOptions
 * @property {() => Promise<string>} ticket makes a credential, one for each connection; what it throws
 *   ends the session with the error's message, but a TypeError (the network) is tried again
 * @property {string} [server] where the agent lives; in a browser this page's origin
 * @property {string} [agentId] the agent; not needed with a session ticket, nor with agent
 * @property {{voice?: string, language?: string, prompt?: string, tools?: object[]}} [agent] for a session without a
 *   stored agent; with one voice and language are changed as it begins
 * @property {Record<string, string>} [variables] values of the agent's variables; with a session ticket of
 *   those that the agent lets visitors set
 * @property {Record<string, string>} [metadata] what is kept with the call; not with a session ticket
 * @property {boolean} [insight] ask for what only the agent's owner may see
 * @property {("duck" | "played")[]} [features] what the server leaves to us: to lower the agent's voice while the
 *   caller speaks into it, and to say with played what was heard; none
 * @property {new (url: string) => WebSocket} [webSocket] what opens sockets; the platform's WebSocket
 */

/**
 * What a session and a transport say to each other.
 * @typedef {Required<SessionOptions> & {context: AudioContext, base: string, iceServers: RTCIceServer[],
 *   message: (m: AgentMessage) => void, audio: (samples: Int16Array) => void,
 *   resume: string, closed: (why: {code: string, reason: string, again: boolean, policy: boolean, broke?: boolean}) => void,
 *   flushed: (heard: number) => void}} TransportOptions
 */

/**
 * One connection. With resume, a token, it goes on with the conversation that was lost; closed says with broke that this
 * connection may be one to come back from. open resolves when messages may be sent, or after closed was called.
 * @typedef {object} Transport
 * @property {(microphone?: any) => Promise<void>} open
 * @property {(message: object) => void} send
 * @property {() => void} close
 * @property {AnalyserNode | null} meter of the agent's voice
 * @property {() => Promise<string>} report how the connection is, in words
 */

/**
 * A message of the server: type says what it is about.
 * @typedef {{type: string, data?: any, role?: "user" | "agent", replaces?: string, generation?: number,
 *   name?: string, arguments?: string, call_id?: string}} AgentMessage
 */

/**
 * Where a session is.
 * - connecting, live
 * - reconnecting: the connection was lost; with resumes the server still has the conversation, which goes on when it comes
 *   back, else what comes back is a new one
 * - nobalance, ended: it is over, reason says why
 * - asking, denied, missing, busy, insecure: of sessions with a microphone
 * @typedef {"idle" | "asking" | "denied" | "missing" | "busy" | "insecure" | "connecting" | "live" | "reconnecting" | "nobalance" | "ended"} SessionState
 */

// Waits before a lost connection is tried again, in ms. After the last it is given up;
// a conversation that lasted begins the list anew.
const RETRIES = [1000, 2000, 4000, 8000, 10000];
const LASTED = 30000;

// Waits before a conversation that the server keeps is come back to, the last of them again and again, until it is kept no
// longer.
const RETURNS = [300, 1000, 2000, 4000, 8000];
const KEPT = 30000;

// Node.js 18 has none.
const Told =
  globalThis.CustomEvent ??
  class extends Event {
    constructor(type, { detail }) {
      super(type);
      this.detail = detail;
    }
  };

// Codes of what a top-up mends.
const UNPAID = ["billing.insufficient_balance", "billing.topup_required"];

/**
 * What a session tells, by the type of the event.
 * @typedef {{state: {state: SessionState, reason: string, code: string, resumes: boolean}, message: {message: AgentMessage},
 *   audio: {samples: Int16Array}, flushed: {heard: number}, notice: {code: string}}} SessionEvents
 */

/**
 * A conversation. Events, all CustomEvents: "state" {state, reason, code, resumes}; "message" {message}, whatever
 * the server sends; "audio" {samples}, the agent's voice as Int16 at 44.1 kHz, at most three seconds ahead; "flushed"
 * {heard}, the agent was cut off: what was not played yet must not be.
 */
export class AgentSession extends EventTarget {
  /** @param {SessionOptions} options */
  constructor(options) {
    super();
    /** @type {Required<SessionOptions>} */
    this.options = {
      server: globalThis.location?.origin ?? "",
      agentId: "",
      agent: {},
      variables: {},
      metadata: {},
      insight: false,
      features: [],
      webSocket: globalThis.WebSocket,
      ...options,
    };
    /** @type {SessionState} */
    this.state = "idle";
    /** @type {any} */
    this.transport = null;
    this.tries = 0;
    this.token = ""; // to come back to the conversation with
    this.returns = 0; // how often that was tried since lostAt
    this.lostAt = 0;
    this.fault = null; // the last error of the server
    this.run = 0; // counts starts and stops: what belongs to an older one is nobody's
  }

  /** @protected */
  tell(type, detail) {
    this.dispatchEvent(new Told(type, { detail }));
  }

  /** @protected */
  become(state, reason = "", code = "", resumes = false) {
    this.state = state;
    this.tell("state", { state, reason, code, resumes });
  }

  /**
   * Has take called with the details of each event of a type. What it returns ends that.
   * @template {keyof SessionEvents} K
   * @param {K} type
   * @param {(detail: SessionEvents[K]) => void} take
   * @returns {() => void}
   */
  on(type, take) {
    /** @param {any} e */
    const listen = (e) => take(e.detail);
    this.addEventListener(type, listen);
    return () => this.removeEventListener(type, listen);
  }

  /** Whether something of it is open. */
  get running() {
    return ["asking", "connecting", "live", "reconnecting"].includes(this.state);
  }

  /**
   * Begins. It returns when messages may be sent or the session has failed; state says which.
   * @param {Partial<SessionOptions>} [change] of the options
   */
  async start(change = {}) {
    if (this.running) return;
    const run = ++this.run;
    Object.assign(this.options, change);
    this.tries = 0;
    this.token = "";
    if (!(await this.prepare(run))) return;
    this.become("connecting");
    await this.connect(run);
  }

  /**
   * Makes what must be there before the first connection; false: there is none, and the state says so.
   * @protected
   */
  async prepare(run) {
    return run === this.run;
  }

  /** A new transport. @protected @returns {any} */
  way(options) {
    return new AgentSocket(options);
  }

  /** @protected */
  async connect(run) {
    this.fault = null;
    const resume = this.token;
    const transport = this.way({
      ...this.options,
      resume,
      message: (m) => run === this.run && this.take(m),
      audio: (samples) => run === this.run && this.tell("audio", { samples }),
      closed: (why) => run === this.run && this.transport === transport && this.lost(why),
      flushed: (heard) => run === this.run && this.tell("flushed", { heard }),
    });
    this.transport = transport;
    try {
      await this.open(transport);
    } catch (e) {
      if (run !== this.run) return;
      transport.close();
      this.lost({ code: e.code ?? "", reason: e.message, again: e.again ?? e instanceof TypeError, policy: false, broke: e.again ?? e instanceof TypeError });
      return;
    }
    if (run !== this.run || resume) return;
    const { agentId, agent, variables, metadata } = this.options;
    if (!agentId) for (const [type, data] of Object.entries(agent)) transport.send({ type, data });
    for (const [type, data] of Object.entries({ variables, metadata })) if (Object.keys(data).length) transport.send({ type, data });
  }

  /** @protected */
  open(transport) {
    return transport.open();
  }

  /** @protected */
  take(m) {
    if (m.type === "error") this.fault = m.data;
    if (m.type === "session") this.known(m.data);
    if (m.type === "status" && m.data === "prompt_set") this.begun();
    this.tell("message", { message: m });
  }

  /** The server has taken us on. @protected */
  begun() {
    this.since = performance.now();
    const { agentId, agent } = this.options;
    // A stored agent wins over what comes before.
    if (agentId && agent.voice) this.setVoice(agent.voice);
    if (agentId && agent.language) this.setLanguage(agent.language);
    this.become("live");
  }

  /** The server says how to come back, and that we have. @protected */
  known({ resume, resumed }) {
    this.token = resume;
    this.returns = 0;
    if (resumed) this.become("live");
  }

  /** Comes back to a conversation that the server keeps; false: it has none. @protected */
  returning({ reason, code, broke = false }) {
    if (!this.token || !broke) return false;
    if (this.returns === 0) this.lostAt = performance.now();
    else if (performance.now() - this.lostAt >= KEPT) return false;
    this.become("reconnecting", reason, code, true);
    this.later(RETURNS[Math.min(this.returns++, RETURNS.length - 1)]);
    return true;
  }

  /** Connects after a while, a little sooner or later, or all would come back at once. @protected */
  later(wait) {
    const run = this.run;
    this.timer = setTimeout(() => run === this.run && this.connect(run), wait * (0.8 + 0.4 * Math.random()));
  }

  /** @protected */
  lost(why) {
    if (this.returning(why)) return;
    let { code, reason, again } = why;
    const { policy } = why;
    // A conversation that is over is followed by a new one, at once.
    const over = this.token && policy && this.fault?.code === "agent.session_over";
    this.token = "";
    if (over) {
      this.become("reconnecting", this.fault.message, this.fault.code);
      return void this.connect(this.run);
    }
    // In a conversation that lasts, errors are about one turn, but for the one before a refusal.
    const fault = policy || this.state !== "live" ? this.fault : null;
    code ||= fault?.code ?? "";
    reason ||= fault?.message ?? "";
    if (UNPAID.includes(code)) return this.finish("nobalance", reason, code);
    if (this.state === "live" && performance.now() - this.since > LASTED) this.tries = 0;
    if (!again || this.tries >= RETRIES.length) return this.finish("ended", reason, code);
    this.become("reconnecting", reason, code);
    this.later(RETRIES[this.tries++]);
  }

  /** @protected */
  finish(state, reason, code) {
    this.release();
    this.become(state, reason, code);
  }

  /** @protected */
  release() {
    this.run++;
    clearTimeout(this.timer);
    this.transport?.close();
    this.transport = null;
  }

  /** Ends the session: the connection, and what belongs to it. */
  stop() {
    if (this.running) this.finish("ended", "", "stopped");
  }

  send(message) {
    this.transport?.send(message);
  }

  /**
   * Says samples at 16 kHz, any number of them; what a slow network leaves waiting for more than two
   * seconds is dropped. Of sessions without a microphone of their own.
   * @param {Int16Array} samples
   */
  sendAudio(samples) {
    this.transport?.hear(samples);
  }

  /** Says a turn without a voice. @param {string} text */
  sendText(text) {
    this.send({ type: "text", data: text });
  }

  /** Answers a tool_call of the agent. @param {string} callId @param {unknown} result a text, or what is written as JSON */
  sendToolResult(callId, result) {
    this.send({ type: "tool_result", data: { call_id: callId, result: typeof result === "string" ? result : JSON.stringify(result) } });
  }

  /** Has the agent stop talking. */
  interrupt() {
    this.send({ type: "interrupt" });
  }

  /** The voice from the next reply on. @param {string} voice F1 to F5, M1 to M5 */
  setVoice(voice) {
    this.options.agent.voice = voice;
    this.send({ type: "voice", data: voice });
  }

  /** The language from the next reply on. @param {string} language two letters */
  setLanguage(language) {
    this.options.agent.language = language;
    this.send({ type: "language", data: language });
  }
}
