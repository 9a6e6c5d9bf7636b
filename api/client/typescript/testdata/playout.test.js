// The queue in front of the loudspeaker.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Playout } from "./playout.js";

const RATE = 44100;
const BLOCK = 128;
const ms = (n) => Math.round((n * RATE) / 1000);
const ramp = (n, from = 0) => Int16Array.from({ length: n }, (_, i) => ((from + i) % 30000) + 1);

function pull(q, n) {
  const out = [];
  while (out.length < n) {
    const block = new Float32Array(BLOCK);
    q.pull(block);
    out.push(...block);
  }
  return out.map((v) => Math.round(v * 32768));
}

test("chunks of any size are played without a gap and unchanged", () => {
  const q = new Playout(RATE);
  const all = ramp(ms(500));
  for (let i = 0, n = 1; i < all.length; i += n, n = (n * 5 + 1) % 3000) q.push(all.slice(i, i + n));
  assert.deepEqual(pull(q, all.length).slice(0, all.length), [...all]);
  assert.equal(q.underruns, 0);
});

test("nothing is played before 60 ms are there, or have passed", () => {
  const q = new Playout(RATE);
  q.push(ramp(ms(59)));
  assert.ok(pull(q, 10 * BLOCK).every((v) => v === 0));
  q.push(ramp(ms(2)));
  assert.equal(pull(q, BLOCK)[0], 1);

  const short = new Playout(RATE);
  short.push(ramp(ms(20)));
  const heard = pull(short, ms(120));
  assert.equal(heard.filter((v) => v !== 0).length, ms(20), "a short reply is played, too");
  assert.ok(heard.findIndex((v) => v !== 0) >= ms(55));
});

test("a queue that ran dry in a reply waits longer afterwards, within bounds", () => {
  const q = new Playout(RATE);
  q.begin();
  for (let i = 1; i <= 8; i++) {
    q.push(ramp(ms(300)));
    pull(q, ms(700)); // with the wait, and 100 ms of nothing at least
    q.silence = ms(40); // the network's hiccup was short
  }
  assert.equal(q.underruns, 7);
  assert.ok(q.target > ms(200) && q.target <= ms(250), `${q.target / ms(1)} ms`);
});

test("the end of a reply is no underrun, nor is a pause of the voice", () => {
  const q = new Playout(RATE);
  for (let i = 0; i < 5; i++) {
    q.begin();
    q.push(ramp(ms(100)));
    pull(q, ms(300));
  }
  q.push(ramp(ms(100))); // after 200 ms within the reply: that is one
  pull(q, ms(1000));
  q.push(ramp(ms(100))); // after 900 ms: the voice took its time
  assert.equal(q.underruns, 1);
});

test("after calm replies it waits less again", () => {
  const q = new Playout(RATE);
  q.target = ms(200);
  for (let i = 0; i < 40; i++) q.begin();
  assert.equal(q.target, ms(60));
});

test("a flush fades out within 5 ms, drops the rest and the next reply begins clean", () => {
  const q = new Playout(RATE);
  q.begin();
  q.push(new Int16Array(ms(2000)).fill(20000));
  pull(q, ms(200));
  q.flush();
  const after = pull(q, ms(50));
  const tail = after.slice(0, ms(5));
  assert.ok(tail[0] > 19000, "it does not stop at once");
  for (let i = 1; i < tail.length; i++) assert.ok(tail[i] <= tail[i - 1] && tail[i - 1] - tail[i] < 200, `a step at ${i}`);
  assert.ok(tail.at(-2) < 200, "it fades to the end");
  assert.ok(after.slice(ms(5) + 1).every((v) => v === 0), "and then there is silence");
  assert.equal(q.buffered(), 0);
  q.begin();
  q.push(ramp(ms(100)));
  assert.deepEqual(pull(q, ms(100)).slice(0, ms(100)), [...ramp(ms(100))]);
  assert.equal(q.underruns, 0);
});

test("a flush before anything was played makes no sound", () => {
  const q = new Playout(RATE);
  q.push(ramp(ms(30)));
  q.flush();
  assert.ok(pull(q, ms(200)).every((v) => v === 0));
});

test("what was heard is what the device has played of the present reply", () => {
  const q = new Playout(RATE);
  q.latency = ms(40);
  q.begin();
  q.push(ramp(ms(1000)));
  pull(q, ms(500));
  assert.ok(Math.abs(q.heard() - 460) < 5, `${q.heard()} ms`);
  q.begin(); // announced while the one before is still queued
  assert.equal(q.heard(), 0);
  q.push(ramp(ms(100)));
  pull(q, ms(700));
  assert.ok(Math.abs(q.heard() - 100) < 1, `${q.heard()} ms at the end, the device's delay included`);
});

test("what was flushed does not count as heard", () => {
  const q = new Playout(RATE);
  q.begin();
  q.push(ramp(ms(2000)));
  pull(q, ms(300));
  q.flush();
  pull(q, ms(500));
  assert.ok(Math.abs(q.heard() - 305) < 5, `${q.heard()} ms`);
});

test("a server that sends without end is not kept in memory", () => {
  const q = new Playout(RATE);
  for (let i = 0; i < 40; i++) q.push(new Int16Array(RATE));
  assert.equal(q.queued, 30 * RATE);
  assert.equal(q.dropped, 10 * RATE);
});
