package dashboard_test

import (
	"html"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"parley/store"
)

var metadataShown = regexp.MustCompile(`(?s)<textarea id="metadata"[^>]*>\n?(.*?)</textarea>`)

// TestAgentMetadata: lines are what programs have set, and change it; a value that is not one line comes back as it was.
func TestAgentMetadata(t *testing.T) {
	s := agentSite(t).SignIn()
	was := map[string]string{"team": "sales", "lines": "one\ntwo", "space": " x ", "quote": `"y`, "old": "x = y"}
	a := makeAgent(s, s.Account, store.Agent{Name: "Ana", Voice: "F1", Language: "en", Metadata: was})
	at := "/app/agents/" + a.ID
	stored := func() map[string]string {
		t.Helper()
		a, err := s.DB.Agent(t.Context(), s.Account, a.ID)
		s.OK(err)
		if a.Version != 1 {
			t.Errorf("metadata made version %d", a.Version)
		}
		return a.Metadata
	}
	shown := func(page string) string {
		t.Helper()
		m := metadataShown.FindStringSubmatch(page)
		if m == nil {
			t.Fatalf("no metadata on the page: %s", page)
		}
		return html.UnescapeString(m[1])
	}
	text := shown(s.Get(at).Body)
	if page := s.Post(at+"/metadata", "metadata", strings.ReplaceAll(text, "\n", "\r\n")); page.Status != http.StatusSeeOther || !maps.Equal(stored(), was) {
		t.Errorf("saved as it was: %d, %v", page.Status, stored())
	}
	for wrong, says := range map[string]string{"team": "Line 1: write a name", "\n=x": "Line 2: write a name", "a b = c": "Names are 1 to 40", "a = " + strings.Repeat("x", 501): "allowed are 500"} {
		if page := s.Post(at+"/metadata", "metadata", wrong); page.Status != http.StatusUnprocessableEntity || !strings.Contains(page.Body, says) || shown(page.Body) != wrong {
			t.Errorf("%.20s: %d", wrong, page.Status)
		}
	}
	if page := s.Post(at+"/metadata", "metadata", "team = support\n\n order=42 \n"); page.Status != http.StatusSeeOther || !maps.Equal(stored(), map[string]string{"team": "support", "order": "42"}) {
		t.Errorf("%d, %v", page.Status, stored())
	}
	if page := s.Post("/app/agents/ag_nobody/metadata", "metadata", "a = b"); page.Status != http.StatusNotFound {
		t.Errorf("of nobody: %d", page.Status)
	}
}

// TestMetadataByKeyboard writes metadata on the page of an agent.
func TestMetadataByKeyboard(t *testing.T) {
	s := agentSite(t)
	a := makeAgent(s, s.Account, store.Agent{Name: "Ana", Voice: "F1", Language: "en"})
	b := s.Tab()
	b.Go("/app/agents/" + a.ID)
	b.TabTo("#metadata")
	b.Press("team")
	b.TabTo("#metadata-form button")
	b.Press(kb.Enter)
	isAt(b, "metadata")
	b.Accessible()
	b.Press(kb.End, " = sales")
	b.TabTo("#metadata-form button")
	b.Press(kb.Enter)
	b.Says("The metadata were saved.")
	if a, err := s.DB.Agent(t.Context(), s.Account, a.ID); err != nil || a.Metadata["team"] != "sales" {
		t.Errorf("%v, %v", a.Metadata, err)
	}
}
