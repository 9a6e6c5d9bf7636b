// A conversation with an agent from a browser: one interface over two transports. It
// draws nothing; pages listen to its events.
import { Microphone, MicrophoneError } from "./microphone.js";
import { WebSocketTransport } from "./websocket.js";
import { WebRTCTransport } from "./webrtc.js";

/**
 * @typedef {object} VoiceOptions
 * @property {() => Promise<string>} ticket makes a credential, one for each connection; what it throws
 *   ends the session with the error's message, but a TypeError (the network) is tried again
 * @property {string} [server] where the agent lives; this page's origin
 * @property {string} [agentId] the agent; not needed with a session ticket, nor with agent
 * @property {{voice?: string, language?: string, prompt?: string}} [agent] for a session without a stored
 *   agent; with one voice and language are changed as it begins
 * @property {Record<string, string>} [variables] values of the agent's variables; with a session ticket of
 *   those that the agent lets visitors set
 * @property {Record<string, string>} [metadata] what is kept with the call; not with a session ticket
 * @property {"websocket" | "webrtc"} [transport]
 * @property {boolean} [microphone] false: turns are typed, the agent is heard
 * @property {string} [deviceId] which microphone
 * @property {boolean} [raw] the microphone as it sounds: no echo cancelling; for measurements
 * @property {boolean} [insight] ask for what only the agent's owner may see
 * @property {string} [base] where this folder is served; pages of other sites need it to be readable
 * @property {RTCIceServer[]} [iceServers] WebRTC's way through strict networks
 */

/**
 * What a session and a transport say to each other.
 * @typedef {Required<VoiceOptions> & {context: AudioContext, message: (m: object) => void,
 *   closed: (why: {code: string, reason: string, again: boolean, policy: boolean}) => void,
 *   flushed: (heard: number) => void}} TransportOptions
 */

/**
 * One connection. open resolves when messages may be sent, or after closed was called.
 * @typedef {object} Transport
 * @property {(microphone: Microphone | null) => Promise<void>} open
 * @property {(microphone: Microphone) => Promise<void>} change uses another microphone from now on
 * @property {(message: object) => void} send
 * @property {() => void} close
 * @property {AnalyserNode | null} meter of the agent's voice
 * @property {() => Promise<string>} report how the connection is, in words
 */

/**
 * Where a session is.
 * - asking: the browser asks for the microphone
 * - denied, missing, busy, insecure: there is none; start({microphone: false}) goes without
 * - connecting, live
 * - reconnecting: the connection was lost; what comes back is a new conversation
 * - nobalance, ended: it is over, reason says why
 * @typedef {"idle" | "asking" | "denied" | "missing" | "busy" | "insecure" | "connecting" | "live" | "reconnecting" | "nobalance" | "ended"} VoiceState
 */

// Waits before a lost connection is tried again, in ms. After the last it is given up;
// a conversation that lasted begins the list anew.
const RETRIES = [1000, 2000, 4000, 8000, 10000];
const LASTED = 30000;

// Codes of what a top-up mends.
const UNPAID = ["billing.insufficient_balance", "billing.topup_required"];

/**
 * Events, all CustomEvents: "state" {state, reason, code}; "message" {message}, whatever
 * the server sends; "flushed" {heard}, the agent was cut off after so many ms; "notice" {code}, such
 * as lost (the microphone went away, and there is no other), regained (the conversation goes
 * on with another) and dropped (the network is too slow).
 */
export class VoiceSession extends EventTarget {
  /** @param {VoiceOptions} options */
  constructor(options) {
    super();
    this.options = {
      server: location.origin,
      agentId: "",
      agent: {},
      variables: {},
      metadata: {},
      transport: "websocket",
      microphone: true,
      deviceId: "",
      raw: false,
      insight: false,
      base: new URL(".", import.meta.url).href,
      iceServers: [],
      ...options,
    };
    /** @type {VoiceState} */
    this.state = "idle";
    /** @type {Microphone | null} */
    this.microphone = null;
    /** @type {Transport | null} */
    this.transport = null;
    this.tries = 0;
    this.fault = null; // the last error of the server
    this.run = 0; // counts starts and stops: what belongs to an older one is nobody's
  }

  tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  become(state, reason = "", code = "") {
    this.state = state;
    this.tell("state", { state, reason, code });
  }

  /** Whether something of it is open. */
  get running() {
    return ["asking", "connecting", "live", "reconnecting"].includes(this.state);
  }

