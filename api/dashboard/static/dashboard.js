// What all pages of the dashboard share: times in the reader's zone, copying, dialogs,
// and a word when a request fails.

/** Says something above the page. @param {string} text @param {string} kind */
export function say(text, kind = "bad") {
  const box = document.getElementById("notices");
  if (!box) return;
  const p = document.createElement("p");
  p.className = `notice ${kind}`;
  p.textContent = text;
  box.replaceChildren(p);
}

const zone = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** Shows times where the reader is. @param {ParentNode} root */
export function localTimes(root) {
  for (const t of root.querySelectorAll("time[datetime]:not([data-local])")) {
    const at = new Date(t.getAttribute("datetime") ?? "");
    if (Number.isNaN(at.getTime())) continue;
    t.setAttribute("title", t.textContent ?? "");
    t.setAttribute("data-local", "");
    t.textContent = zone.format(at);
  }
}

// Lengths of calls that last grow each second, from what the server said.
setInterval(() => {
  for (const e of document.querySelectorAll("[data-running]")) {
    e.began ??= performance.now() - 1000 * Number(e.dataset.running);
    const s = Math.floor((performance.now() - e.began) / 1000);
    const two = (n) => String(n).padStart(2, "0");
    e.textContent = s < 3600 ? `${Math.floor(s / 60)}:${two(s % 60)}` : `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
  }
}, 1000);

document.addEventListener("click", async (e) => {
  const at = e.target instanceof Element ? e.target : null;
  const copy = at?.closest("[data-copy]");
  if (copy) {
    const from = document.getElementById(copy.getAttribute("data-copy") ?? "");
    const text = from instanceof HTMLInputElement ? from.value : from?.textContent ?? "";
    try {
      await navigator.clipboard.writeText(text.trim());
      copy.textContent = "Copied";
    } catch {
      const range = document.createRange();
      if (from) range.selectNodeContents(from);
      getSelection()?.removeAllRanges();
      getSelection()?.addRange(range);
      copy.textContent = "Selected: press Ctrl+C";
    }
    return;
  }
  const open = at?.closest("[data-open]");
  if (open) {
    const d = document.getElementById(open.getAttribute("data-open") ?? "");
    if (d instanceof HTMLDialogElement) d.showModal();
    return;
  }
  const close = at?.closest("[data-close]");
  if (close) close.closest("dialog")?.close();
  for (const m of document.querySelectorAll("details.menu[open]")) {
    if (at && !m.contains(at)) m.removeAttribute("open");
  }
});

document.addEventListener("keydown", (e) => {
  if (e.key !== "Escape") return;
  for (const m of document.querySelectorAll("details.menu[open]")) {
    m.removeAttribute("open");
    m.querySelector("summary")?.focus();
  }
});

// A refusal says itself where it belongs; what has no answer is said here.
document.addEventListener("htmx:beforeSwap", (e) => {
  if (e.detail.xhr.getResponseHeader("HX-Retarget")) e.detail.shouldSwap = true;
});
document.addEventListener("htmx:responseError", (e) => {
  if (!e.detail.xhr.getResponseHeader("HX-Retarget")) say("The server answered with an error. Try again.");
});
document.addEventListener("htmx:sendError", () => say("The server cannot be reached. Try again."));

// After a form came back with mistakes, the first of them has the focus, or what is wrong
// with the whole.
const mistake = "form [aria-invalid=true], form > .notice.bad[role=alert]";
/** @param {ParentNode} root */
function toMistake(root) {
  const wrong = root.querySelector(mistake);
  if (!(wrong instanceof HTMLElement)) return;
  if (wrong.matches(".notice")) wrong.tabIndex = -1;
  wrong.focus();
  if (wrong instanceof HTMLInputElement && wrong.type !== "file") wrong.select();
}
document.addEventListener("htmx:afterSwap", () => localTimes(document));
// Not before all is settled: until then htmx gives the focus to the field that a fresh page
// gives it to.
document.addEventListener("htmx:afterSettle", (e) => {
  if (e.detail.xhr.status !== 422) return;
  const root = e.detail.elt instanceof Element ? e.detail.elt : document;
  toMistake(root.querySelector(mistake) ? root : document);
});

// A form that changes something is sent once, however often its button is pressed. Those
// of scripts look after themselves, and one whose answer opens elsewhere stays to be sent again.
document.addEventListener("submit", (e) => {
  const form = e.target;
  if (e.defaultPrevented || !(form instanceof HTMLFormElement) || form.method !== "post" || e.submitter?.formTarget === "_blank") return;
  if (form.dataset.sent) e.preventDefault();
  form.dataset.sent = "yes";
});
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) form.removeAttribute("data-sent");
});

const wide = matchMedia("(min-width: 60.01em)");
const side = document.querySelector(".side > details");
const fold = () => side?.toggleAttribute("open", wide.matches);
wide.addEventListener("change", fold);
fold();
localTimes(document);
toMistake(document);
