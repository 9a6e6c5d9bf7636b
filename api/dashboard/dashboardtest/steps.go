package dashboardtest

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Click clicks on what the selector finds, as soon as it is there. Where the page moves between the look and the click, it
// looks and clicks again.
func (b *Tab) Click(selector string) {
	b.t.Helper()
	b.Do(chromedp.WaitVisible(chromedp.CSS(selector)))
	for range mostClicks {
		Eval[bool](b, fmt.Sprintf(`(e => { window.unclicked = e; e.addEventListener("click", () => delete window.unclicked, { once: true, capture: true }); return true })(document.querySelector(%q))`, selector))
		b.Do(chromedp.Click(chromedp.CSS(selector)))
		if !Eval[bool](b, `window.unclicked?.isConnected === true`) {
			return
		}
	}
	b.t.Fatalf("%s is never under the pointer", selector)
}

// mostClicks bounds how often a click is made that hits nothing.
const mostClicks = 10

// Fill writes into a field in place of what it holds, as somebody would who types.
func (b *Tab) Fill(selector, text string) {
	b.t.Helper()
	b.Do(chromedp.WaitVisible(chromedp.CSS(selector)))
	b.Wait(fmt.Sprintf(`(e => { e.focus(); e.select?.(); return document.activeElement === e })(document.querySelector(%q))`, selector))
	b.Press(kb.Delete)
	b.Press(text)
}

// Press presses keys, one after the other: letters, or those of package kb.
func (b *Tab) Press(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		b.Do(chromedp.KeyEvent(k))
	}
}

// mostTabs bounds how far TabTo walks.
const mostTabs = 150

// TabTo walks with the Tab key until what the selector finds has the focus, as somebody
// without a mouse does. On the way, each thing with the focus must be visible, and show
// that it has it.
func (b *Tab) TabTo(selector string) {
	b.t.Helper()
	for pressed := 0; pressed < mostTabs; {
		stops := max(1, Eval[int](b, fmt.Sprintf(aheadScript, selector)))
		b.Do(slices.Repeat([]chromedp.Action[chromedp.Void]{chromedp.KeyEvent(kb.Tab)}, stops)...)
		pressed += stops
		there := Eval[bool](b, fmt.Sprintf(`document.activeElement.matches(%q)`, selector))
		if there {
			b.Wait(`way.last === document.activeElement`) // it was judged, too
		}
		for _, fault := range Eval[[]string](b, `way.faults`) {
			b.fail("on the way to %s: %s", selector, fault)
		}
		if there {
			return
		}
	}
	b.fail("%s is not reached with %d times Tab", selector, mostTabs)
}

// Skip presses the link that leads past the navigation.
func (b *Tab) Skip() {
	b.t.Helper()
	b.TabTo(".skip")
	b.Press(kb.Enter)
	b.Wait(`document.activeElement.id === "content"`)
}

// Walk goes through the whole page with the Tab key. All that can have the focus must get
// it, be visible then, and show it; and after the last the way must lead back to the first.
func (b *Tab) Walk() {
	b.t.Helper()
	stops := Eval[int](b, walkScript)
	five := slices.Repeat([]chromedp.Action[chromedp.Void]{chromedp.KeyEvent(kb.Tab)}, 5)
	for range stops { // fields of dates have several stops, so it takes longer than one each
		b.Do(five...)
		if Eval[bool](b, `walk.back`) {
			break
		}
	}
	for _, fault := range Eval[[]string](b, `walk.end()`) {
		b.t.Errorf("%s by keyboard: %s", Eval[string](b, "location.pathname"), fault)
	}
}

// walkScript notes what gets the focus, from the link past the navigation to that again.
const walkScript = `(() => {
	const name = (e) => e.outerHTML.slice(0, 120), skip = document.querySelector(".skip"), seen = new Set(), faults = [];
	const all = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, audio[controls], [tabindex]")].filter((e) =>
		e.tabIndex >= 0 && !e.disabled && e.type !== "radio" && e.checkVisibility({ visibilityProperty: true }));
	skip.focus();
	window.walk = { back: false, end: () => {
		if (!walk.back) faults.push("the way does not lead back from " + name(document.activeElement));
		for (const e of all) if (e.isConnected && e !== skip && !seen.has(e)) faults.push("never reached: " + name(e));
		return faults;
	} };
	document.addEventListener("focusin", (event) => {
		const e = event.target, style = getComputedStyle(e), box = e.getBoundingClientRect();
		if (e === skip) walk.back = seen.size > 0; // it is told of the first one late, where the page was not in front
		if (e === skip || walk.back || seen.has(e)) return;
		seen.add(e);
		if (box.width === 0 || box.height === 0) faults.push("an invisible thing has the focus: " + name(e));
		if (style.outlineStyle === "none" && style.boxShadow === "none") faults.push("the focus cannot be seen on " + name(e));
	});
	return all.length + 3;
})()`

