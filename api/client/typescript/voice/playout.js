// The queue between the network and the loudspeaker, without a browser around it. It
// belongs to the playback worklet, whose thread calls it.

// The longest that a start buffer grows to, in ms: less than the server runs ahead of
// real time, so that no buffer makes a reply wait for more than the network.
const START_MAX = 250;
// A queue that was empty for longer than this, in ms, ran dry because nothing was
// said, or because the voice is slow; neither gets better by waiting.
const HICCUP = 500;
// How many seconds are kept. A server of ours runs at most three ahead; what comes on
// top of that is dropped and counted.
const QUEUE_SECONDS = 30;

/**
 * Plays chunks without gaps: it begins when there is enough for the network's jitter,
 * has more patience after each time it ran dry, and drops what is queued with a fade,
 * so that nobody hears a click.
 */
export class Playout {
  /**
   * @param {number} rate samples a second
   * @param {{startMs?: number, growth?: number, fadeMs?: number}} [options]
   */
  constructor(rate, { startMs = 60, growth = 1.5, fadeMs = 5 } = {}) {
    this.rate = rate;
    this.start = (startMs / 1000) * rate;
    this.growth = growth;
    this.fade = Math.round((fadeMs / 1000) * rate);
    /** Samples wanted before the playing begins. */
    this.target = this.start;
    /** Samples that the device holds after they were taken from here. */
    this.latency = 0;
    /** How often the queue ran dry in the middle of a reply, and samples that found it full. */
    this.underruns = 0;
    this.dropped = 0;
    /** @type {Int16Array[]} */
    this.chunks = [];
    this.offset = 0; // into the first of them
    this.queued = 0;
    this.playing = false;
    this.fading = 0; // samples left of the fade
    this.waited = 0; // samples of silence since something is queued
    this.silence = this.rate; // samples of silence since the last that was played
    this.pushed = 0;
    this.pulled = 0;
    this.mark = 0; // where the reply in progress begins
    this.calm = 0; // replies since it last ran dry
    this.dry = false;
    this.flushed = false; // and nothing came since
  }

  /** Says that what is pushed from now on is another reply. */
  begin() {
    this.mark = this.pushed;
    this.dry = false;
    if (++this.calm > 3) {
      this.target = Math.max(this.start, this.target / this.growth);
      this.calm = 0;
    }
  }

  /** @param {Int16Array} samples which the queue keeps */
  push(samples) {
    if (this.queued + samples.length > QUEUE_SECONDS * this.rate) {
      this.dropped += samples.length;
      return;
    }
    if (this.dry) {
      this.dry = false;
      if (this.silence < (HICCUP / 1000) * this.rate) {
        this.underruns++;
        this.calm = 0;
        this.target = Math.min(this.target * this.growth, (START_MAX / 1000) * this.rate);
      }
    }
    this.flushed = false;
    this.chunks.push(samples);
    this.queued += samples.length;
    this.pushed += samples.length;
  }

  /** Drops what is queued. What is being played fades out. */
  flush() {
    if (this.playing && this.queued > 0) {
      this.fading = Math.min(this.fade, this.queued);
      this.cut(this.fading);
    } else {
      this.cut(0);
    }
    this.dry = false;
    this.flushed = true;
  }

  // Keeps n samples of the queue.
  cut(n) {
    const kept = new Int16Array(n);
    for (let i = 0; i < n; i++) kept[i] = this.next();
    this.chunks = n ? [kept] : [];
    this.offset = 0;
    this.queued = n;
    this.pushed = this.pulled + n;
    this.mark = Math.min(this.mark, this.pushed);
  }

  // The next sample of the queue, which must have one.
  next() {
    const first = this.chunks[0];
    const v = first[this.offset++];
    if (this.offset === first.length) {
      this.chunks.shift();
      this.offset = 0;
    }
    return v;
  }

  /** @param {Float32Array} out filled with what is due, and silence where nothing is */
  pull(out) {
    if (!this.playing && this.queued > 0) {
      this.waited += out.length;
      this.playing = this.queued >= this.target || this.waited > this.target;
    }
    const n = this.playing ? Math.min(out.length, this.queued) : 0;
    for (let i = 0; i < n; i++) {
      out[i] = this.next() / 32768;
      if (this.fading > 0) out[i] *= 0.5 - 0.5 * Math.cos((Math.PI * this.fading--) / (this.fade + 1));
    }
    out.fill(0, n);
    this.queued -= n;
    this.pulled += n;
    this.silence = n === out.length ? 0 : (n > 0 ? 0 : this.silence) + out.length - n;
    if (this.playing && n < out.length) {
      this.dry = !this.flushed;
      this.playing = false;
      this.waited = 0;
      this.fading = 0;
    }
  }

  /** How much of the reply in progress was heard, in ms: what the device still holds was not. */
  heard() {
    const held = Math.max(0, this.latency - this.silence);
    return Math.max(0, ((this.pulled - this.mark - held) * 1000) / this.rate);
  }

  /** What is queued, in ms. */
  buffered() {
    return (this.queued * 1000) / this.rate;
  }
}
