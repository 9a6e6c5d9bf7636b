// The page on which one tries speech without a call. It asks the API as a program does, with a ticket of
// the sign-in, so all of it is checked and charged there.
import { Microphone } from "./voice/microphone.js";
import { refusal } from "./voice/refusal.js";

// How long one may record, in frames of 20 ms: two minutes. What is recorded is in memory.
const mostFrames = 2 * 60 * 50;
const rate = 16000;

const microphoneFaults = {
  denied: "The microphone was refused. Allow it in the site settings beside the address, or choose a file.",
  missing: "No microphone was found. Connect one, or choose a file.",
  busy: "The microphone cannot be used. Another program may have it.",
  insecure: "Browsers let pages use the microphone only over https, or on localhost. Choose a file.",
};

/** An amount for people: to the cent, and below one to two digits. @param {number} amount */
function dollars(amount) {
  if (amount === 0 || amount >= 0.01) return `$${amount.toFixed(2)}`;
  return `$${amount.toFixed(Math.min(9, 1 - Math.floor(Math.log10(amount))))}`;
}

/** @param {number} s */
const seconds = (s) => `${s.toFixed(s < 10 ? 2 : 1)} s`;

/** A sentence of what the API says in small letters. @param {string} text */
const sentence = (text) => (text ? text[0].toUpperCase() + text.slice(1) + (/[.!?…]$/.test(text) ? "" : ".") : "");

/** A request, whose failure is said in words. @param {string} path @param {RequestInit} init */
async function send(path, init) {
  try {
    return await fetch(path, init);
  } catch {
    throw new Error("The server cannot be reached. Try again.");
  }
}

