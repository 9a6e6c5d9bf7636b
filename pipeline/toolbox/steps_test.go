package toolbox

import (
	"encoding/json"
	"strings"
	"testing"

	"parley/pipeline/agent"
)

// TestSteps: the model goes on where a way leads, and is told why it does not otherwise.
func TestSteps(t *testing.T) {
	s := NewSteps("Be brief.", []agent.Step{
		{Name: "Name", Prompt: "Ask for the name.", Next: []agent.Way{{To: "Day", When: "you know it"}}},
		{Name: "Day", Prompt: "Ask for the day."},
	})
	has := func(parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(s.Prompt(), part) {
				t.Errorf("%q is not in the prompt: %s", part, s.Prompt())
			}
		}
	}
	has("Be brief.", "Ask for the name.", `to "Day": you know it`)
	for arguments, want := range map[string]string{`{"to":"Name"}`: `no way leads from "Name" to "Name"`, `{"to":"Bill"}`: "no way", `{"to":7}`: "do not fit", `{}`: "no way"} {
		if _, err := s.Go(json.RawMessage(arguments)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", arguments, err, want)
		}
	}
	changed := ""
	result, err := s.Function(func(prompt string) { changed = prompt }).Run(t.Context(), json.RawMessage(`{"to":" day "}`))
	if err != nil || result != `{"step":"Day"}` || changed != s.Prompt() {
		t.Errorf("%s, %v; the agent has %q", result, err, changed)
	}
	if has("Ask for the day.", "last step"); strings.Contains(s.Prompt(), "Ask for the name.") {
		t.Errorf("it still has the first step: %s", s.Prompt())
	}
}
