package turn

import (
	"testing"

	"parley/media"
)

// TestScores: what an engine says of a pause counts in it, instead of the words.
func TestScores(t *testing.T) {
	const words = listening + "speak 1000; quiet 100; final 1 what time; "
	for _, c := range []struct {
		name     string
		complete float64 // of the words
		engine   bool    // turns are the engine's
		before   string
		when     string
		then     string
		phase    Phase
	}{
		{"a complete turn that sounds unfinished goes on", 0.9, false, words + "score 10", "quiet 2200", "", Pause},
		{"an unfinished one that sounds complete ends", 0.1, false, words + "score 90", "quiet 100", "commit 1 what time", Thinking},
		{"at once, when the wait was long already", 0.1, false, words + "quiet 400", "score 90", "commit 1 what time", Thinking},
		{"a late answer to an earlier pause says nothing", 0.1, false, words + "stale", "quiet 400", "", Pause},
		{"nor does one while the caller speaks", 0.1, false, listening + "speak 1000; score 90; final 1 what time; quiet 100", "quiet 400", "", Pause},
		{"the next pause is judged by itself", 0.1, false, words + "score 60; speak 500; final 2 do you; quiet 100", "quiet 1000", "", Pause},
		{"a reply is begun on a score", 0.1, false, words + "ahead; quiet 40", "score 40", "speculate 1 what time", Pause},
		{"and dropped when it is taken back", 0.1, false, words + "ahead; quiet 40; score 40", "retract; quiet 400", "retract", Pause},
		{"the end of the engine's turn is a score", 0.1, false, words + "engine 80", "quiet 100", "commit 1 what time", Thinking},

		{"an engine's turn is not finished by a pause", 0.9, true, listening + "speak 1000; partial 1 what time; quiet 100", "quiet 1000", "", Pause},
		{"but when it says so, at once", 0.1, true, listening + "speak 1000; partial 1 what time; quiet 100", "engine 80", "close; commit 1 what time", Thinking},
		{"or after a long silence", 0.9, true, words + "quiet 2280", "quiet 20", "close; commit 1 what time", Thinking},
		{"or when only the detector hears more", 0.1, true, listening + "speak 1000; partial 1 what time; mutter 1000", "engine 80", "close; commit 1 what time", Thinking},
		{"without words it waits for them", 0.1, true, listening + "speak 1000; quiet 100; engine 80", "quiet 100; final 1 what time", "commit 1 what time", Thinking},
		{"a caller who goes on is not finished", 0.1, true, listening + "speak 1000; partial 1 what time; quiet 500", "speak 500", "", UserSpeaking},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := plainConfig()
			cfg.Complete, cfg.EngineTurns = func(string) float64 { return c.complete }, c.engine
			d := newDrive(t, cfg)
			d.play(c.before)
			if got := d.play(c.when); got != c.then || d.s.Phase != c.phase {
				t.Errorf("got  %s, %q\nwant %s, %q", d.s.Phase, got, c.phase, c.then)
			}
		})
	}
}

// TestAskScore: a scorer is asked when a pause begins and when its words change, for as long as its answer can count.
func TestAskScore(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Config)
		before string
		when   string
		then   string
	}{
		{"when the caller pauses", nil, listening + "speak 1000", "quiet 100", "ask 500 ; close"},
		{"and once", nil, listening + "speak 1000; quiet 100", "quiet 300", ""},
		{"when words come", nil, listening + "speak 1000; quiet 100", "partial 1 what; partial 1 What!; final 1 what time", "ask 500 what; ask 100 what time"},
		{"until the turn ends by its words", func(c *Config) { c.Complete = func(string) float64 { return 0.1 } },
			listening + "speak 1000; quiet 100", "final 1 what", "ask 2300 what"},
		{"as its score says", nil, listening + "speak 1000; quiet 100; score 10", "final 1 what", "ask 2300 what"},
		{"not while the caller speaks", nil, listening + "speak 1000", "partial 1 what", ""},
		{"in each pause", nil, listening + "speak 1000; quiet 100; final 1 what; speak 500", "quiet 100", "ask 500 what; close"},
		{"not when the turn is to end at once", nil, listening + "speak 1000; quiet 400", "final 1 what", "commit 1 what"},
		{"not of a recogniser's own turns", func(c *Config) { c.EngineTurns = true }, listening + "speak 1000", "quiet 100", ""},
		{"and without one nobody is", func(c *Config) { c.Scorer = false }, listening + "speak 1000", "quiet 100", "close"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := plainConfig()
			cfg.Scorer = true
			if c.change != nil {
				c.change(&cfg)
			}
			d := newDrive(t, cfg)
			d.play(c.before)
			if got := d.play(c.when); got != c.then {
				t.Errorf("got  %q\nwant %q", got, c.then)
			}
		})
	}
}

// TestTones: the tone of the speech before a pause counts where the words leave it open.
func TestTones(t *testing.T) {
	for _, c := range []struct {
		name     string
		complete float64
		when     string
		wait     int64 // ms
	}{
		{"not known", 0.75, "quiet 20", 500},
		{"a fall ends the turn sooner", 0.75, "fall", 200},
		{"one pitch later", 0.75, "level", 1520},
		{"which changes nothing of words that seldom have more after them", 0.9, "level", 200},
		{"nor a fall of those that do", 0.4, "fall", 1520},
		{"a score counts, whatever the tone", 0.75, "level; score 90", 200},
		{"it is that of the latest pause", 0.75, "fall; speak 500; quiet 80; quiet 20", 500},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := plainConfig()
			cfg.LikelyDelay, cfg.Complete = 300*media.Millisecond, func(string) float64 { return c.complete }
			d := newDrive(t, cfg)
			d.play(listening + "speak 1000; quiet 80; " + c.when)
			d.play("final 1 what time")
			for d.s.Phase == Pause {
				d.play("quiet 20")
			}
			if got := d.s.Silence(d.now).Milliseconds(); got != c.wait {
				t.Errorf("the turn ended after %d ms, want %d", got, c.wait)
			}
		})
	}
}
