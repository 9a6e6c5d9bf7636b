// Language tabs and copy buttons. Without this script a page shows every
// language, one below the other.

const remembered = "parley-docs-language";

/** The reader's language; browsers may refuse to remember it. */
function preferred() {
  try {
    return localStorage.getItem(remembered);
  } catch {
    return null;
  }
}

function remember(language) {
  try {
    localStorage.setItem(remembered, language);
  } catch {
    // It is asked for again on the next page.
  }
}

const examples = [];

class Example {
  constructor(box) {
    this.box = box;
    this.panels = [...box.querySelectorAll(":scope > section")];
    this.bar = document.createElement("div");
    this.bar.className = "tabs";
    this.bar.setAttribute("role", "tablist");
    this.bar.setAttribute("aria-label", box.querySelector(".title").textContent);
    this.tabs = this.panels.map((panel) => this.tab(panel));
    this.panels[0].before(this.bar);
    box.classList.add("tabbed");
    box.querySelector(".title").append(copyButton(() => this.panels.find((panel) => !panel.hidden).querySelector("pre")));
  }

  tab(panel) {
    const language = panel.dataset.language;
    const tab = document.createElement("button");
    tab.type = "button";
    tab.id = `${this.box.id}-${language}-tab`;
    tab.setAttribute("role", "tab");
    tab.textContent = panel.querySelector(".language").textContent;
    panel.id = `${this.box.id}-${language}`;
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    tab.setAttribute("aria-controls", panel.id);
    tab.addEventListener("click", () => choose(language, tab));
    tab.addEventListener("keydown", (event) => this.key(event));
    this.bar.append(tab);
    return tab;
  }

  /** Arrow keys move among the tabs, as the ARIA pattern for tabs has it. */
  key(event) {
    const at = this.tabs.indexOf(event.currentTarget);
    const to = {
      ArrowLeft: (at + this.tabs.length - 1) % this.tabs.length,
      ArrowRight: (at + 1) % this.tabs.length,
      Home: 0,
      End: this.tabs.length - 1,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    choose(this.panels[to].dataset.language, this.tabs[to]);
    this.tabs[to].focus();
  }

  /** Shows a language; where there is nothing in it, one that there is, unless it was asked for here. */
  show(language, here) {
    const written = (panel) => panel.querySelector("pre");
    let shown = this.panels.find((panel) => panel.dataset.language === language);
    if (!here && !written(shown)) shown = this.panels.find(written);
    this.panels.forEach((panel, i) => {
      const chosen = panel === shown;
      panel.hidden = !chosen;
      this.tabs[i].setAttribute("aria-selected", String(chosen));
      this.tabs[i].tabIndex = chosen ? 0 : -1;
    });
  }
}

/** Shows a language everywhere, and keeps what was clicked where it is. */
function choose(language, anchor) {
  const before = anchor?.getBoundingClientRect().top;
  examples.forEach((e) => e.show(language, e.tabs.includes(anchor)));
  if (anchor) {
    window.scrollBy({ top: anchor.getBoundingClientRect().top - before, behavior: "instant" });
    remember(language);
  }
}

/** A button that copies what find returns, if anything. */
function copyButton(find) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    const pre = find();
    if (!pre) return;
    try {
      await navigator.clipboard.writeText(pre.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(pre); // pages that did not come over HTTPS may not copy
      button.textContent = "Selected";
    }
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  return button;
}

document.querySelectorAll(".example").forEach((box) => examples.push(new Example(box)));
document.querySelectorAll(".snippet pre").forEach((pre) => pre.before(copyButton(() => pre)));
const known = ["curl", "javascript", "python", "go"];
choose(known.includes(preferred()) ? preferred() : known[0]);
// The examples have become shorter: what the address points at has moved.
if (location.hash) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
// On a phone the list of pages would fill the screen.
if (matchMedia("(max-width: 60rem)").matches) document.querySelector(".side details").open = false;
