// The agent's voice from an agent socket to the loudspeaker. Messages to it:
// {samples: Int16Array} queues, {begin: true} says that another reply begins, {flush:
// true} drops what is queued, {latency: seconds} is what the device holds, {end: true}
// ends it. It reports {heard, buffered, underruns, dropped} every 100 ms while something is
// being heard, and on a flush.
import { Playout } from "./playout.js";

const REPORT = 0.1; // seconds

class Playback extends AudioWorkletProcessor {
  constructor() {
    super();
    this.queue = new Playout(sampleRate);
    this.since = 0; // samples since the last report
    this.told = 0; // what it said
    this.open = true;
    this.port.onmessage = ({ data }) => this.take(data);
  }

  take(m) {
    if (m.samples) this.queue.push(m.samples);
    if (m.begin) {
      this.queue.begin();
      this.told = 0;
    }
    if (m.flush) {
      this.queue.flush();
      this.report(true);
    }
    if (m.latency !== undefined) this.queue.latency = m.latency * sampleRate;
    if (m.end) this.open = false;
  }

  report(flushed) {
    const q = this.queue;
    this.told = q.heard();
    this.since = 0;
    this.port.postMessage({ heard: this.told, buffered: q.buffered(), underruns: q.underruns, dropped: q.dropped, flushed });
  }

  process(_, [[out]]) {
    this.queue.pull(out);
    this.since += out.length;
    if (this.since >= REPORT * sampleRate && this.queue.heard() !== this.told) this.report(false);
    return this.open;
  }
}

registerProcessor("parley-playback", Playback);
