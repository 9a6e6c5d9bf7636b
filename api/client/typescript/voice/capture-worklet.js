// The microphone on its way to an agent socket: the device's rate to 16 kHz, frames of
// 20 ms as Int16.
import { FRAME, RATE_IN, Resampler, toInt16 } from "./dsp.js";

class Capture extends AudioWorkletProcessor {
  constructor() {
    super();
    this.resampler = sampleRate === RATE_IN ? null : new Resampler(sampleRate, RATE_IN);
    this.frame = new Int16Array(FRAME);
    this.filled = 0;
    this.take = this.take.bind(this);
    this.open = true;
    this.port.onmessage = () => (this.open = false);
  }

  take(sample) {
    this.frame[this.filled++] = toInt16(sample);
    if (this.filled === FRAME) {
      this.port.postMessage(this.frame, [this.frame.buffer]);
      this.frame = new Int16Array(FRAME);
      this.filled = 0;
    }
  }

  process([[samples]]) {
    // No samples: the device gives none at the moment, which is what is sent.
    if (samples && this.resampler) this.resampler.process(samples, this.take);
    else if (samples) samples.forEach(this.take);
    return this.open;
  }
}

registerProcessor("parley-capture", Capture);
