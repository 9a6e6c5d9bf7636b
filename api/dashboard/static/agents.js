// The editor of agents: says what is wrong while one types, and guards what was not saved.
// Without it the forms work the same, and say it when they are sent.
import { say } from "./dashboard.js";
import "./listen.js";

const form = document.getElementById("agent");
const pause = 500; // ms after a key until what was typed is looked at

if (form instanceof HTMLFormElement) edit(form);

/** @param {HTMLFormElement} form */
function edit(form) {
  const state = form.querySelector("[data-state]");
  const touched = new Set();
  let dirty = form.hasAttribute("data-dirty");
  let timer = 0;
  let round = 0;

  const changed = (e) => {
    if (e.target.id) touched.add(e.target.id);
    if (form.hasAttribute("data-unsaved") && !dirty) {
      dirty = true;
      if (state) state.textContent = "Not saved";
    }
    clearTimeout(timer);
    timer = setTimeout(check, pause);
  };
  form.addEventListener("input", changed);
  form.addEventListener("change", changed);
  form.addEventListener("submit", (e) => {
    if (e.submitter?.formTarget === "_blank") return; // the form stays as it is
    dirty = false;
    clearTimeout(timer);
  });
  addEventListener("beforeunload", (e) => {
    if (dirty) e.preventDefault();
  });
  document.querySelector("[data-discard]")?.addEventListener("click", () => {
    dirty = false;
  });
  document.addEventListener("keydown", (e) => {
    if (e.key !== "s" || !(e.ctrlKey || e.metaKey)) return;
    e.preventDefault();
    form.requestSubmit();
  });

  // Asks the server what is wrong, and shows it beside the fields. Fields that nobody was
  // in yet are left alone.
  async function check() {
    const mine = ++round;
    const file = form.querySelector("input[type=file]");
    const sent = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (typeof value === "string") sent.append(name, value);
    if (file && !sent.get("document")) return;
    let answer;
    try {
      answer = await fetch(form.dataset.check, { method: "POST", body: sent });
    } catch {
      return; // saving will say so
    }
    if (mine !== round || !answer.ok) return;
    show(await answer.text());
  }

  function show(text) {
    const made = new DOMParser().parseFromString(text, "text/html").getElementById("complaints");
    const old = document.getElementById("complaints");
    if (!made || !old) return;
    const wrong = new Map();
    for (const li of made.querySelectorAll("li")) {
      const field = li.dataset.field;
      if (field && !touched.has(field)) li.remove();
      else if (field && !wrong.has(field)) wrong.set(field, li.querySelector("span")?.textContent ?? "");
    }
    const left = made.querySelectorAll("li").length;
    const head = made.querySelector("strong");
    if (head) head.textContent = left === 1 ? "1 problem to fix" : `${left} problems to fix`;
    if (left === 0) made.textContent = "";
    if (made.textContent !== old.textContent) old.replaceChildren(...made.childNodes);
    for (const f of form.querySelectorAll("input[id], textarea[id], select[id]")) mark(f, wrong.get(f.id) ?? "");
  }

  // Saves, and begins a conversation with what was saved, on this page. What cannot be saved is
  // said as by the other button.
  form.querySelector("[data-talk]")?.addEventListener("click", async (e) => {
    const panel = document.querySelector("[data-voice-panel]")?.voice;
    if (!panel) return;
    e.preventDefault();
    const button = e.currentTarget;
    if (button.ariaDisabled === "true") return;
    button.ariaDisabled = "true";
    try {
      const sent = new URLSearchParams(new FormData(form));
      const answer = await fetch(button.formAction, { method: "POST", body: sent, headers: { "HX-Request": "true" } });
      if (!answer.ok) {
        form.requestSubmit();
        return;
      }
      const { version } = await answer.json();
      form.elements.namedItem("version").value = version;
      dirty = false;
      if (state) state.textContent = `Version ${version}`;
      panel.session.stop();
      panel.start(true);
      panel.root.scrollIntoView({ block: "nearest" });
    } catch {
      say("The server cannot be reached. Try again.");
    } finally {
      button.ariaDisabled = null;
    }
  });

  const first = form.elements.namedItem("first_message")?.closest("[data-with]");
  const speaks = () => {
    if (first) first.hidden = new FormData(form).get("speaks") === "caller";
  };
  for (const r of form.querySelectorAll("[name=speaks]")) r.addEventListener("change", speaks);
  speaks();

  lists(form, () => {
    changed({ target: form });
  });

  const wrong = form.querySelector("[aria-invalid=true]");
  if (wrong instanceof HTMLElement) wrong.focus();
}

/** Puts what is wrong with a field beside it, and takes it away. */
function mark(field, what) {
  const id = `${field.id}-error`;
  let p = document.getElementById(id);
  if (!what) {
    if (p) p.remove();
    field.removeAttribute("aria-invalid");
  } else {
    if (!p) {
      p = document.createElement("p");
      p.className = "error";
      p.id = id;
      field.after(p);
    }
    if (p.textContent !== what) p.textContent = what;
    field.setAttribute("aria-invalid", "true");
  }
  const by = new Set((field.getAttribute("aria-describedby") ?? "").split(" ").filter((w) => w && w !== id));
  const all = what ? [id, ...by] : [...by];
  if (all.length) field.setAttribute("aria-describedby", all.join(" "));
  else field.removeAttribute("aria-describedby");
}

/** Lets entries be added to lists and taken away. Fields count on from 0 in their order. */
function lists(form, changed) {
  const ids = ["id", "for", "aria-describedby"];
  const number = (entry, n) => {
    for (const e of entry.querySelectorAll(ids.map((a) => `[${a}]`).join())) {
      for (const a of ids) if (e.hasAttribute(a)) e.setAttribute(a, e.getAttribute(a).replace(/_-?\d+(?=-|$| )/g, `_${n}`));
    }
  };
  const wire = (entry) => {
    const button = entry.querySelector("[data-remove]");
    if (!button) return;
    button.hidden = false;
    button.addEventListener("click", () => {
      const list = entry.parentElement;
      entry.remove();
      [...list.querySelectorAll(":scope > .entry")].forEach(number);
      form.querySelector(`[data-more][value="${list.id}"]`)?.focus();
      changed();
    });
  };
  form.querySelectorAll("[data-list] > .entry").forEach(wire);
  for (const button of form.querySelectorAll("[data-more]")) {
    button.addEventListener("click", (e) => {
      const list = document.getElementById(button.value);
      const blank = document.getElementById(`${button.value}-blank`);
      if (!list || !(blank instanceof HTMLTemplateElement)) return;
      e.preventDefault();
      const made = blank.content.querySelector(".entry").cloneNode(true);
      number(made, list.querySelectorAll(":scope > .entry").length);
      list.append(made);
      wire(made);
      made.querySelector("input, textarea, select")?.focus();
    });
  }
}
