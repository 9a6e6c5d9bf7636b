// A conversation with an agent from a browser, from its microphone to its loudspeaker: one interface
// over two transports. It draws nothing; pages listen to its events.
import { Microphone, MicrophoneError } from "./microphone.js";
import { AgentSession } from "./session.js";
import { WebSocketTransport } from "./websocket.js";
import { WebRTCTransport } from "./webrtc.js";

/**
 * @typedef {import("./session.js").SessionOptions & {
 *   transport?: "websocket" | "webrtc",
 *   microphone?: boolean,
 *   deviceId?: string,
 *   raw?: boolean,
 *   base?: string,
 *   iceServers?: RTCIceServer[]
 * }} VoiceOptions
 * microphone false: turns are typed, the agent is heard; deviceId: which microphone; raw: the microphone as it sounds,
 * no echo cancelling, for measurements; base: where this folder is served, which pages of other sites need to be
 * readable; iceServers: WebRTC's way through strict networks
 */

/**
 * Events besides those of an AgentSession: "notice" {code}, such as lost (the microphone went away, and there is no
 * other), regained (the conversation goes on with another) and dropped (the network is too slow). Audio it plays itself.
 *
 * The states asking, denied, missing, busy and insecure are about the microphone: the browser asks for it, or there is
 * none; start({microphone: false}) goes without.
 */
export class VoiceSession extends AgentSession {
  /** @param {VoiceOptions} options */
  constructor(options) {
    const defaults = { transport: "websocket", microphone: true, deviceId: "", raw: false, base: new URL(".", import.meta.url).href, iceServers: [] };
    super({ ...defaults, ...options });
    /** @type {Microphone | null} */
    this.microphone = null;
  }

  /**
   * Begins. Call it from a click: browsers let pages make a sound only after one. It
   * returns when messages may be sent or the session has failed; state says which.
   * @param {Partial<VoiceOptions>} [change] of the options
   */
  start(change = {}) {
    return super.start(change);
  }

  async prepare(run) {
    this.context = new AudioContext({ sampleRate: 44100, latencyHint: "interactive" });
    // Not waited for: without a click it never comes.
    this.context.resume().catch(() => {});
    if (!this.options.microphone) return true;
    this.become("asking");
    try {
      const microphone = await Microphone.open(this.options);
      if (run === this.run) this.use(microphone);
      else microphone.close();
    } catch (e) {
      if (run === this.run) this.finish(e instanceof MicrophoneError ? e.code : "busy", e.cause?.message ?? "");
    }
    return run === this.run;
  }

  way(options) {
    const Transport = this.options.transport === "webrtc" ? WebRTCTransport : WebSocketTransport;
    return new Transport({ ...options, context: this.context });
  }

  open(transport) {
    return transport.open(this.microphone);
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

  release() {
    super.release();
    this.stopWaiting();
    this.microphone?.close().catch(() => {}); // it is closed
    if (this.context && this.context.state !== "closed") this.context.close();
    this.microphone = null;
  }

  get muted() {
    return this.microphone?.muted ?? true;
  }
  set muted(on) {
    if (this.microphone) this.microphone.muted = on;
  }
}
