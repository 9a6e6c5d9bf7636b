package dashboard_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"parley/api/starter"
	"parley/api/wire"
)

// TestTemplatesInTheEditor: each is offered, and what is created from its form as it stands is the template.
func TestTemplatesInTheEditor(t *testing.T) {
	s := agentSite(t).SignIn()
	list := s.Get("/app/agents/new").Body
	for _, one := range starter.Templates() {
		at := "/app/agents/new?template=" + one.Name
		if !strings.Contains(list, `<a href="`+at+`">`+one.Title+`</a>`) {
			t.Errorf("%s is not offered", one.Name)
		}
		page := s.Get(at)
		if !strings.Contains(page.Body, `<a href="`+at+`" aria-current="page">`) {
			t.Errorf("%s is not said to be chosen", one.Name)
		}
		made := s.Post("/app/agents", entries(page.Body)...)
		if made.Status != http.StatusSeeOther {
			t.Errorf("%s: %d %s", one.Name, made.Status, made.Body)
			continue
		}
		saved, err := s.DB.Agent(t.Context(), s.Account, strings.TrimPrefix(made.Header.Get("Location"), "/app/agents/"))
		s.OK(err)
		document, err := one.Document()
		s.OK(err)
		var want wire.AgentDefinition
		s.OK(json.Unmarshal(document, &want))
		if saved.Name != want.Name || saved.Voice != want.Voice || saved.Prompt != want.Prompt || saved.FirstMessage != want.FirstMessage ||
			!sameJSON(t, saved.Settings, want.Settings.RawMessage) || !sameJSON(t, saved.Tools, want.Tools.RawMessage) {
			t.Errorf("%s became %+v %s %s", one.Name, saved, saved.Settings, saved.Tools)
		}
	}
	if a := s.Get("/app/agents/new?template=nobody"); a.Status != http.StatusNotFound {
		t.Errorf("a template that there is not: %d", a.Status)
	}
}

// sameJSON says whether two texts are the same value; nothing is an empty list.
func sameJSON(t *testing.T, a, b json.RawMessage) bool {
	t.Helper()
	var values [2]any
	for i, text := range []json.RawMessage{a, b} {
		if len(text) == 0 {
			text = json.RawMessage("[]")
		}
		if err := json.Unmarshal(text, &values[i]); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	return reflect.DeepEqual(values[0], values[1])
}
