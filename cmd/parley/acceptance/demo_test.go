package acceptance

import (
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
		said := spoken(c.ended(c.dial(digits, nil)))
		for role, words := range map[string][]string{
			"user":  {"that is me", "that works", "goodbye"},
			"agent": {"Casa Lola", "booked for tomorrow at eight", "look forward"},
		} {
			for _, w := range words {
				if !strings.Contains(letters(said[role]), letters(w)) {
					t.Errorf("%s: no %q in what the %s said: %v", digits, w, role, said)
				}
			}
		}
		if strings.Contains(said["agent"], "Could you tell me") {
			t.Errorf("%s: the person was not understood: %v", digits, said)
		}
	}
	machine := c.ended(c.dial("04", map[string]any{"on_machine": "message", "message": "Please call Casa Lola."}))
	if said := spoken(machine); machine.By != "machine" || machine.Reason != "voicemail" || !strings.Contains(said["agent"], "Please call Casa Lola.") {
		t.Errorf("%+v", machine)
	}
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
