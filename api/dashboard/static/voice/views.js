// What is shown of a conversation besides its sound. Each view draws into one element and
// touches only what has changed, so that a screen reader hears what is new, once.

const make = (tag, props = {}, ...children) => {
  const e = Object.assign(document.createElement(tag), props);
  e.append(...children);
  return e;
};

const svg = (tag, attributes) => {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  return e;
};

const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

/** What a transcript says besides what was said. */
export const english = { user: "Caller", agent: "Agent", note: "", unheard: "not heard: the caller interrupted", corrected: "corrected" };

/**
 * The transcript, a log that is read out. What may still change is hidden from screen
 * readers: they hear a line when it is final.
 */
export class TranscriptView {
  /** @param {HTMLElement} list @param {typeof english} words names of the two, and the rest */
  constructor(list, words = english) {
    this.list = list;
    this.words = words;
    this.shown = new Map(); // what stands in the list, by the line's id
  }

  /** @param {import("./conversation.js").Line[]} lines */
  draw(lines) {
    const atEnd = this.list.scrollHeight - this.list.scrollTop - this.list.clientHeight < 40;
    const left = new Set(this.shown.keys());
    for (const line of lines) {
      left.delete(line.id);
      const key = `${line.partial} ${line.changed} ${line.text} ${line.unheard}`;
      const old = this.shown.get(line.id);
      if (old?.key === key) continue;
      const item = this.item(line);
      if (old) old.item.replaceWith(item);
      else this.list.append(item);
      this.shown.set(line.id, { key, item });
    }
    for (const id of left) {
      this.shown.get(id).item.remove();
      this.shown.delete(id);
    }
    if (atEnd) this.list.scrollTop = this.list.scrollHeight;
  }

  item(line) {
    const item = make("p", { className: `voice-line voice-${line.role}` });
    if (line.partial) item.ariaHidden = "true";
    item.classList.toggle("voice-partial", line.partial);
    const who = this.words[line.role];
    if (who) item.append(make("span", { className: "voice-who", textContent: who }), " ");
    const text = make("span", { className: "voice-text", textContent: line.text });
    item.append(text);
    if (line.unheard) {
      item.append(" ", make("del", { title: this.words.unheard }, line.unheard));
    }
    if (line.changed) item.append(" ", make("small", { textContent: `(${this.words.corrected})` }));
    return item;
  }
}

// The parts of a turn, in their order.
const parts = [
  ["endpoint", "end of turn"],
  ["model", "model"],
  ["voice", "voice"],
  ["overhead", "own"],
];

/** Where the time of each turn went: a table of numbers with a bar in each row. */
export class WaterfallView {
  /** @param {HTMLTableSectionElement} body @param {HTMLElement | null} summary */
  constructor(body, summary) {
    this.body = body;
    this.summary = summary;
    this.drawn = 0;
    this.scale = 1000; // ms that fill a bar
  }

  /** @param {import("./conversation.js").Turn[]} turns */
  draw(turns) {
    const most = Math.max(1000, ...turns.map((t) => t.total));
    const key = turns.map((t) => `${t.generation}${t.cut}`).join() + most;
    if (key === this.key) return;
    this.key = key;
    this.scale = most;
    this.body.replaceChildren(...turns.map((t) => this.row(t)));
    if (this.summary) {
      const sorted = turns.map((t) => t.total).sort((a, b) => a - b);
      this.summary.textContent = sorted.length ? `${sorted.length} ${sorted.length === 1 ? "reply" : "replies"}, median ${Math.round(sorted[sorted.length >> 1])} ms, longest ${Math.round(sorted.at(-1))} ms` : "No replies yet.";
    }
  }

  row(t) {
    const cells = parts.map(([name]) => make("td", { textContent: t.measured ? Math.round(t[name]) : "–" }));
    const label = make("th", { scope: "row", textContent: t.generation + (t.cut ? " (cut off)" : "") });
    return make("tr", {}, label, ...cells, make("td", { textContent: Math.round(t.total) }), make("td", { className: "voice-bar" }, this.bar(t)));
  }

  bar(t) {
    const bar = svg("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" });
    let x = 0;
    for (const [name] of t.measured ? parts : [["total"]]) {
      const width = (t[name] / this.scale) * 100;
      bar.append(svg("rect", { x, y: 1, width, height: 8, class: `voice-part-${name}` }));
      x += width;
    }
    for (const { at } of t.points) {
      if (at >= 0 && at <= this.scale) bar.append(svg("rect", { x: (at / this.scale) * 100, y: 0, width: 0.4, height: 10, class: "voice-point" }));
    }
    return bar;
  }
}

const SHOWN = 300; // rows of the list of events

/** Every event, the newest first. */
export class EventsView {
  /** @param {HTMLTableSectionElement} body */
  constructor(body) {
    this.body = body;
    this.last = null;
  }

  /** @param {import("./conversation.js").Happening[]} events */
  draw(events) {
    const from = this.last ? events.lastIndexOf(this.last) + 1 : 0;
    if (!this.last) this.body.replaceChildren();
    for (const e of events.slice(from)) {
      this.body.prepend(
        make("tr", { className: `voice-lane-${e.lane}` }, make("td", { textContent: seconds(e.at) }), make("td", { textContent: e.lane }), make("td", { textContent: e.label }), make("td", { textContent: e.detail })),
      );
    }
    while (this.body.rows.length > SHOWN) this.body.deleteRow(-1);
    this.last = events.at(-1) ?? null;
  }
}

/** The phases of the turn machine, the present one marked. */
export class PhaseView {
  /** @param {HTMLElement} list whose items have a data-phase */
  constructor(list) {
    this.items = [...list.querySelectorAll("[data-phase]")];
  }

  /** @param {string} phase */
  draw(phase) {
    for (const item of this.items) item.ariaCurrent = item.dataset.phase === phase ? "true" : "false";
  }
}

const roles = { user: "caller", agent: "agent", tool: "function" };

/** What the model received for its latest reply. */
export class ToldView {
  /** @param {HTMLElement} box */
  constructor(box) {
    this.box = box;
  }

  /** @param {any} told */
  draw(told) {
    if (told === this.told) return;
    this.told = told;
    if (!told.at) {
      this.box.replaceChildren(make("p", { className: "voice-hint", textContent: "Nothing yet. It is shown to the agent's owner, when the model is asked for the first time." }));
      return;
    }
    const head = make("p", {}, `For ${told.speculative ? "a speculative reply" : `reply ${told.generation}`}, at ${seconds(told.at)}.`);
    const functions = told.tools.length ? told.tools.map((t) => make("li", {}, make("code", { textContent: t.name }), ` ${t.description}`)) : [make("li", { textContent: "none" })];
    this.box.replaceChildren(
      head,
      make("h3", { textContent: "Prompt" }),
      make("pre", { textContent: told.system || "(none)", tabIndex: 0 }),
      make("h3", { textContent: "Functions" }),
      make("ul", {}, ...functions),
      make("h3", { textContent: "Messages" }),
      make("ol", {}, ...told.messages.map((m) => this.message(m))),
    );
  }

  message(m) {
    const item = make("li", { className: `voice-told-${m.role}` }, make("b", { textContent: roles[m.role] ?? m.role }), ` ${m.text}`);
    if (m.interrupted) item.append(make("small", { textContent: " (interrupted)" }));
    for (const c of m.tool_calls ?? []) item.append(" ", make("code", { textContent: `${c.name}(${c.arguments})` }));
    return item;
  }
}
