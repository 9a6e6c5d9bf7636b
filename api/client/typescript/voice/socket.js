// The agent socket: PCM and JSON over one WebSocket, in browsers and elsewhere. It plays and records nothing.
import { RATE_IN, RATE_OUT } from "./dsp.js";
import { refusal } from "./refusal.js";

// How much of the caller's sound may wait for a slow network: two seconds. What comes on top
// is dropped, or the agent would answer what was said long ago.
const BACKLOG = 2 * RATE_IN * 2;

const OPEN = 1; // readyState

/**
 * One connection to an agent socket. It is opened once; a new one is a new conversation, unless it has the token of the
 * old one.
 * @implements {import("./session.js").Transport}
 */
export class AgentSocket {
  /** @param {import("./session.js").TransportOptions} options */
  constructor(options) {
    this.options = options;
    /** Samples of the caller. */
    this.stats = { sent: 0, dropped: 0 };
    this.over = false;
    /** What the server receives about us: it leaves that to us. */
    this.features = options.features;
    this.meter = null;
  }

  async open() {
    const ticket = await this.options.ticket();
    if (this.over) return;
    const url = new URL("/ws/agent", this.options.server);
    const way = [url.href, ticket];
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    // Browsers send no headers of ours with a socket. A ticket is made for that: it lives for minutes.
    url.searchParams.set("api_key", ticket);
    if (this.options.resume) url.searchParams.set("resume", this.options.resume);
    else if (this.options.agentId) url.searchParams.set("agent_id", this.options.agentId);
    const Socket = this.options.webSocket ?? WebSocket;
    this.socket = new Socket(url.href);
    this.socket.binaryType = "arraybuffer";
    this.socket.onmessage = (e) => this.take(e.data);
    this.socket.onerror = () => {}; // a close follows
    await new Promise((done) => {
      this.socket.onopen = () => done((this.opened = true));
      this.socket.onclose = (e) => {
        if (this.opened) this.closed(e.code, e.reason);
        else this.refused(...way);
        done(false);
      };
    });
    if (this.socket?.readyState !== OPEN) return; // closed has said so
    if (this.options.resume) return; // the server knows what follows
    this.send({ type: "features", data: [...this.features, "resume", ...(this.options.insight ? ["insight"] : [])] });
    this.send({ type: "rates", playback: RATE_OUT, input: RATE_IN });
  }

  take(data) {
    if (typeof data === "string") this.message(JSON.parse(data));
    else this.audio(new Int16Array(data, 0, data.byteLength >> 1));
  }

  /** Takes the agent's voice: samples at 44.1 kHz. */
  audio(samples) {
    this.options.audio(samples);
  }

  message(m) {
    this.options.message(m);
    if (m.type === "status" && m.data === "interrupted") this.options.flushed(0); // the server knows how much was heard
  }

  /** Says samples at 16 kHz, any number of them. @param {Int16Array} samples */
  hear(samples) {
    if (this.socket?.readyState !== OPEN) return;
    if (this.socket.bufferedAmount > BACKLOG) {
      this.stats.dropped += samples.length;
      return;
    }
    this.stats.sent += samples.length;
    this.socket.send(samples);
  }

  /** How the connection is, in words. */
  async report() {
    return `Dropped of the microphone: ${Math.round(this.stats.dropped / (RATE_IN / 1000))} ms.`;
  }

  send(message) {
    if (this.socket?.readyState === OPEN) this.socket.send(JSON.stringify(message));
  }

  // A browser does not tell why a server refuses a socket, nor whether there is a server: it
  // is asked by a request, which a server that takes sockets answers with 400.
  async refused(address, ticket) {
    if (this.over) return;
    this.release();
    let why = { code: "", message: "", again: true };
    try {
      const answer = await fetch(address, { headers: { Authorization: "Bearer " + ticket } });
      if (answer.status !== 400) why = await refusal(answer);
    } catch {
      // There is none, or no network: it may come back.
    }
    this.options.closed({ code: why.code, reason: why.message, again: why.again, policy: false, broke: why.again });
  }

  closed(code, reason) {
    if (this.over) return;
    this.release();
    this.options.closed({ code: "", reason, again: [1001, 1006, 1011, 1012, 1013, 1014].includes(code), policy: code === 1008, broke: code === 1006 });
  }

  close() {
    if (this.over) return;
    this.release();
    if (this.socket) this.socket.close(1000);
  }

  release() {
    this.over = true;
  }
}
