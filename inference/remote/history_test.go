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
		var got []string
		for _, m := range remote.Mended(c.history) {
			text := string(m.Role) + " " + m.Text
			for _, c := range m.ToolCalls {
				text = strings.TrimSuffix(text, " ") + " " + c.ID
			}
			if (m.Text == "cancelled") != (m.Role == inference.RoleTool && m.Interrupted) {
				t.Errorf("%s: %+v", name, m)
			}
			got = append(got, text)
		}
		if strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
