package dashboard_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"parley/api/dashboard/dashboardtest"
)

var forbidden = regexp.MustCompile(`<style|<script[^>]*>[^<]|<[^>]+ (?:style|on[a-z]+)="|(?:src|href)="(?:https?:)?//|hx-on|"js:`)

// firstLoad bounds what a browser must fetch before it shows a page, compressed, in bytes.
const firstLoad = 300_000

var loaded = regexp.MustCompile(`(?:src|href)="(/app/assets/[^"]+)"`)

// TestPagesAreLight: a page with all that it loads.
func TestPagesAreLight(t *testing.T) {
	s, pages := fullSite(t)
	s.SignIn()
	for _, path := range pages {
		a := s.Get(path)
		sum := len(a.Body) // pages themselves are not compressed
		for _, m := range loaded.FindAllStringSubmatch(a.Body, -1) {
			f := s.Get(m[1], "Accept-Encoding", "gzip")
			if f.Status != 200 || f.Header.Get("Content-Encoding") != "gzip" || !strings.HasSuffix(f.Header.Get("Cache-Control"), "immutable") {
				t.Errorf("%s: %d %v", m[1], f.Status, f.Header)
			}
			sum += len(f.Body)
		}
		if sum > firstLoad {
			t.Errorf("%s takes %d bytes", path, sum)
		}
	}
}

// TestPagesAreStrict: nothing inline, nothing from elsewhere, a policy that says so, one
// main heading, no identifier twice.
func TestPagesAreStrict(t *testing.T) {
	s, pages := fullSite(t)
	s.SignIn()
	ids := regexp.MustCompile(` id="([^"]*)"`)
	for _, path := range pages {
		a := s.Get(path)
		if got, want := a.Header.Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' ws"+
			strings.TrimPrefix(s.URL, "http")+"; media-src 'self' blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"; got != want {
			t.Errorf("%s: policy %q", path, got)
		}
		if a.Header.Get("Cache-Control") != "no-store" || a.Header.Get("X-Content-Type-Options") != "nosniff" || a.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %v", path, a.Header)
		}
		if m := forbidden.FindString(strings.ReplaceAll(a.Body, `<script type="application/json"`, "<data")); m != "" { // data, which no browser runs
			t.Errorf("%s holds %q", path, m)
		}
		if n := strings.Count(a.Body, "<h1"); n != 1 {
			t.Errorf("%s has %d main headings", path, n)
		}
		var seen []string
		for _, m := range ids.FindAllStringSubmatch(a.Body, -1) {
			if slices.Contains(seen, m[1]) {
				t.Errorf("%s has two things called %s", path, m[1])
			}
			seen = append(seen, m[1])
		}
	}
}

// TestWaitsForPromises: a promise that something is true is waited for; it is not true by itself.
func TestWaitsForPromises(t *testing.T) {
	b := dashboardtest.Open(t, dashboardtest.NewSite(t, dashboardtest.Options{}).URL)
	b.Go("/app/sign-in")
	b.Wait(`(window.asked = (window.asked ?? 0) + 1, new Promise((done) => setTimeout(done, 1, window.asked > 2)))`)
	if n := dashboardtest.Eval[int](b, "window.asked"); n != 3 {
		t.Errorf("asked %d times", n)
	}
}