// aheadScript is how many stops it is at least to what the selector finds, and has what gets the
// focus on the way judged. Fields of dates, and what plays sound, have several stops; of radios one of
// a group has one.
const aheadScript = `(selector => {
	const name = (e) => e.outerHTML.slice(0, 120);
	window.way?.stop.abort();
	window.way = { faults: [], stop: new AbortController() };
	document.addEventListener("focusin", ({ target: e }) => {
		const style = getComputedStyle(e), box = e.getBoundingClientRect();
		way.last = e;
		if (box.width === 0 || box.height === 0) way.faults.push("an invisible thing has the focus: " + name(e));
		if (style.outlineStyle === "none" && style.boxShadow === "none") way.faults.push("the focus cannot be seen on " + name(e));
	}, { signal: way.stop.signal });
	const within = document.querySelector("dialog:modal") ?? document; // of which the way does not lead out
	const all = [...within.querySelectorAll("a[href], button, input, select, textarea, summary, audio[controls], [tabindex]")].filter((e) =>
		e.tabIndex >= 0 && !e.matches(":disabled") && e.type !== "radio" && e.checkVisibility({ visibilityProperty: true }));
	const from = document.activeElement, follows = (e) => from === document.body || from.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING;
	const ahead = all.filter(follows), at = ahead.findIndex((e) => e.matches(selector));
	return at < 0 ? ahead.length + 1 : at + 1; // past the end the way leads back to the beginning
})(%q)`

// Dark has the page believe that the reader prefers dark, or light, pages.
func (b *Tab) Dark(dark bool) {
	b.t.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	b.Do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}})
		return err
	}))
}

// Wide and Phone give the tab the size of a desk's screen, and of a telephone's.
func (b *Tab) Wide() { b.t.Helper(); b.Do(chromedp.EmulateViewport(1280, 900)) }

// Phone is described at Wide.
func (b *Tab) Phone() { b.t.Helper(); b.Do(chromedp.EmulateViewport(390, 844)) }

// Width is a screen of so many CSS pixels.
func (b *Tab) Width(pixels int64) { b.t.Helper(); b.Do(chromedp.EmulateViewport(pixels, 900)) }

// NoSidewaysScroll fails the test if the page is wider than the screen, or one of its lists is wider than its frame.
func (b *Tab) NoSidewaysScroll() {
	b.t.Helper()
	wide := Eval[string](b, `(async () => {
		await new Promise((then) => requestAnimationFrame(() => requestAnimationFrame(then))); // charts follow their frame
		const cut = [...document.querySelectorAll(".table.rows")].filter((e) => e.scrollWidth > e.clientWidth);
		if (cut.length) return "a list is " + cut[0].scrollWidth + " of " + cut[0].clientWidth + " pixels at " + innerWidth;
		if (document.documentElement.scrollWidth <= innerWidth) return "";
		const out = [...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1);
		return document.documentElement.scrollWidth + " of " + innerWidth + " pixels: " + out.slice(0, 4).map(e => e.outerHTML.slice(0, 100)).join(" | ");
	})()`)
	if wide != "" {
		b.t.Errorf("%s is wider than the screen: %s", Eval[string](b, "location.pathname"), wide)
	}
}

//go:embed vendor/axe.min.js
var axe string

// finding is one of axe's.
type finding struct {
	ID    string `json:"id"`
	Help  string `json:"help"`
	Nodes []struct {
		HTML    string `json:"html"`
		Summary string `json:"failureSummary"`
	} `json:"nodes"`
}

// axeScript runs rules: tags in JSON, or names of rules. Those of colours are what may differ in the dark.
const (
	axeScript = `axe.run(document, {runOnly: %s, resultTypes: ["violations"]})
	.then(r => JSON.stringify(r.violations.map(v => ({id: v.id, help: v.help, nodes: v.nodes.map(n => ({html: n.html, failureSummary: n.failureSummary}))}))))`
	axeAll     = `["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]`
	axeColours = `{type: "rule", values: ["color-contrast", "link-in-text-block"]}`
)

// Accessible fails the test if axe finds anything against WCAG 2.2 AA or good practice
// on the page, light and dark.
func (b *Tab) Accessible() {
	b.t.Helper()
	if !Eval[bool](b, `typeof axe === "object"`) {
		b.Do(chromedp.Evaluate[chromedp.Void](axe + ";undefined"))
	}
	for _, dark := range []bool{true, false} {
		b.Dark(dark)
		var found []finding
		rules := axeAll
		if dark {
			rules = axeColours
		}
		if err := json.Unmarshal([]byte(Eval[string](b, fmt.Sprintf(axeScript, rules))), &found); err != nil {
			b.t.Fatal(err)
		}
		for _, f := range found {
			for _, n := range f.Nodes {
				b.t.Errorf("%s (dark %v): %s, %s: %s\n%s", Eval[string](b, "location.pathname"), dark, f.ID, f.Help, n.HTML, n.Summary)
			}
		}
	}
}

var noName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// Shot keeps a picture of the whole page in the directory that PARLEY_TEST_SCREENSHOTS
// names; without one it does nothing.
func (b *Tab) Shot(name string) {
	b.t.Helper()
	dir := os.Getenv("PARLEY_TEST_SCREENSHOTS")
	if dir == "" {
		return
	}
	ctx, cancel := context.WithTimeout(b.ctx, Patience)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Logf("no picture of %s: %v", name, err)
		return
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.t.Fatal(err)
	}
	file := strings.Trim(noName.ReplaceAllString(b.t.Name()+"-"+name, "-"), "-") + ".png"
	if err := os.WriteFile(filepath.Join(dir, file), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}
