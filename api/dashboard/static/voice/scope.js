// What both sides sound like, as it happens: two waveforms over a band with the phases of
// the turn machine and a tick for each event, on one time axis.
import { level, peak } from "./dsp.js";

const SECONDS = 15; // shown
const EVERY = 40; // ms between two samples of the meters; their window has 43 or 46
const FLOOR = 60; // dB below full scale where a meter begins
const BAND = 14; // px

/** Names of the colours in the style sheet, by phase. */
const colours = {
  connecting: "--voice-quiet",
  listening: "--voice-quiet",
  user_speaking: "--voice-caller",
  pause: "--voice-pause",
  thinking: "--voice-thinking",
  speaking: "--voice-agent",
  yielding: "--voice-yielding",
  tool_wait: "--voice-thinking",
  closing: "--voice-agent",
  over: "--voice-quiet",
};

export class Scope {
  /**
   * @param {HTMLCanvasElement | null} canvas
   * @param {{caller: HTMLMeterElement | null, agent: HTMLMeterElement | null}} meters
   * @param {import("./conversation.js").Conversation} conversation whose clock it follows
   */
  constructor(canvas, meters, conversation) {
    this.canvas = canvas;
    this.meters = meters;
    this.conversation = conversation;
    /** @type {{at: number, caller: number, agent: number}[]} */
    this.samples = [];
    this.window = new Float32Array(2048);
  }

  /** @param {import("./voice.js").VoiceSession} session whose sound is shown, until stop */
  start(session) {
    this.stop();
    this.session = session;
    this.samples = [];
    this.timer = setInterval(() => this.sample(), EVERY);
    const draw = () => {
      this.draw();
      this.frame = requestAnimationFrame(draw);
    };
    draw();
  }

  stop() {
    clearInterval(this.timer);
    cancelAnimationFrame(this.frame);
    this.show("caller", -Infinity);
    this.show("agent", -Infinity);
  }

  sample() {
    const caller = this.read("caller", this.session.microphone?.analyser);
    const agent = this.read("agent", this.session.transport?.meter);
    this.samples.push({ at: this.conversation.time(), caller, agent });
    if (this.samples.length > (SECONDS * 1000) / EVERY + 10) this.samples.shift();
  }

  read(side, analyser) {
    if (!analyser) {
      this.show(side, -Infinity);
      return 0;
    }
    analyser.getFloatTimeDomainData(this.window);
    this.show(side, level(this.window));
    return peak(this.window);
  }

  show(side, dB) {
    const meter = this.meters[side];
    if (!meter) return;
    meter.value = Math.max(0, Math.min(1, 1 + dB / FLOOR));
    meter.title = dB > -FLOOR ? `${Math.round(dB)} dB` : "silence";
  }

  draw() {
    const { canvas } = this;
    if (!canvas?.clientWidth) return;
    const ratio = devicePixelRatio || 1;
    const [w, h] = [canvas.clientWidth, canvas.clientHeight];
    if (canvas.width !== Math.round(w * ratio)) [canvas.width, canvas.height] = [Math.round(w * ratio), Math.round(h * ratio)];
    const style = getComputedStyle(canvas);
    const g = canvas.getContext("2d");
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, w, h);
    const now = this.conversation.time();
    const x = (at) => w - ((now - at) / (SECONDS * 1000)) * w;
    const wave = (h - BAND) / 2;
    this.wave(g, x, "caller", wave / 2, wave, style.getPropertyValue("--voice-caller"));
    this.wave(g, x, "agent", wave / 2 + wave + BAND, wave, style.getPropertyValue("--voice-agent"));
    this.band(g, x, wave, w, style);
  }

  wave(g, x, side, middle, height, colour) {
    g.fillStyle = colour;
    const width = Math.max(1, x(EVERY) - x(0) - 1);
    for (const s of this.samples) {
      const half = Math.max(0.5, (s[side] * height) / 2);
      g.fillRect(x(s.at), middle - half, width, 2 * half);
    }
  }

  band(g, x, top, w, style) {
    const { phases, events } = this.conversation;
    for (let i = phases.length - 1; i >= 0; i--) {
      const from = Math.max(0, x(phases[i].at));
      const to = i + 1 < phases.length ? x(phases[i + 1].at) : w;
      if (to < 0) break;
      g.fillStyle = style.getPropertyValue(colours[phases[i].phase] ?? "--voice-quiet");
      g.fillRect(from, top + 2, to - from, BAND - 4);
    }
    g.fillStyle = style.color;
    for (let i = events.length - 1; i >= 0 && x(events[i].at) > 0; i--) g.fillRect(x(events[i].at), top, 1, BAND);
  }
}
