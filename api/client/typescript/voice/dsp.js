// Arithmetic on samples, without a browser around it: the worklets import this, and
// so do the tests.

/** What an agent socket takes and gives, in samples a second. */
export const RATE_IN = 16000;
export const RATE_OUT = 44100;

/** One frame of the microphone on its way to the server: 20 ms. */
export const FRAME = RATE_IN / 50;

const gcd = (a, b) => (b ? gcd(b, a % b) : a);

// The modified Bessel function of the first kind and order 0, of which Kaiser's
// window is made.
function bessel0(x) {
  let sum = 1;
  for (let k = 1, term = 1; term > sum * 1e-12; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

const STOP_DB = 90; // how far below the signal what would alias lies

/**
 * A streaming resampler between two whole rates: a polyphase filter whose stop band
 * begins at 1.125 of the lower Nyquist frequency. It is meant for the rates that
 * devices have; rates without a common divisor would need a phase per sample.
 */
export class Resampler {
  /** @param {number} from @param {number} to */
  constructor(from, to) {
    const common = gcd(from, to);
    this.up = to / common;
    this.down = from / common;
    const band = Math.min(from, to) / from; // the lower Nyquist frequency, of ours
    const width = Math.PI * band / 4; // of the transition, in radians a sample
    this.taps = 2 * Math.ceil((STOP_DB - 8) / (2.285 * width) / 2);
    const beta = 0.1102 * (STOP_DB - 8.7);
    this.phases = Array.from({ length: this.up }, (_, p) => phase(this.taps, p / this.up, band, beta));
    this.held = new Float32Array(2 * this.taps);
    this.count = this.taps / 2 - 1; // silence before the first sample, so that it is heard at once
    this.phase = 0;
  }

  /**
   * Takes samples and hands what they make to take, one at a time.
   * @param {Float32Array} input any length; it is not kept
   * @param {(sample: number) => void} take
   */
  process(input, take) {
    const need = this.count + input.length;
    if (need > this.held.length) {
      const grown = new Float32Array(2 * need);
      grown.set(this.held.subarray(0, this.count));
      this.held = grown;
    }
    this.held.set(input, this.count);
    let at = 0;
    while (at + this.taps <= need) {
      const h = this.phases[this.phase];
      let sum = 0;
      for (let k = 0; k < this.taps; k++) sum += this.held[at + k] * h[k];
      take(sum);
      this.phase += this.down;
      at += Math.floor(this.phase / this.up);
      this.phase %= this.up;
    }
    // No step is longer than the filter, so at lies within what is there.
    this.held.copyWithin(0, at, need);
    this.count = need - at;
  }
}

// One phase of the filter: where the output lies shift of a sample after the middle.
function phase(taps, shift, band, beta) {
  const h = new Float64Array(taps);
  const middle = taps / 2 - 1 + shift;
  let sum = 0;
  for (let k = 0; k < taps; k++) {
    const x = k - middle;
    const r = Math.min(1, Math.abs(x) / (taps / 2));
    const sinc = x === 0 ? 1 : Math.sin(Math.PI * band * x) / (Math.PI * band * x);
    h[k] = sinc * bessel0(beta * Math.sqrt(1 - r * r));
    sum += h[k];
  }
  return h.map((v) => v / sum); // a level that no phase changes
}

/** A sample as the wire has it: rounded, and clipped where it is too loud. */
export function toInt16(sample) {
  return Math.max(-32768, Math.min(32767, Math.round(sample * 32768)));
}

/** The level of a stretch of samples in dBFS, -100 at the least; a full square wave has 0. */
export function level(samples) {
  let sum = 0;
  for (const v of samples) sum += v * v;
  return sum > 0 ? Math.max(-100, 10 * Math.log10(sum / samples.length)) : -100;
}

/** The loudest of some samples, 0 to 1. */
export function peak(samples) {
  let most = 0;
  for (const v of samples) most = Math.max(most, Math.abs(v));
  return Math.min(1, most);
}
