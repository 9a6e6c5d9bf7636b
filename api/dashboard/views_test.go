package dashboard_test

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"parley/store/people"
)

// TestSavedViews: a view is a filter and an order of the history, and its user's alone.
func TestSavedViews(t *testing.T) {
	x := newExchange(t)
	query := "direction=inbound&q=casa+lola&sort=longest"
	if page := x.Get("/app/calls"); strings.Contains(page.Body, "Save this view") {
		t.Error("all calls are offered as a view")
	}
	if page := x.Get("/app/calls?cursor=&to=&" + query); !strings.Contains(html.UnescapeString(page.Body), `name="query" value="`+query+`"`) {
		t.Errorf("no way to save %s", query)
	}
	if page := x.Post("/app/call-views", "name", "Lola "+hostile, "query", "state=live&cursor=x&"+query); page.Status != http.StatusSeeOther || page.Header.Get("Location") != "/app/calls?"+query {
		t.Fatalf("save: %d, %s", page.Status, page.Header.Get("Location"))
	}
	page := x.Get("/app/calls")
	link := regexp.MustCompile(`<li><a href="(/app/calls[^"]*)">Lola`).FindStringSubmatch(page.Body)
	if link == nil || html.UnescapeString(link[1]) != "/app/calls?"+query || strings.Contains(page.Body, hostile) {
		t.Fatalf("views: %v", link)
	}
	looked := x.Get("/app/calls?" + query)
	change := regexp.MustCompile(`/app/call-views/[a-z0-9_]+/rename`).FindString(looked.Body)
	if !strings.Contains(looked.Body, `aria-current="page">Lola`) || change == "" {
		t.Fatal("the view does not know itself")
	}
	for _, name := range []string{"", strings.Repeat("a", 61)} {
		for _, at := range []string{"/app/call-views", change} {
			if page := x.Post(at, "name", name, "query", query); page.Status != http.StatusUnprocessableEntity || !strings.Contains(page.Body, "1 to 60 characters") || !strings.Contains(page.Body, `class="keep" open`) {
				t.Errorf("%s as %q: %d", at, name, page.Status)
			}
		}
	}
	x.Post("/app/call-views", "name", "Web", "query", "direction=web")
	if page := x.Post(change, "name", "Web", "query", query); page.Status != http.StatusUnprocessableEntity || !strings.Contains(page.Body, "Another view has this name.") {
		t.Errorf("a name that is taken: %d", page.Status)
	}
	luis := x.NewUser("luis@example.com", people.RoleMember)
	x.OK(x.People.AddMember(t.Context(), x.Account, luis, people.RoleMember))
	member := x.NewClient()
	x.SignInAs(member, luis)
	if page := x.Ask(member, "GET", "/app/calls", ""); strings.Contains(page.Body, "Lola &lt;") || strings.Contains(page.Body, ">Web</a>") {
		t.Error("another user's views are shown")
	}
	remove := strings.TrimSuffix(change, "rename") + "delete"
	for _, at := range []string{change, remove} {
		if page := x.Ask(member, "POST", at, "name=mine", "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin"); page.Status != http.StatusNotFound {
			t.Errorf("%s by another user: %d", at, page.Status)
		}
	}
	if page := x.Post(change, "name", "Renamed", "query", query); page.Status != http.StatusSeeOther || page.Header.Get("Location") != "/app/calls?"+query {
		t.Errorf("rename: %d", page.Status)
	}
	if page := x.Post(remove); page.Status != http.StatusSeeOther || strings.Contains(x.Get("/app/calls").Body, "Renamed") {
		t.Errorf("delete: %d", page.Status)
	}
}

// TestViewsByKeyboard saves what is looked at, opens it again, renames and deletes it.
func TestViewsByKeyboard(t *testing.T) {
	x := newExchange(t)
	b := x.Tab()
	b.Go("/app/calls?direction=inbound")
	b.TabTo("details.keep > summary")
	b.Press(kb.Enter)
	b.Wait(`document.querySelector("details.keep[open]")`)
	b.Accessible()
	b.TabTo("#name")
	b.Press("Callers in", kb.Enter)
	b.Says("The view was saved.")
	b.Go("/app/calls")
	b.TabTo(".views a")
	b.Press(kb.Enter)
	b.Wait(`location.search === "?direction=inbound" && document.querySelector(".views a[aria-current]")`)
	b.Accessible()
	b.Shot("views")
	b.TabTo("details.keep > summary")
	b.Press(kb.Enter)
	b.TabTo("#name")
	b.Fill("#name", strings.Repeat("a", 61))
	b.Press(kb.Enter)
	isAt(b, "name")
	b.Accessible()
	b.Fill("#name", "Everybody who called")
	b.Press(kb.Enter)
	b.Says("The view was renamed.")
	b.TabTo("details.keep > summary")
	b.Press(kb.Enter)
	b.TabTo("details.keep .danger")
	b.Press(kb.Enter)
	b.Says("The view was deleted.")
	b.Wait(`!document.querySelector(".views")`)
}
