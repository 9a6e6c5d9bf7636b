package dashboard_test

import (
	"net/http"
	"strings"
	"testing"

	"parley/api/dashboard/dashboardtest"
)

// TestTheme: a browser goes by the system until somebody chooses, and by the choice then, on the pages before the
// sign-in, too.
func TestTheme(t *testing.T) {
	s := dashboardtest.NewSite(t, dashboardtest.Options{}).SignIn()
	b := s.Tab()
	dark := func() bool {
		return dashboardtest.Eval[bool](b, `getComputedStyle(document.body).backgroundColor === "rgb(14, 19, 26)"`)
	}
	is := func(when string, light, darkly bool) {
		t.Helper()
		for system, want := range map[bool]bool{false: light, true: darkly} {
			if b.Dark(system); dark() != want {
				t.Errorf("%s, with a system that is dark: %v, the page is dark: %v", when, system, !want)
			}
		}
	}
	b.Go("/app/me")
	is("nothing chosen", false, true)
	for _, tt := range []struct {
		label         string
		light, darkly bool
	}{{"dark", true, true}, {"light", false, false}, {"", false, true}} {
		b.Click(".menu summary")
		b.Click(`button[name=theme][value="` + tt.label + `"]`)
		b.At("/app/me")
		b.Wait(`document.querySelector('button[name=theme][aria-current]').value === "` + tt.label + `"`)
		is("chosen: "+tt.label, tt.light, tt.darkly)
	}
	b.Check()

	for _, tt := range []struct{ theme, back, to string }{{"dark", "/app/live", "/app/live"}, {"light", "https://evil.example/app/", "/app/"}, {"", "//evil.example", "/app/"}} {
		if a := s.Post("/app/theme", "theme", tt.theme, "back", tt.back); a.Status != http.StatusSeeOther || a.Header.Get("Location") != tt.to {
			t.Errorf("%+v: %d, %s", tt, a.Status, a.Header.Get("Location"))
		}
	}
	if a := s.Post("/app/theme", "theme", "pink"); a.Status != http.StatusBadRequest {
		t.Errorf("another theme: %d", a.Status)
	}
	if a := s.Ask(&http.Client{}, http.MethodGet, "/app/sign-in", "", "Cookie", "parley-theme=light"); strings.Contains(a.Body, "dark.") {
		t.Error("the sign-in does not go by the choice")
	}
	if a := s.Ask(&http.Client{}, http.MethodGet, "/app/sign-in", "", "Cookie", `parley-theme="><b>`); !strings.Contains(a.Body, "prefers-color-scheme") || strings.Contains(a.Body, "<b>") {
		t.Error("the sign-in takes any choice")
	}
}
