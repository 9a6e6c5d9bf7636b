package acceptance

import (
	"fmt"
	"strings"
	"testing"
)

// TestDemonstrationCalls: the agent that calls people and the people of the simulated
// carrier understand each other, and a machine gets its message.
func TestDemonstrationCalls(t *testing.T) {
	t.Parallel()
	s := serve(t, newDataDir(t), nil, "--demo")
	g := s.guide
	c := dialer{t, "http://" + s.addrs["http"], customer{key: g.key, agent: g.caller, number: g.number}}
	for _, digits := range []string{"00", "05"} {
		var missing []string
		for range 3 { // a machine that is too busy tears words
			if missing = misunderstood(spoken(c.ended(c.dial(digits, nil)))); missing == nil {
				break
			}
		}
		for _, m := range missing {
			t.Errorf("%s: %s", digits, m)
		}
	}
	machine := c.ended(c.dial("04", map[string]any{"on_machine": "message", "message": "Please call Casa Lola."}))
	if said := spoken(machine); machine.By != "machine" || machine.Reason != "voicemail" || !strings.Contains(said["agent"], "Please call Casa Lola.") {
		t.Errorf("%+v", machine)
	}
}

// misunderstood is what a call lacks of the conversation that the two have.
func misunderstood(said map[string]string) (missing []string) {
	for role, words := range map[string][]string{
		"user":  {"that is me", "that works", "goodbye"},
		"agent": {"Casa Lola", "booked for tomorrow at eight", "look forward"},
	} {
		for _, w := range words {
			if !strings.Contains(letters(said[role]), letters(w)) {
				missing = append(missing, fmt.Sprintf("no %q in what the %s said: %v", w, role, said))
			}
		}
	}
	if strings.Contains(said["agent"], "Could you tell me") {
		missing = append(missing, fmt.Sprintf("the person was not understood: %v", said))
	}
	return missing
}

// letters is text without spaces: a recogniser writes "goodbye" and "good bye".
func letters(text string) string { return strings.ReplaceAll(text, " ", "") }

// spoken is all that each side of a call said.
func spoken(e event) map[string]string {
	said := map[string]string{}
	for _, l := range e.Transcript {
		said[l.Role] += l.Text + " "
	}
	return said
}
