package dashboard_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"parley/api/dashboard/dashboardtest"
	"parley/store/people"
)

// TestFind: pages, agents and calls are found by a few letters, those of the account alone.
func TestFind(t *testing.T) {
	w := newWorld(t)
	foreign := makeAgent(w.Site, w.ids["account"], lola)
	agent := `href="/app/agents/` + w.ids["agent"] + `"`
	for sought, want := range map[string]struct{ has, lacks []string }{
		"":                  {[]string{`href="/app/balance"`, `href="/app/agents/new"`, `href="/app/operator"`}, []string{agent, "/app/calls?"}},
		"lOLa":              {[]string{agent, "q=lOLa", "&lt;"}, []string{foreign.ID, `href="/app/balance"`}},
		"bal":               {[]string{`href="/app/balance"`}, []string{`href="/app/webhooks"`}},
		"place a":           {[]string{`href="/app/dial"`}, nil},
		w.over:              {[]string{`href="/app/calls/` + w.over + `"`}, []string{"q="}},
		w.ids["agent"]:      {[]string{agent}, nil},
		foreign.ID:          {nil, []string{`href="/app/agents/` + foreign.ID}},
		"+34 612 345 678":   {[]string{"number=%2B34&#43;612&#43;345&#43;678"}, []string{"q="}},
		`"><script>x`:       {[]string{"&lt;script&gt;"}, []string{"<script>x"}},
		"a table for seven": {[]string{"q=a&#43;table&#43;for&#43;seven"}, nil},
	} {
		whole := w.Get("/app/find?q=" + url.QueryEscape(sought))
		part := w.Get("/app/find?q="+url.QueryEscape(sought), "HX-Request", "true")
		if whole.Status != 200 || part.Status != 200 || !strings.Contains(whole.Body, part.Body) || strings.Contains(part.Body, "<html") {
			t.Fatalf("%q: %d and %d", sought, whole.Status, part.Status)
		}
		for _, x := range want.has {
			if !strings.Contains(part.Body, x) {
				t.Errorf("%q: no %q in\n%s", sought, x, part.Body)
			}
		}
		for _, x := range want.lacks {
			if strings.Contains(part.Body, x) {
				t.Errorf("%q: %q in\n%s", sought, x, part.Body)
			}
		}
	}
	mia := w.NewUser("mia@example.com", people.RoleMember)
	w.OK(people.New(w.DB).AddMember(t.Context(), w.Account, mia, people.RoleMember))
	member := w.NewClient()
	w.SignInAs(member, mia)
	if page := w.Ask(member, "GET", "/app/find", ""); page.Status != 200 || strings.Contains(page.Body, `href="/app/operator"`) {
		t.Errorf("a member finds the operator's pages: %d", page.Status)
	}
}

// TestFinder: Ctrl+K finds from any page, by the keyboard alone.
func TestFinder(t *testing.T) {
	w := newWorld(t)
	b := w.Tab()
	b.Go("/app/keys")
	shortcut := func() {
		dashboardtest.Eval[bool](b, `document.dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true, bubbles: true, cancelable: true }))`)
		b.Wait(`document.activeElement?.id === "finder-query" && document.querySelectorAll("#finder-hits a").length > 5`)
	}
	shortcut()
	b.Accessible()
	b.Shot("finder")
	b.Press(kb.Escape)
	b.Wait(`!document.querySelector("dialog[open]")`)
	shortcut()
	b.Press("zoe")
	b.Wait(w.at(`document.querySelector('#finder-hits a[href="/app/agents/{zoe}"]')`))
	b.Press(kb.ArrowDown)
	b.Wait(w.at(`document.activeElement.matches('[href="/app/agents/{zoe}"]')`))
	b.Press(kb.ArrowUp)
	b.Wait(`document.activeElement.id === "finder-query"`)
	b.Press(kb.Enter)
	b.At(w.at("/app/agents/{zoe}"))
	b.Click("#finder-open")
	b.Wait(`document.activeElement?.id === "finder-query"`)
	b.Phone()
	b.NoSidewaysScroll()
	b.Accessible()
	b.Check()
}
