// The arithmetic of the voice client, measured as one would measure a filter.
import assert from "node:assert/strict";
import { test } from "node:test";
import { FRAME, RATE_IN, Resampler, level, peak, toInt16 } from "./dsp.js";

const tone = (freq, rate, n, amplitude = 0.5) => Float32Array.from({ length: n }, (_, i) => amplitude * Math.sin((2 * Math.PI * freq * i) / rate));

// Resamples in blocks of 128, as a worklet gets them.
function resample(input, from) {
  const r = new Resampler(from, RATE_IN);
  const out = [];
  for (let i = 0; i < input.length; i += 128) r.process(input.subarray(i, i + 128), (v) => out.push(v));
  return Float64Array.from(out);
}

// The amplitude of a tone in samples, and what is left without it, both in dB of full scale.
function fit(samples, freq, rate) {
  let [a, b, cc, ss, cs] = [0, 0, 0, 0, 0];
  samples.forEach((v, i) => {
    const [c, s] = [Math.cos((2 * Math.PI * freq * i) / rate), Math.sin((2 * Math.PI * freq * i) / rate)];
    a += v * c;
    b += v * s;
    cc += c * c;
    ss += s * s;
    cs += c * s;
  });
  const det = cc * ss - cs * cs;
  const [x, y] = [(a * ss - b * cs) / det, (b * cc - a * cs) / det];
  let rest = 0;
  samples.forEach((v, i) => (rest += (v - x * Math.cos((2 * Math.PI * freq * i) / rate) - y * Math.sin((2 * Math.PI * freq * i) / rate)) ** 2));
  return { amplitude: 20 * Math.log10(Math.hypot(x, y)), rest: 10 * Math.log10(rest / samples.length + 1e-20) };
}

for (const from of [8000, 22050, 32000, 44100, 48000, 96000, 192000]) {
  test(`a tone from ${from} Hz keeps its level and nothing else appears`, () => {
    for (const freq of [300, 997, 3000]) {
      const out = resample(tone(freq, from, from), from).subarray(2000, -2000);
      const { amplitude, rest } = fit(out, freq, RATE_IN);
      assert.ok(Math.abs(amplitude - 20 * Math.log10(0.5)) < 0.01, `${freq} Hz has ${amplitude} dB`);
      assert.ok(rest < -90, `${freq} Hz leaves ${rest} dB`);
    }
  });
  test(`${from} Hz gives as many samples as it lasts`, () => {
    const out = resample(new Float32Array(2 * from), from);
    assert.ok(Math.abs(out.length - 2 * RATE_IN) < RATE_IN / 50, `${out.length} samples of two seconds`);
  });
}

test("what would alias is not there", () => {
  for (const freq of [9200, 10000, 15000, 20000]) {
    const out = resample(tone(freq, 48000, 48000, 1), 48000).subarray(2000, -2000);
    assert.ok(level(out) < -80, `${freq} Hz leaks ${level(out)} dB`);
  }
});

test("blocks of any length make the same samples", () => {
  const input = tone(997, 44100, 44100);
  const whole = [];
  new Resampler(44100, RATE_IN).process(input, (v) => whole.push(v));
  const parts = [];
  const r = new Resampler(44100, RATE_IN);
  for (let i = 0, n = 1; i < input.length; i += n, n = (n * 7 + 3) % 500) r.process(input.subarray(i, i + n), (v) => parts.push(v));
  assert.deepEqual(parts, whole);
});

test("samples are rounded and clipped", () => {
  assert.deepEqual([0, 1, -1, 2, -2, 0.5, 1 / 32768, 0.4 / 32768].map(toInt16), [0, 32767, -32768, 32767, -32768, 16384, 1, 0]);
  assert.equal(FRAME, 320);
  assert.equal(level(new Float32Array(10)), -100);
  assert.ok(Math.abs(level(tone(1000, 48000, 48000, 1)) + 3.01) < 0.01);
  assert.equal(peak([0.1, -0.7, 0.3]), 0.7);
});
