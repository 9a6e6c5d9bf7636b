package dashboard_test

import (
	"html"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"parley/api/dashboard/dashboardtest"
	"parley/store/sounds"
)

func keepsSound(w *world, b *dashboardtest.Tab) {
	recording, err := filepath.Abs("../../testdata/speech/opening-hours.wav")
	w.OK(err)
	b.Skip()
	b.TabTo("#name")
	b.Press("Waltz " + hostile)
	b.Do(chromedp.SetUploadFiles(chromedp.CSS("#audio"), []string{recording}))
	b.TabTo("main form .primary")
	b.Press(kb.Enter)
	b.Says("The sound Waltz " + hostile + " was added.")
	dashboardtest.Eval[bool](b, `(document.querySelector("main audio").load(), document.querySelector("main audio").preload = "auto") !== ""`)
	b.Wait(`document.querySelector("main audio").duration > 1`)
	b.TabTo(`button[data-open^="delete-snd_"]`)
	b.Press(kb.Enter)
	b.TabTo("dialog[open] .danger")
	b.Press(kb.Enter)
	b.Says("The sound was deleted.")
}

// TestSoundsOfAgents: an agent's form offers the sounds of its account, and the one that it has though it was deleted.
func TestSoundsOfAgents(t *testing.T) {
	s := agentSite(t).SignIn()
	kept := sounds.New(s.DB)
	waltz, err := kept.Add(t.Context(), s.Account, "Waltz "+hostile, []byte{1})
	s.OK(err)
	a := makeAgent(s, s.Account, lola)
	at := "/app/agents/" + a.ID
	option := func(selected, label string) string {
		return `<option value="` + waltz.ID + `"` + selected + `>` + html.EscapeString(label) + `</option>`
	}
	if page := s.Get(at).Body; !strings.Contains(page, option("", "Waltz "+hostile)) {
		t.Error("the sound is not offered")
	}
	if r := s.Post(at, with(entries(s.Get(at).Body), "hold_sound", waltz.ID)...); r.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", r.Status, r.Body)
	}
	s.OK(kept.Delete(t.Context(), s.Account, waltz.ID))
	if page := s.Get(at).Body; !strings.Contains(page, option(" selected", waltz.ID+" (deleted)")) {
		t.Error("the sound that was deleted is not shown")
	}
	if r := s.Post(at, with(entries(s.Get(at).Body), "name", "Another")...); r.Status != http.StatusSeeOther {
		t.Errorf("the agent is not saved: %d %s", r.Status, r.Body)
	}
	other := makeAgent(s, s.Account, lola)
	if r := s.Post("/app/agents/"+other.ID, with(entries(s.Get("/app/agents/"+other.ID).Body), "hold_sound", waltz.ID)...); r.Status != http.StatusBadRequest || !strings.Contains(r.Body, "has no sound") {
		t.Errorf("another agent gets a sound that there is not: %d %s", r.Status, r.Body)
	}
}
