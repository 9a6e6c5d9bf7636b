// The picture that moves while somebody talks: a disc that grows with the agent's voice, and a
// ring around it with the visitor's. Who wants less motion sees it brighten instead.
import { level } from "../static/voice/dsp.js";

// From silence to full size, in dBFS.
const QUIET = -55;
const LOUD = -15;
const FALL = 0.85; // of the size, a frame, when a voice stops

const size = (dB) => Math.min(1, Math.max(0, (dB - QUIET) / (LOUD - QUIET)));

export class Orb {
  constructor() {
    this.element = Object.assign(document.createElement("div"), { className: "orb", hidden: true });
    this.element.ariaHidden = "true"; // the transcript says it
    this.window = new Float32Array(2048);
    this.sizes = { agent: 0, caller: 0 };
  }

  /** Shows who talks, until stop. @param {import("../static/voice/voice.js").VoiceSession} session */
  follow(session) {
    this.stop();
    this.element.hidden = false;
    const draw = () => {
      this.draw("agent", session.transport?.meter);
      this.draw("caller", session.muted ? null : session.microphone?.analyser);
      this.frame = requestAnimationFrame(draw);
    };
    draw();
  }

  stop() {
    cancelAnimationFrame(this.frame);
    this.element.hidden = true;
  }

  draw(who, analyser) {
    analyser?.getFloatTimeDomainData(this.window);
    const now = analyser ? size(level(this.window)) : 0;
    this.sizes[who] = Math.max(now, FALL * this.sizes[who]);
    this.element.style.setProperty("--" + who, this.sizes[who].toFixed(2));
  }
}