  /**
   * Begins. Call it from a click: browsers let pages make a sound only after one. It
   * returns when the session is live or has failed; state says which.
   * @param {Partial<VoiceOptions>} [change] of the options
   */
  async start(change = {}) {
    if (this.running) return;
    const run = ++this.run;
    Object.assign(this.options, change);
    this.tries = 0;
    this.context = new AudioContext({ sampleRate: 44100, latencyHint: "interactive" });
    // Not waited for: without a click it never comes.
    this.context.resume().catch(() => {});
    if (this.options.microphone) {
      this.become("asking");
      try {
        const microphone = await Microphone.open(this.options);
        if (run !== this.run) return void microphone.close();
        this.use(microphone);
      } catch (e) {
        if (run === this.run) this.finish(e instanceof MicrophoneError ? e.code : "busy", e.cause?.message ?? "");
        return;
      }
    }
    this.become("connecting");
    await this.connect(run);
  }

  use(microphone) {
    this.microphone = microphone;
    for (const t of microphone.stream.getAudioTracks()) {
      t.addEventListener("ended", () => this.microphone === microphone && this.regain());
    }
  }

  // Goes on with another microphone, now or as soon as one is plugged in. Until then the
  // server hears silence, and turns can be typed.
  async regain() {
    const { run, microphone: gone } = this;
    this.stopWaiting();
    let found;
    try {
      found = await Microphone.open(this.options);
    } catch {
      if (run !== this.run) return;
      this.plugged = () => this.regain();
      navigator.mediaDevices.addEventListener("devicechange", this.plugged);
      return this.tell("notice", { code: "lost" });
    }
    if (run !== this.run) return void found.close();
    found.muted = gone.muted;
    this.use(found);
    await this.transport?.change(found);
    gone.close().catch(() => {}); // it is closed
    this.tell("notice", { code: "regained" });
  }

  stopWaiting() {
    if (this.plugged) navigator.mediaDevices.removeEventListener("devicechange", this.plugged);
    this.plugged = null;
  }

  async connect(run) {
    this.fault = null;
    this.answered = false;
    const Transport = this.options.transport === "webrtc" ? WebRTCTransport : WebSocketTransport;
    const transport = new Transport({
      ...this.options,
      context: this.context,
      message: (m) => run === this.run && this.take(m),
      closed: (why) => run === this.run && this.transport === transport && this.lost(why),
      flushed: (heard) => run === this.run && this.tell("flushed", { heard }),
    });
    this.transport = transport;
    try {
      await transport.open(this.microphone);
    } catch (e) {
      if (run !== this.run) return;
      transport.close();
      this.lost({ code: e.code ?? "", reason: e.message, again: e.again ?? e instanceof TypeError, policy: false });
      return;
    }
    if (run !== this.run) return;
    const { agentId, agent, variables, metadata } = this.options;
    if (!agentId) for (const [type, data] of Object.entries(agent)) transport.send({ type, data });
    for (const [type, data] of Object.entries({ variables, metadata })) if (Object.keys(data).length) transport.send({ type, data });
  }

  take(m) {
    if (m.type === "error") this.fault = m.data;
    if (m.type === "status" && m.data === "prompt_set") this.begun();
    this.tell("message", { message: m });
  }

  // The server has taken us on.
  begun() {
    this.since = performance.now();
    const { agentId, agent } = this.options;
    // A stored agent wins over what comes before.
    if (agentId && agent.voice) this.setVoice(agent.voice);
    if (agentId && agent.language) this.setLanguage(agent.language);
    this.become("live");
  }

  lost({ code, reason, again, policy }) {
    // In a conversation that lasts, errors are about one turn, but for the one before a refusal.
    const fault = policy || this.state !== "live" ? this.fault : null;
    code ||= fault?.code ?? "";
    reason ||= fault?.message ?? "";
    if (UNPAID.includes(code)) return this.finish("nobalance", reason, code);
    if (this.state === "live" && performance.now() - this.since > LASTED) this.tries = 0;
    if (!again || this.tries >= RETRIES.length) return this.finish("ended", reason, code);
    const wait = RETRIES[this.tries++] * (0.8 + 0.4 * Math.random()); // or all come back at once
    this.become("reconnecting", reason, code);
    const run = this.run;
    this.timer = setTimeout(() => run === this.run && this.connect(run), wait);
  }

  finish(state, reason, code) {
    this.release();
    this.become(state, reason, code);
  }

  release() {
    this.run++;
    clearTimeout(this.timer);
    this.stopWaiting();
    this.transport?.close();
    this.microphone?.close().catch(() => {}); // it is closed
    if (this.context && this.context.state !== "closed") this.context.close();
    this.transport = this.microphone = null;
  }

  /** Ends the session: the connection, the microphone, the sound. */
  stop() {
    if (this.running) this.finish("ended", "", "stopped");
  }

  send(message) {
    this.transport?.send(message);
  }

  /** Says a turn without a microphone. @param {string} text */
  sendText(text) {
    this.send({ type: "text", data: text });
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

  get muted() {
    return this.microphone?.muted ?? true;
  }
  set muted(on) {
    if (this.microphone) this.microphone.muted = on;
  }
}
