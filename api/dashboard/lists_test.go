package dashboard_test

import (
	"html"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"parley/api/dashboard/dashboardtest"
	"parley/store"
)

func listsNumber(w *world, b *dashboardtest.Tab) {
	b.Skip()
	b.TabTo("#number")
	b.Press("12", kb.Enter)
	isAt(b, "number")
	b.Accessible()
	b.Press(kb.Delete, "+34 612 345 679", kb.Tab, "wrote to us", kb.Enter)
	b.Says("+34612345679 is on the do-not-call list.")
	listed := func() bool {
		_, err := w.DB.DoNotCall(w.T.Context(), w.Account, "+34612345679")
		return err == nil
	}
	if !listed() {
		w.T.Error("it is not on the list")
	}
	b.TabTo("#find")
	b.Press("+34611111111", kb.Enter)
	b.Says("may be called")
	b.TabTo("#find")
	b.Press(kb.Delete, "+34612345679", kb.Enter)
	b.Says("wrote to us")
	b.TabTo(`button[aria-label="Remove +34612345679"]`)
	b.Press(kb.Enter)
	b.TabTo("dialog[open] .danger")
	b.Press(kb.Enter)
	b.Says("no longer on the do-not-call list")
	if listed() {
		w.T.Error("it is still on the list")
	}
}

func storesSecret(w *world, b *dashboardtest.Tab) {
	const value = "Bearer 1234"
	b.Skip()
	b.TabTo("#name")
	b.Press("1", kb.Tab, value, kb.Enter)
	b.Says("A letter, then up to 63")
	if strings.Contains(dashboardtest.Eval[string](b, `document.documentElement.outerHTML`), value) {
		w.T.Error("a value that was refused is shown")
	}
	b.TabTo("#name")
	b.Press(kb.Delete, "BOOKING", kb.Tab, value, kb.Tab, "api.example.com, *.example.org", kb.Enter)
	b.Says("The secret BOOKING is stored.")
	b.Says("api.example.com, *.example.org")
	if strings.Contains(dashboardtest.Eval[string](b, `document.documentElement.outerHTML`), value) {
		w.T.Error("the value is shown")
	}
	b.TabTo(`button[aria-label="Delete BOOKING"]`)
	b.Press(kb.Enter)
	b.TabTo("dialog[open] .danger")
	b.Press(kb.Enter)
	b.Says("The secret BOOKING was deleted.")
}

// TestDoNotCallPage: entries have their source and call, are found by number, and are the account's own.
func TestDoNotCallPage(t *testing.T) {
	w := newWorld(t)
	other := w.ids["account"]
	for account, number := range map[string]string{w.Account: "+34611000001", other: "+34611000002"} {
		_, _, err := w.DB.AddDoNotCall(t.Context(), account, store.DoNotCall{Number: number, Reason: "asked " + hostile, Source: store.ListedByAgent, Call: &w.over})
		w.OK(err)
	}
	page := html.UnescapeString(w.Get("/app/do-not-call").Body)
	for _, want := range []string{"+34611000001", "Agent, <a href=\"/app/calls/" + w.over + "\">", "/v1/do-not-call.csv"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(page, "+34611000002") {
		t.Error("another account's entry is shown")
	}
	if page := w.Get("/app/do-not-call?find=%2B34611000002").Body; !strings.Contains(page, "Not on the list") {
		t.Error("another account's entry is found")
	}
	if a := w.Post("/app/do-not-call/remove", "number", "+34611000002"); a.Status != http.StatusNotFound {
		t.Errorf("another account's entry: %d", a.Status)
	}
	if a := w.Post("/app/do-not-call/remove", "number", ""); a.Status != http.StatusBadRequest {
		t.Errorf("no number: %d", a.Status)
	}
}
