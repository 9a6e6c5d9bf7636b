package turn

import (
	"testing"

	"parley/media"
)

// TestWaits is the table of fillers, of announcements and of pressed keys.
func TestWaits(t *testing.T) {
	const waiting = tooling + "wait 900; "
	const collects = tooling + "collect; "
	for _, c := range []struct{ name, before, when, then string }{
		{"a filler when nothing was said", tooling, "wait 900; wait 20", "filler 0"},
		{"none before that", tooling, "wait 880", ""},
		{"none while the agent prepares a reply", tooling + "output preparing", "wait 2000", ""},
		{"later after the agent was heard", tooling + "output sounding; wait 200; output resting", "wait 5980", ""},
		{"six seconds after it", tooling + "output sounding; wait 200; output resting", "wait 6000", "filler 0"},
		{"and once more", waiting + "wait 20", "wait 6000", "filler 1"},
		{"two in a turn", waiting + "wait 6020", "wait 9000", ""},
		{"again in the next", waiting + "wait 6020; typed hello; tools", "wait 1000", "filler 0"},
		{"none on hold", tooling + "hold", "wait 2000", ""},
		{"the caller speaks over it", waiting + "wait 20; output filling; wait 200; speak 200", "wait 20", "stop filler"},

		{"an announcement to who is on hold", tooling, "ring 20020", "filler 2"},
		{"not before its time", tooling, "ring 20000", ""},
		{"later after the agent was heard", tooling + "output sounding; ring 200; output resting", "ring 19980", ""},
		{"again and again", tooling + "ring 20020; output filling; ring 2000; output resting; ring 18000; output filling; ring 2000; output resting", "ring 17980; ring 20", "filler 2"},
		{"the caller speaks over one", tooling + "ring 20020; output filling; speak 200", "ring 20", "stop filler"},
		{"none on hold by the caller", tooling + "hold", "ring 30000", ""},

		{"as many keys as wanted", collects, "press 1234", "collected 1234 (max_digits)"},
		{"the key that ends it", collects, "press 12#", "collected 12 (terminator)"},
		{"no key in time", collects + "wait 20", "wait 10020", "collected  (timeout)"},
		{"no further key in time", collects + "wait 20; press 1", "wait 4020", "collected 1 (timeout)"},
		{"the time counts from when the agent has spoken", collects + "output sounding; wait 9000; output resting; wait 20", "wait 9000", ""},
		{"the time of a hold does not count", collects + "wait 20; hold; quiet 8000; unhold", "wait 9000", ""},
		{"words instead", collects + "press 1", "words", "collected 1 (speech)"},
		{"no filler while the caller types", collects, "wait 5000", ""},
		{"what follows the last key is of the same number", collects + "press 1234; collected", "press #; results; typed hello",
			"follow up; cancel; turn 2; commit 2 hello (typed)"},

		{"keys alone are a turn", listening, "press 12; wait 1500", "turn 1; commit 1 [pressed 12] (typed)"},
		{"keys before words", listening + "press 12", "typed hello", "turn 1; note [pressed 12]; commit 1 hello (typed)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := plainConfig()
			cfg.Announce = 20 * media.Second
			d := newDrive(t, cfg)
			d.play(c.before)
			if got := d.play(c.when); got != c.then {
				t.Errorf("%s, then %s: %q, want %q", c.before, c.when, got, c.then)
			}
		})
	}
}
