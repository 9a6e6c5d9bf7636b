// The agent socket: PCM and JSON over one WebSocket.
import { RATE_IN, RATE_OUT } from "./dsp.js";
import { refusal } from "./refusal.js";

// How much of the microphone may wait for a slow network: two seconds. What comes on top
// is dropped, or the agent would answer what was said long ago.
const BACKLOG = 2 * RATE_IN * 2;

// The voice while the agent's is lowered: 15 dB, as the server would do it.
const DUCKED = 0.178;

/** What the server receives about us: it leaves both to us. */
const features = ["duck", "played"];

/**
 * One connection to an agent socket. It is opened once; a new one is a new conversation.
 * @implements {import("./voice.js").Transport}
 */
export class WebSocketTransport {
  /** @param {import("./voice.js").TransportOptions} options */
  constructor(options) {
    this.options = options;
    this.meter = null;
    this.stats = { sent: 0, dropped: 0, heard: 0, buffered: 0, underruns: 0 };
    this.over = false;
  }

  async open(microphone) {
    await this.speaker();
    const ticket = await this.options.ticket();
    if (this.over) return;
    const url = new URL("/ws/agent", this.options.server);
    const way = [url.href, ticket];
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    url.searchParams.set("api_key", ticket);
    if (this.options.agentId) url.searchParams.set("agent_id", this.options.agentId);
    this.socket = new WebSocket(url);
    this.socket.binaryType = "arraybuffer";
    this.socket.onmessage = (e) => this.take(e.data);
    this.socket.onopen = () => (this.opened = true);
    this.socket.onclose = (e) => (this.opened ? this.closed(e.code, e.reason) : this.refused(...way));
    await new Promise((done) => {
      this.socket.addEventListener("open", done, { once: true });
      this.socket.addEventListener("close", done, { once: true });
    });
    if (this.socket?.readyState !== WebSocket.OPEN) return; // closed has said so
    this.send({ type: "features", data: this.options.insight ? [...features, "insight"] : features });
    this.send({ type: "rates", playback: RATE_OUT, input: RATE_IN });
    if (microphone) await this.change(microphone);
  }

  // The way from the socket to the loudspeaker.
  async speaker() {
    this.context = this.options.context;
    await this.context.audioWorklet.addModule(this.options.base + "playback-worklet.js");
    this.queue = new AudioWorkletNode(this.context, "parley-playback", { numberOfInputs: 0, numberOfOutputs: 1, outputChannelCount: [1] });
    this.queue.port.onmessage = (e) => this.played(e.data);
    this.volume = new GainNode(this.context);
    this.meter = new AnalyserNode(this.context, { fftSize: 2048 });
    this.queue.connect(this.volume).connect(this.meter).connect(this.context.destination);
  }

  take(data) {
    if (typeof data !== "string") {
      this.queue.port.postMessage({ samples: new Int16Array(data, 0, data.byteLength >> 1) }, [data]);
      return;
    }
    const m = JSON.parse(data);
    if (m.type === "status" && m.data === "speaking") this.queue.port.postMessage({ begin: true, latency: this.context.outputLatency || this.context.baseLatency || 0 });
    if (m.type === "status" && m.data === "interrupted") this.queue.port.postMessage({ flush: true });
    if (m.type === "duck") this.volume.gain.setTargetAtTime(m.data ? DUCKED : 1, this.context.currentTime, 0.01);
    this.options.message(m);
  }

  change(microphone) {
    return microphone.listen(this.options.base, (frame) => this.hear(frame));
  }

  hear(frame) {
    if (this.socket?.readyState !== WebSocket.OPEN) return;
    if (this.socket.bufferedAmount > BACKLOG) {
      this.stats.dropped += frame.length;
      return;
    }
    this.stats.sent += frame.length;
    this.socket.send(frame);
  }

  played({ heard, buffered, underruns, flushed }) {
    Object.assign(this.stats, { heard, buffered, underruns });
    this.send({ type: "played", ms: Math.round(heard) });
    if (flushed) this.options.flushed(heard);
  }

  /** How the connection is, in words. */
  async report() {
    const { underruns, buffered, dropped } = this.stats;
    return `Gaps: ${underruns}. Queued: ${Math.round(buffered)} ms. Dropped of the microphone: ${Math.round(dropped / (RATE_IN / 1000))} ms.`;
  }

  send(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
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
    this.options.closed({ code: why.code, reason: why.message, again: why.again, policy: false });
  }

  closed(code, reason) {
    if (this.over) return;
    this.release();
    this.options.closed({ code: "", reason, again: [1001, 1006, 1011, 1012, 1013, 1014].includes(code), policy: code === 1008 });
  }

  close() {
    if (this.over) return;
    this.release();
    if (this.socket) this.socket.close(1000);
  }

  release() {
    this.over = true;
    this.queue?.port.postMessage({ end: true });
    this.queue?.disconnect();
    this.volume?.disconnect();
  }
}
