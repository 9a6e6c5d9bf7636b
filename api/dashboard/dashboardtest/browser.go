// Package dashboardtest drives pages in a real browser: Chromium without a window. One
// browser serves a package's tests, each test has a tab with cookies of its own, and a
// test fails when its page wrote an error to the console or broke the policy.
//
//	func TestMain(m *testing.M) { storetest.Main(dashboardtest.Closing(m)) }
//
//	func TestPage(t *testing.T) {
//		b := dashboardtest.Open(t, server.URL)
//		b.Go("/app/keys")
package dashboardtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"parley/store/storetest"
)

// Patience bounds one step on a busy machine.
const Patience = 2 * time.Minute

var (
	mu       sync.Mutex
	browsers = map[string]*running{} // by their flags
)

// running is a browser.
type running struct {
	ctx  context.Context
	stop func()
}

// Closing ends the browser after a package's tests. Give it to storetest.Main, or call
// its Run.
func Closing(m interface{ Run() int }) interface{ Run() int } { return closing{m} }

type closing struct{ m interface{ Run() int } }

func (c closing) Run() int {
	defer func() {
		mu.Lock()
		defer mu.Unlock()
		for _, b := range browsers {
			b.stop()
		}
	}()
	return c.m.Run()
}

// program is the browser's, or empty. The one that has no window to hide, no extensions and no address bar
// takes two thirds of the processor time of the whole browser; it draws and runs pages with the same code.
func program() string {
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// browser starts the browser with these flags, unless it runs.
func browser(t testing.TB, wanted []string) context.Context {
	t.Helper()
	path := program()
	if path == "" {
		t.Skip("no chromium in PATH")
	}
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(wanted)
	key := strings.Join(wanted, "\n")
	if b := browsers[key]; b != nil {
		if b.ctx.Err() == nil {
			return b.ctx
		}
		b.stop()
	}
	dir, err := os.MkdirTemp(storetest.Scratch(), "parley-browser-")
	if err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(dir), chromedp.DisableGPU,
		// Its own way is for machines with little memory for files, its own pages of suggestions
		// for the address bar take each tab a process and half a second of a processor.
		chromedp.Flag("disable-dev-shm-usage", storetest.Scratch() == "/tmp"),
		chromedp.Flag("disable-features", "Translate,BlinkGenPropertyTrees,WebUIOmniboxPopup,WebUIOmniboxAimPopup"))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	for _, f := range wanted {
		name, value, ok := strings.Cut(strings.TrimPrefix(f, "--"), "=")
		if ok {
			options = append(options, chromedp.Flag(name, value))
		} else {
			options = append(options, chromedp.Flag(name, true))
		}
	}
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	// The browser must run before anything else touches its context.
	if err := chromedp.Do(ctx); err != nil {
		cancel()
		end()
		_ = os.RemoveAll(dir)
		t.Fatalf("start the browser: %v", err)
	}
	browsers[key] = &running{ctx, func() {
		cancel()
		end() // waits for the process
		for range 50 {
			if os.RemoveAll(dir) == nil { // its children may still write
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
	}}
	return ctx
}

// Tab is one tab of the browser. One goroutine uses it.
type Tab struct {
	t    testing.TB
	ctx  context.Context
	base string

	mu      sync.Mutex
	faults  []string
	allowed []string
	ended   chan struct{} // the marker that Check writes was read
}

// Open opens an empty tab. base is the server's address, without a final slash; flags are
// the browser's, such as "--use-fake-device-for-media-stream", and tests with the same
// ones share a browser. The tab closes with the test, which then fails if the console
// has errors.
func Open(t testing.TB, base string, flags ...string) *Tab {
	t.Helper()
	parent := browser(t, flags)
	ctx, cancel := chromedp.NewContext(parent, chromedp.WithNewBrowserContext())
	b := &Tab{t: t, ctx: ctx, base: base, ended: make(chan struct{}, 1)}
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("open a tab: %v", err)
	}
	messages := chromedp.Console(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for m, err := range messages {
			if err != nil {
				return
			}
			b.heard(m)
		}
	}()
	t.Cleanup(func() { b.Check(); cancel(); <-done })
	b.Do(chromedp.EmulateViewport(1280, 900))
	return b
}

const endMarker = "dashboardtest: all was read"

func (b *Tab) heard(m chromedp.ConsoleMessage) {
	if m.Text == endMarker {
		b.ended <- struct{}{}
		return
	}
	if m.Type != chromedp.ConsoleError && m.Type != chromedp.ConsoleException {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = append(b.faults, fmt.Sprintf("%s %s (%s:%d)", m.Source, m, m.URL, m.Line))
}

// Allow says that console errors which hold this text are expected. A form that comes
// back with mistakes (422) always is.
func (b *Tab) Allow(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.allowed = append(b.allowed, text)
}

// Check fails the test if the console has errors: of scripts, of the policy, of the
// network. It forgets them.
func (b *Tab) Check() {
	b.t.Helper()
	if b.ctx.Err() != nil {
		return
	}
	if err := b.try(chromedp.Evaluate[chromedp.Void](`console.debug("` + endMarker + `")`)); err == nil {
		select {
		case <-b.ended:
		case <-time.After(Patience):
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.faults {
		ok := func(a string) bool { return strings.Contains(f, a) }
		if !slices.ContainsFunc(append(b.allowed, "status of 422"), ok) {
			b.t.Errorf("the console says: %s", f)
		}
	}
	b.faults = nil
}

// try runs steps with a deadline.
func (b *Tab) try(steps ...chromedp.Action[chromedp.Void]) error {
	ctx, cancel := context.WithTimeout(b.ctx, Patience)
	defer cancel()
	return chromedp.Do(ctx, steps...)
}

// Do runs steps in the tab.
func (b *Tab) Do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := b.try(steps...); err != nil {
		b.fail("%v", err)
	}
}

// fail ends the test with what the page looked like.
func (b *Tab) fail(format string, args ...any) {
	b.t.Helper()
	b.Shot("failed")
	var at, text string
	if b.ctx.Err() == nil {
		at, _ = eval[string](b, `location.pathname + location.search`)
		text, _ = eval[string](b, `document.body?.innerText.slice(0, 2000) ?? ""`)
	}
	b.t.Fatalf("%s\nat %s, which says:\n%s", fmt.Sprintf(format, args...), at, text)
}

// Go opens an address of the server and waits until it has loaded.
func (b *Tab) Go(path string) {
	b.t.Helper()
	b.Do(chromedp.Navigate(b.base + path))
}

// Eval evaluates an expression in the page, and waits for it when it is a promise.
func Eval[T any](b *Tab, expression string) T {
	b.t.Helper()
	v, err := eval[T](b, expression)
	if err != nil {
		b.fail("%.200s: %v", expression, err)
	}
	return v
}

func eval[T any](b *Tab, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(b.ctx, Patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// Wait waits until an expression, or the promise that it is, is true in whatever page the tab then shows.
func (b *Tab) Wait(expression string) {
	b.t.Helper()
	var last error
	for deadline := time.Now().Add(Patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		var ok bool
		ctx, cancel := context.WithDeadline(b.ctx, deadline)
		ok, last = chromedp.Run(ctx, chromedp.Evaluate[bool](`Promise.resolve(`+expression+`).then(Boolean)`, chromedp.EvalAwaitPromise))
		cancel()
		if ok {
			return
		}
		if b.ctx.Err() != nil {
			break
		}
	}
	b.fail("never true: %s (%v)", expression, errors.Join(last, b.ctx.Err()))
}

// Says waits until the page shows a text.
func (b *Tab) Says(text string) {
	b.t.Helper()
	b.Wait(fmt.Sprintf(`document.body?.innerText.includes(%q)`, text))
}

// At waits until the page at an address, of which this is the path, has loaded.
func (b *Tab) At(path string) {
	b.t.Helper()
	b.Wait(fmt.Sprintf(`location.pathname === %q && document.readyState === "complete"`, path))
}
