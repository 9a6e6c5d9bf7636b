// Finds pages, agents and calls from any page: with Ctrl+K, ⌘K, or the link above the page,
// which without this script leads to a page that does the same.

const dialog = /** @type {HTMLDialogElement | null} */ (document.getElementById("finder"));
const opener = document.getElementById("finder-open");
const input = /** @type {HTMLInputElement | null} */ (document.getElementById("finder-query"));
const hits = document.getElementById("finder-hits");
const status = document.getElementById("finder-status");

let asked = 0; // counts questions: an answer to an older one is nobody's
let pause = 0;

async function ask() {
  const run = ++asked;
  const address = new URL(input.form.action);
  address.searchParams.set("q", input.value);
  try {
    const answer = await fetch(address, { headers: { "HX-Request": "true" } });
    const to = answer.headers.get("HX-Redirect");
    if (to) return location.assign(to); // the sign-in is over
    const text = answer.ok ? await answer.text() : "";
    if (run !== asked) return;
    hits.innerHTML = text; // the server's own, in which names are escaped
    const n = links().length;
    status.textContent = answer.ok ? (n === 1 ? "1 result" : `${n} results`) : "The server answered with an error. Try again.";
  } catch {
    if (run === asked) status.textContent = "The server cannot be reached. Try again.";
  }
}

const links = () => [...hits.querySelectorAll("a")];

function open() {
  if (dialog.open) return;
  input.value = "";
  dialog.showModal();
  input.focus();
  ask();
}

// Arrow keys go from the input through the hits and back, which are links like any others.
function step(by) {
  const all = [input, ...links()];
  const at = all.indexOf(/** @type {any} */ (document.activeElement));
  all[(at + by + all.length) % all.length].focus();
}

if (dialog && opener && input && hits && status) {
  if (navigator.platform.startsWith("Mac")) opener.querySelector("kbd").textContent = "⌘K";
  opener.addEventListener("click", (e) => {
    if (e.ctrlKey || e.metaKey || e.shiftKey) return; // wants a tab of its own
    e.preventDefault();
    open();
  });
  document.addEventListener("keydown", (e) => {
    if (e.key.toLowerCase() !== "k" || !(e.ctrlKey || e.metaKey) || e.altKey || e.shiftKey) return;
    e.preventDefault();
    open();
  });
  input.addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(ask, 120);
  });
  input.form.addEventListener("submit", async (e) => {
    e.preventDefault();
    clearTimeout(pause);
    await ask();
    links()[0]?.click();
  });
  dialog.addEventListener("keydown", (e) => {
    if (e.key !== "ArrowDown" && e.key !== "ArrowUp") return;
    e.preventDefault();
    step(e.key === "ArrowDown" ? 1 : -1);
  });
}
