package remote_test

import (
	"strings"
	"testing"

	"parley/inference"
	"parley/inference/remote"
)

// TestMended: whatever a conversation was, it begins and ends as vendors want, and each call has one result after it.
func TestMended(t *testing.T) {
	user, agent := inference.Message{Role: inference.RoleUser, Text: "Hi. "}, inference.Message{Role: inference.RoleAgent, Text: "Yes."}
	cut := inference.Message{Role: inference.RoleAgent, Text: "We are", Interrupted: true}
	call := func(ids ...string) inference.Message {
		m := inference.Message{Role: inference.RoleAgent}
		for _, id := range ids {
			m.ToolCalls = append(m.ToolCalls, inference.ToolCall{ID: id, Name: "look"})
		}
		return m
	}
	result := func(id string) inference.Message {
		return inference.Message{Role: inference.RoleTool, ToolCallID: id, Text: id + " is free"}
	}
	texts := func(list []inference.Message) string {
		var texts []string
		for _, m := range list {
			text := string(m.Role) + " " + m.Text
			for _, c := range m.ToolCalls {
				text = strings.TrimSuffix(text, " ") + " " + c.ID
			}
			if (m.Text == "cancelled") != (m.Role == inference.RoleTool && m.Interrupted) {
				t.Errorf("%+v", m)
			}
			texts = append(texts, text)
		}
		return strings.Join(texts, "|")
	}
	const begins, silent = "user (The call begins.)", "user (The caller is silent.)"
	for name, c := range map[string]struct {
		history []inference.Message
		want    []string
	}{
		"nothing":                  {nil, []string{silent}},
		"the agent begins":         {[]inference.Message{agent, user}, []string{begins, "agent Yes.", "user Hi."}},
		"the agent ends":           {[]inference.Message{user, agent}, []string{"user Hi.", "agent Yes.", silent}},
		"what is empty":            {[]inference.Message{{Role: inference.RoleUser, Text: " "}, {Role: inference.RoleAgent}, user}, []string{"user Hi."}},
		"interrupted":              {[]inference.Message{user, cut, user}, []string{"user Hi.", "agent We are …", "user Hi."}},
		"results in another order": {[]inference.Message{user, call("a", "b"), result("b"), result("a")}, []string{"user Hi.", "agent a b", "tool a is free", "tool b is free"}},
		"no result":                {[]inference.Message{user, call("a"), user}, []string{"user Hi.", "agent a", "tool cancelled", "user Hi."}},
		"a late result":            {[]inference.Message{user, call("a"), user, result("a")}, []string{"user Hi.", "agent a", "tool cancelled", "user Hi."}},
		"a result of nothing":      {[]inference.Message{result("z"), user}, []string{"user Hi."}},
	} {
		if got := texts(remote.Mended(c.history)); got != strings.Join(c.want, "|") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	// Without mending, a call that has no result is left out.
	if got := texts(remote.Matched([]inference.Message{result("b"), call("a", "b", "c"), result("a"), result("b"), result("d")})); got != "agent a b|tool a is free|tool b is free" {
		t.Errorf("%q", got)
	}
}
