package agent

import (
	"strings"
	"testing"
)

// TestStepsAndSuccessors: what leads nowhere, or twice to one place, is named by its path.
func TestStepsAndSuccessors(t *testing.T) {
	for _, c := range []struct{ data, wrong string }{
		{`{"steps":[{"name":"A","prompt":"a","next":[{"to":"B","when":"x"}]},{"name":"B","prompt":"b"}]}`, ""},
		{`{"steps":[{"name":"A","prompt":"a","next":[{"to":"C","when":"x"}]}]}`, `settings.steps[0].next[0].to: there is no step "C"`},
		{`{"steps":[{"name":"A","prompt":"a","next":[{"to":"A","when":"x"}]}]}`, "settings.steps[0].next[0].to: leads back"},
		{`{"steps":[{"name":"A","prompt":"a"},{"name":" A ","prompt":"b"}]}`, `settings.steps[1].name: there are two of "A"`},
		{`{"steps":[{"name":" ","prompt":"a"}]}`, "settings.steps[0].name: is empty"},
		{`{"steps":[{"name":"A"}]}`, "settings.steps[0].prompt: is missing"},
		{`{"hand_over_to":[{"agent":"ag_1","name":"Billing","description":"Invoices","history":"summary"},{"agent":"ag_1","name":"Sales"}]}`, ""},
		{`{"hand_over_to":[{"agent":"ag_1","name":"Billing"},{"agent":"ag_2","name":"billing"}]}`, `settings.hand_over_to[1].name: there are two of "billing"`},
		{`{"hand_over_to":[{"agent":"billing","name":"Billing"}]}`, "settings.hand_over_to[0].agent"},
		{`{"hand_over_to":[{"agent":"ag_1"}]}`, "settings.hand_over_to[0].name: is missing"},
		{`{"hand_over_to":[{"agent":"ag_1","name":"Billing","history":"some"}]}`, "settings.hand_over_to[0].history"},
	} {
		_, err := ParseSettings([]byte(c.data))
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%.80s: %v, want %q", c.data, err, c.wrong)
		}
	}
}

// TestStepsHaveVariables: in the instructions and the conditions, whose names are checked.
func TestStepsHaveVariables(t *testing.T) {
	s, err := ParseSettings([]byte(`{"variables":{"city":"Rome"},"steps":[{"name":"A","prompt":"In {{city}}.","next":[{"to":"B","when":"not {{city}}"}]},{"name":"B","prompt":"b"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	list := Filled(&s, Call{}).Steps(s.Steps)
	if list[0].Prompt != "In Rome." || list[0].Next[0].When != "not Rome" || s.Steps[0].Prompt != "In {{city}}." || s.Steps[0].Next[0].When != "not {{city}}" {
		t.Errorf("%+v of %+v", list, s.Steps)
	}
	if text := Overview("Be brief.", list); !strings.Contains(text, `"A": In Rome.`) || !strings.Contains(text, `then to "B": not Rome`) {
		t.Error(text)
	}
}
