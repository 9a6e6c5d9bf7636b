// A call's page: the waveform of both sides, the transcript in step with the audio, and
// lines as they are spoken while the call lasts.

const list = document.getElementById("said");
const audio = /** @type {HTMLAudioElement | null} */ (document.getElementById("audio"));
const canvas = /** @type {HTMLCanvasElement | null} */ (document.getElementById("waves"));

/** @typedef {{role: string, text: string, at: number}} Line */

const clock = (s) => `${Math.floor(s / 60)}:${String(Math.floor(s % 60)).padStart(2, "0")}`;

/** @param {Line} line */
function item(line) {
  const li = document.createElement("li");
  li.className = line.role;
  li.dataset.at = String(line.at);
  for (const [name, text] of [["at", clock(line.at)], ["who", { agent: "Agent", supervisor: "Supervisor" }[line.role] ?? list.dataset.other], ["", line.text]]) {
    const part = document.createElement("span");
    part.className = name;
    part.textContent = text;
    li.append(part, " ");
  }
  return li;
}

/** A function that is called, or has its result now. */
function called(f) {
  const shown = list.querySelector(`[data-id="${CSS.escape(f.id)}"]`);
  const li = item({ role: "function", text: "", at: f.start_ms / 1000 });
  li.dataset.id = f.id;
  const name = document.createElement("code");
  name.textContent = f.name;
  li.querySelector(".who").textContent = "Function";
  li.lastElementChild.append(name, " ", f.outcome ? `${f.outcome}, ${f.end_ms - f.start_ms} ms` : "…");
  if (shown) shown.replaceWith(li);
  else list.append(li);
}

/** What the agent says at the moment, until its line has what was heard of it. null: nothing. Readers of screens hear the line. */
function speaking(line) {
  document.getElementById("speaking")?.remove();
  if (!line) return;
  const li = item(line);
  li.id = "speaking";
  li.ariaHidden = "true";
  list.append(li);
}

/** Lines as they come, until the call is over; then the page is read anew. */
function follow(address) {
  const source = new EventSource(address);
  source.onmessage = (e) => {
    const event = JSON.parse(e.data);
    const bottom = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
    if (event.type === "speaking") speaking(event);
    if (event.type === "transcript") {
      speaking(null);
      list.append(item(event));
    } else if (event.type === "function") called(event);
    else if (event.transcript) {
      const functions = [...list.querySelectorAll(".function")];
      list.replaceChildren(...[...event.transcript.map(item), ...functions].sort((a, b) => Number(a.dataset.at) - Number(b.dataset.at)));
    }
    if (list.children.length) document.getElementById("silence")?.remove();
    if (bottom) list.scrollTop = list.scrollHeight;
    if (event.type === "status" || event.type === "snapshot") {
      const state = document.getElementById("state");
      const words = { dialing: "Dialling", ringing: "Ringing", connected: "Talking" };
      if (state && words[event.status]) state.textContent = words[event.status];
    }
    if (event.type === "ended") {
      source.close();
      setTimeout(() => location.reload(), 500); // by then it is in the books
    }
  };
}

/** Draws both sides, what was played already in the stronger colour. */
function draw(wave) {
  const at = audio && audio.duration ? audio.currentTime / audio.duration : 0;
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth * ratio, canvas.clientHeight * ratio];
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const pen = canvas.getContext("2d");
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  pen.clearRect(0, 0, width, height);
  for (const [side, peaks] of [wave.caller, wave.agent].entries()) {
    const middle = height * (side ? 0.75 : 0.25);
    const step = width / Math.max(1, peaks.length);
    for (const [i, peak] of peaks.entries()) {
      const tall = Math.max(1, (Math.sqrt(peak / 255) * height) / 2.2);
      pen.fillStyle = colour(i / peaks.length < at ? (side ? "--chart-1" : "--chart-2") : "--edge");
      pen.fillRect(i * step, middle - tall / 2, Math.max(1, step * 0.8), tall);
    }
  }
  pen.fillStyle = colour("--text");
  pen.fillRect(at * width, 0, ratio, height);
}

/** Marks the line that is heard. */
function mark() {
  let now = null;
  for (const li of list.children) if (Number(li.dataset.at) <= audio.currentTime + 0.05) now = li;
  for (const li of list.children) {
    if (li === now && !li.hasAttribute("aria-current")) {
      li.setAttribute("aria-current", "true");
      if (!audio.paused) list.scrollTop = li.offsetTop - list.offsetTop - list.clientHeight / 2;
    } else if (li !== now) li.removeAttribute("aria-current");
  }
}

/** The words, in the order in which they begin. */
const words = [...(list?.querySelectorAll("[data-from]") ?? [])].map((node) => ({ node, from: Number(node.dataset.from) / 1000, to: Number(node.dataset.to) / 1000, on: false }));

/** Marks the words that are heard: on each side one at most. */
function speak() {
  const now = audio.currentTime;
  for (const w of words) {
    const on = w.from <= now && now < w.to;
    if (on !== w.on) w.node.classList.toggle("spoken", (w.on = on));
  }
}

/** The words follow the audio more closely than its own events do. */
function accompany() {
  speak();
  if (!audio.paused) requestAnimationFrame(accompany);
}

if (list?.dataset.follow) follow(list.dataset.follow);

if (audio && list) {
  list.addEventListener("click", (e) => {
    const li = e.target instanceof Element ? e.target.closest(".at")?.closest("li") : null;
    if (!li) return;
    audio.currentTime = Number(li.dataset.at);
    void audio.play();
  });
  audio.addEventListener("timeupdate", mark);
  audio.addEventListener("seeked", mark);
  audio.addEventListener("seeked", speak);
  audio.addEventListener("play", accompany);
}

const source = document.getElementById("waveform");
if (canvas && source) {
  const wave = JSON.parse(source.textContent);
  const redraw = () => draw(wave);
  for (const event of ["timeupdate", "seeked", "loadedmetadata"]) audio.addEventListener(event, redraw);
  new ResizeObserver(redraw).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  canvas.addEventListener("click", (e) => {
    if (!audio.duration) return;
    audio.currentTime = (e.offsetX / canvas.clientWidth) * audio.duration;
  });
}
