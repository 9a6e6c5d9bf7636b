// The agent socket in a browser: from the microphone, and to the loudspeaker.
import { RATE_IN } from "./dsp.js";
import { AgentSocket } from "./socket.js";

// The voice while the agent's is lowered: 15 dB, as the server would do it.
const DUCKED = 0.178;

/**
 * One connection to an agent socket, with its sound.
 * @implements {import("./session.js").Transport}
 */
export class WebSocketTransport extends AgentSocket {
  /** @param {import("./session.js").TransportOptions} options */
  constructor(options) {
    super(options);
    this.features = ["duck", "played"];
    Object.assign(this.stats, { heard: 0, buffered: 0, underruns: 0 });
  }

  async open(microphone) {
    await this.speaker();
    await super.open();
    if (!this.over && microphone) await this.change(microphone);
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

  audio(samples) {
    this.queue.port.postMessage({ samples }, [samples.buffer]);
  }

  message(m) {
    if (m.type === "status" && m.data === "speaking") this.queue.port.postMessage({ begin: true, latency: this.context.outputLatency || this.context.baseLatency || 0 });
    if (m.type === "status" && m.data === "interrupted") this.queue.port.postMessage({ flush: true });
    if (m.type === "duck") this.volume.gain.setTargetAtTime(m.data ? DUCKED : 1, this.context.currentTime, 0.01);
    this.options.message(m);
  }

  change(microphone) {
    return microphone.listen(this.options.base, (frame) => this.hear(frame));
  }

  played({ heard, buffered, underruns, flushed }) {
    Object.assign(this.stats, { heard, buffered, underruns });
    this.send({ type: "played", ms: Math.round(heard) });
    if (flushed) this.options.flushed(heard);
  }

  async report() {
    const { underruns, buffered, dropped } = this.stats;
    return `Gaps: ${underruns}. Queued: ${Math.round(buffered)} ms. Dropped of the microphone: ${Math.round(dropped / (RATE_IN / 1000))} ms.`;
  }

  release() {
    super.release();
    this.queue?.port.postMessage({ end: true });
    this.queue?.disconnect();
    this.volume?.disconnect();
  }
}