async function ticket() {
  const answer = await send("/app/ticket", { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" });
  if (answer.status === 401) throw new Error("You are not signed in any more: reload the page.");
  if (!answer.ok) throw await refusal(answer);
  return (await answer.json()).ticket;
}

/** One thing to try: a form and its result. */
class Trial {
  /** @param {string} name @param {(trial: Trial) => Promise<string>} run says what it took */
  constructor(name, run) {
    this.root = document.querySelector(`[data-speech=${name}]`);
    this.parts = {};
    for (const e of this.root.querySelectorAll("[data-part]")) this.parts[e.dataset.part] = e;
    this.busy = false;
    this.root.querySelector("form").addEventListener("submit", (e) => {
      e.preventDefault();
      void this.go(() => run(this));
    });
  }

  async go(run) {
    if (this.busy) return;
    this.busy = true;
    const { fault, facts, go } = this.parts;
    go.setAttribute("aria-disabled", "true");
    fault.hidden = true;
    facts.textContent = "One moment.";
    try {
      facts.textContent = await run();
    } catch (e) {
      facts.textContent = "";
      fault.textContent = e.message;
      fault.hidden = false;
    } finally {
      this.busy = false;
      go.removeAttribute("aria-disabled");
    }
  }

  /**
   * Asks the API, and reads its answer with read. It throws what the API says where it refuses.
   * @template T @param {BodyInit} body @param {Record<string, string>} headers @param {(answer: Response) => Promise<T>} read
   * @param {string} query of the address
   * @returns {Promise<{result: T, answer: Response, took: number}>} took: milliseconds, with the way there and back
   */
  async ask(body, headers, read, query = "") {
    const credential = await ticket();
    const began = performance.now();
    const answer = await send(this.root.dataset.path + query, { method: "POST", headers: { ...headers, Authorization: `Bearer ${credential}` }, body });
    if (!answer.ok) {
      const e = await refusal(answer);
      e.message = sentence(e.detail) || e.message;
      throw e;
    }
    const result = await read(answer);
    return { result, answer, took: performance.now() - began };
  }

  /** What so many characters, or started seconds, cost. @param {number} quantity */
  cost(quantity) {
    return dollars((quantity * Number(this.root.dataset.price)) / Number(this.root.dataset.per));
  }

  /** Has a player play a file. @param {string} part @param {Blob} file */
  play(part, file) {
    const audio = this.parts[part];
    if (audio.src) URL.revokeObjectURL(audio.src);
    audio.src = URL.createObjectURL(file);
    this.parts.made.hidden = false;
    return audio.src;
  }

  /** The file that was chosen. @returns {File} */
  chosen() {
    const [file] = this.parts.file.files;
    if (file) return file;
    this.parts.file.focus();
    throw new Error("Choose a file.");
  }
}

new Trial("synthesis", async (t) => {
  const value = (id) => document.getElementById(id).value;
  const text = value("text").trim();
  const body = JSON.stringify({ text, voice: value("voice"), language: value("language") });
  const { result, answer, took } = await t.ask(body, { "Content-Type": "application/json" }, (a) => a.blob());
  t.parts.file.href = t.play("audio", result);
  const length = Number(answer.headers.get("X-Audio-Duration-Seconds"));
  return `${seconds(length)} of speech in ${Math.round(took)} ms. Cost ${t.cost([...text].length)}.`;
});

/** Transcribes a recording. @param {Trial} t @param {Blob} file */
async function transcribe(t, file) {
  const form = new FormData();
  form.append("language", document.getElementById("heard").value);
  form.append("audio", file, "recording");
  if (!form.get("language")) form.delete("language");
  t.play("audio", file);
  t.parts.segments.replaceChildren();
  const { result, took } = await t.ask(form, {}, (a) => a.json());
  t.parts.segments.replaceChildren(...result.segments.map((s) => {
    const row = document.createElement("tr");
    for (const [name, label, text] of [["number", "From", seconds(s.start)], ["number", "To", seconds(s.end)], ["", "Text", s.text]]) {
      const cell = row.insertCell();
      cell.className = name;
      cell.dataset.label = label;
      cell.textContent = text;
    }
    return row;
  }));
  const said = result.segments.length ? "" : " Nobody speaks in it.";
  return `${seconds(result.duration_seconds)} of audio in ${Math.round(took)} ms, by ${result.engine}. Cost ${t.cost(Math.ceil(result.duration_seconds))}.${said}`;
}

const transcription = new Trial("transcription", (t) => transcribe(t, t.chosen()));

/** A WAV file of 16 kHz and one channel. @param {Int16Array[]} frames */
function wav(frames) {
  const size = 2 * frames.reduce((n, f) => n + f.length, 0);
  const head = new DataView(new ArrayBuffer(44));
  const text = (at, s) => [...s].forEach((c, i) => head.setUint8(at + i, c.charCodeAt(0)));
  text(0, "RIFF"), text(8, "WAVEfmt "), text(36, "data");
  for (const [at, n] of [[4, 36 + size], [16, 16], [24, rate], [28, 2 * rate], [40, size]]) head.setUint32(at, n, true);
  for (const [at, n] of [[20, 1], [22, 1], [32, 2], [34, 16]]) head.setUint16(at, n, true);
  return new Blob([head, ...frames], { type: "audio/wav" });
}

/** @type {{microphone: Microphone, frames: Int16Array[]} | null} what is being recorded */
let recorded = null;
const record = transcription.parts.record;

async function begin() {
  const microphone = await Microphone.open().catch((e) => {
    throw new Error(microphoneFaults[e.code] ?? e.message);
  });
  const frames = [];
  recorded = { microphone, frames };
  try {
    await microphone.listen(new URL("voice/", import.meta.url).href, (frame) => {
      frames.push(frame);
      if (frames.length % 50 === 0) record.textContent = `Stop (${frames.length / 50} s)`;
      if (frames.length === mostFrames) void end();
    });
  } catch (e) {
    recorded = null;
    await microphone.close();
    throw e;
  }
  record.textContent = "Stop";
  return "Recording. Speak, then press Stop.";
}

async function end() {
  if (!recorded) return;
  const { microphone, frames } = recorded;
  recorded = null;
  record.textContent = "Record";
  await microphone.close();
  await transcription.go(() => transcribe(transcription, wav(frames)));
}

record.addEventListener("click", () => void (recorded ? end() : transcription.go(begin)));
addEventListener("pagehide", () => void recorded?.microphone.close());

new Trial("denoise", async (t) => {
  const file = t.chosen();
  const form = new FormData();
  form.append("audio", file);
  const engine = encodeURIComponent(document.getElementById("engine").value);
  const { result, answer, took } = await t.ask(form, {}, (a) => a.blob(), `?engine=${engine}`);
  t.play("before", file);
  t.parts.result.href = t.play("audio", result);
  const length = Number(answer.headers.get("X-Audio-Duration-Seconds"));
  return `${seconds(length)} of audio in ${Math.round(took)} ms. Cost ${t.cost(Math.ceil(length))}.`;
});
