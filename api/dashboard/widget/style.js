// How the button and its panel look. --parley-accent and --parley-on-accent of the page's
// own style change its colours.

const light = `--card: #fff; --text: #18202b; --soft: #515d6d; --line: #d5dbe3; --edge: #7b8794; --raised: #eef1f5;
  --accent: var(--parley-accent, #0b5bd3); --on-accent: var(--parley-on-accent, #fff); --bad: #b42318; --on-bad: #fff; color-scheme: light;`;
const dark = `--card: #161d26; --text: #e4eaf1; --soft: #a5b2c1; --line: #2d3947; --edge: #7d8b9b; --raised: #1e2732;
  --accent: var(--parley-accent, #7db4ff); --on-accent: var(--parley-on-accent, #0b1524); --bad: #ffa097; --on-bad: #3b1a18; color-scheme: dark;`;

export const style = `
:host { all: initial; position: fixed; z-index: 2147483000; right: 1rem; bottom: 1rem; ${light} }
@media (prefers-color-scheme: dark) { :host(:not([data-theme=light])) { ${dark} } }
:host([data-theme=dark]) { ${dark} }
:host([data-position$=left]) { right: auto; left: 1rem; }
:host([data-position^=top]) { bottom: auto; top: 1rem; }
:host([data-position=inline]) { position: static; display: inline-block; z-index: auto; }
[hidden] { display: none !important; }
* { box-sizing: border-box; }
.box { font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; color: var(--text); overflow-wrap: anywhere; text-align: start; }
button, input { font: inherit; color: inherit; min-height: 2.5rem; border-radius: .5rem; border: 1px solid var(--edge); background: var(--card); padding: .35rem .9rem; }
button { cursor: pointer; }
button:hover { background: var(--raised); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.launch, .main { background: var(--accent); border-color: var(--accent); color: var(--on-accent); font-weight: 600; }
.launch { border-radius: 2rem; min-height: 3rem; padding: .5rem 1.4rem; box-shadow: 0 4px 14px rgb(0 0 0 / 25%); }
:is(.launch, .main):hover { background: var(--accent); filter: brightness(1.08); }
.end, .end:hover { background: var(--bad); border-color: var(--bad); color: var(--on-bad); }
[aria-pressed=true] { background: var(--raised); border-width: 2px; font-weight: 600; }
.panel { width: min(22rem, calc(100vw - 2rem)); max-height: calc(100vh - 2rem); display: flex; flex-direction: column; gap: .7rem; padding: .9rem;
  background: var(--card); border: 1px solid var(--line); border-radius: .8rem; box-shadow: 0 8px 28px rgb(0 0 0 / 25%); }
.row { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; }
.head { justify-content: space-between; flex-wrap: nowrap; }
.close { padding: 0; width: 2.5rem; flex: none; border-color: transparent; font-size: 1.3rem; line-height: 1; }
.orb { --agent: 0; --caller: 0; flex: none; width: 3.5rem; height: 3.5rem; margin: .6rem auto; border-radius: 50%; background: var(--accent);
  transform: scale(calc(.7 + .3 * var(--agent))); box-shadow: 0 0 0 calc(.8rem * var(--caller)) color-mix(in srgb, var(--accent) 30%, transparent); }
@media (prefers-reduced-motion: reduce) { .orb { transform: none; box-shadow: none; opacity: calc(.4 + .6 * max(var(--agent), var(--caller))); } }
.status, .voice-line { margin: 0; }
.status { min-height: 1.5em; color: var(--soft); }
.lines { flex: 1 1 8rem; min-height: 4rem; max-height: 16rem; overflow-y: auto; display: flex; flex-direction: column; gap: .4rem; padding: .2rem; }
.voice-who { font-weight: 600; }
.voice-partial .voice-text, .voice-line del, .voice-note { color: var(--soft); }
.voice-note { font-style: italic; }
input { flex: 1; min-width: 0; cursor: text; }
input::placeholder { color: var(--soft); opacity: 1; }
`;
