package turn

import (
	"fmt"
	"strings"
	"testing"

	"parley/media"
)

// begun is a turn whose reply was begun in advance.
const begun = "ahead; " + listening + "speak 1000; quiet 100; final 1 what time; quiet 20; "

// TestSpeculate is the table of replies begun in advance.
func TestSpeculate(t *testing.T) {
	for _, c := range []struct {
		name, before, when, then string
	}{
		{"after 120 ms with the final text", "ahead; " + spoken + "final 1 what time", "quiet 20", "speculate 1 what time"},
		{"when the text comes", "ahead; " + spoken + "quiet 40", "final 1 what time", "speculate 1 what time"},
		{"not when replies may not be begun", spoken + "final 1 what time", "quiet 80", ""},
		{"with a text that stays", "ahead; " + listening + "speak 1000; partial 1 what time", "quiet 120", "close; speculate 1 what time"},
		{"not with one that changes", "ahead; " + spoken + "partial 1 what time", "quiet 60", ""},
		{"80 ms after it changed", "ahead; " + spoken + "partial 1 what time", "quiet 80", "speculate 1 what time"},
		{"not with nothing", "ahead; " + spoken + "final 1", "quiet 80", ""},
		{"not while a click may be a word", "ahead; " + spoken + "final 1 what time", "speak 40", ""},
		{"the same words are the answer", begun, "quiet 80", "commit 1 what time (ready)"},
		{"or the same meaning", "ahead; " + listening + "speak 1000; partial 1 um table for two; quiet 140", "final 1 Table for 2.; quiet 60", "commit 1 Table for 2. (ready)"},
		{"other words", "ahead; " + listening + "speak 1000; partial 1 what time; quiet 140", "final 1 what lime", "retract; speculate 1 what lime"},
		{"speech", begun, "speak 60", "retract; open"},
		{"typed", begun, "typed now", "turn 2; retract; commit 2 now (typed)"},
		{"the end", begun, "stop api_hangup", "retract; end api_hangup"},
		{"the end with a goodbye", begun, "stop max_duration goodbye", "retract; finish; say goodbye"},
		{"again in the same turn", begun + "speak 200; quiet 100; final 2 is it", "quiet 20", "speculate 1 what time is it"},
		{"not a third time", begun + "speak 200; quiet 100; final 2 is it; quiet 20; speak 200; quiet 100; final 3 now", "quiet 80", ""},
		{"but in the next turn", begun + "speak 200; quiet 100; final 2 is it; quiet 20; speak 200; quiet 200; final 3 now; audio; drained; speak 500; quiet 100; final 4 yes",
			"quiet 20", "speculate 2 yes"},
		{"when the caller goes on before they hear the answer", begun + "quiet 80; speak 200; quiet 100; final 2 is it", "quiet 20", "speculate 1 what time is it (again)"},
		{"not in a long turn", "ahead; " + listening + "speak 20020; quiet 100; final 1 what time", "quiet 80", ""},
		{"not while a function runs", "ahead; " + tooling + "speak 1000; quiet 100; final 2 hello", "quiet 80", ""},
		{"nor when its result waits", "ahead; " + tooling + "speak 1000; results; quiet 100; final 2 hello", "quiet 80", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDrive(t, plainConfig())
			d.play(c.before)
			from := d.s.Phase
			if got := d.play(c.when); got != c.then {
				t.Errorf("%s, then %q:\n got  %q\n want %q", from, c.when, got, c.then)
			}
		})
	}
}

// TestSpeculateEarly: where the recogniser says early that a turn has likely ended, the reply is begun then.
func TestSpeculateEarly(t *testing.T) {
	const early = "ahead; " + listening + "speak 1000; quiet 140; partial 1 what time; score 40; "
	for _, c := range []struct{ name, before, when, then string }{
		{"at once", "ahead; " + listening + "speak 1000; quiet 100; partial 1 what time", "score 40", "speculate 1 what time"},
		{"and not by the words", "ahead; " + listening + "speak 1000; partial 1 what time", "quiet 1000", ""},
		{"the end of the turn makes it the answer", early, "final 1 What time?; engine 80", "close; commit 1 What time? (ready)"},
		{"without comparing", early, "final 1 What's the time?; engine 80", "close; commit 1 What's the time? (ready)"},
		{"taken back", early, "retract; partial 1 what time do you open", "retract"},
		{"and begun again", early + "retract", "partial 1 what time do you open; score 50; engine 80", "speculate 1 what time do you open; close; commit 1 what time do you open (ready)"},
		{"an end without an early one", "ahead; " + listening + "speak 1000; quiet 100; partial 1 what time", "engine 80", "close; commit 1 what time"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := plainConfig()
			cfg.EngineTurns, cfg.EagerEnds = true, true
			d := newDrive(t, cfg)
			d.play(c.before)
			if got := d.play(c.when); got != c.then {
				t.Errorf("got  %q\nwant %q", got, c.then)
			}
		})
	}
}

// TestSpeculateLikely: an unfinished sentence gets no reply in advance.
func TestSpeculateLikely(t *testing.T) {
	for p, want := range map[float64]bool{0.1: false, 0.29: false, 0.3: true, 0.9: true} {
		cfg := DefaultConfig("en")
		cfg.Complete = func(string) float64 { return p }
		d := newDrive(t, cfg)
		if got := d.play(begun); strings.Contains(got, "speculate") != want {
			t.Errorf("p %v: %q", p, got)
		}
	}
}

// TestSpeculateGovernor: replies that are begun in vain are begun later, then not at all.
func TestSpeculateGovernor(t *testing.T) {
	for _, c := range []struct {
		kept int // of eight
		wait int // ms of silence until the next one; 0: there is none
	}{{8, 120}, {4, 120}, {3, 280}, {2, 0}, {0, 0}} {
		cfg := plainConfig()
		cfg.MinDelay, cfg.LearntMax = 800*media.Millisecond, 0
		d := newDrive(t, cfg)
		d.play("ahead; " + listening)
		for n := range 8 {
			d.play(fmt.Sprintf("speak 1000; quiet 100; final %d yes; quiet 200", d.s.Utterance()+1))
			if n >= c.kept { // another word
				d.play(fmt.Sprintf("speak 200; quiet 100; final %d please; ", d.s.Utterance()+1))
				d.s.Speculation.Tries = cfg.SpeculateMost // and no second attempt
			}
			d.play("quiet 800; audio; drained; quiet 200")
		}
		d.play(fmt.Sprintf("speak 1000; final %d yes", d.s.Utterance()+1))
		waited := 0
		for at := 20; at < 800 && waited == 0; at += 20 {
			if strings.Contains(d.play("quiet 20"), "speculate") {
				waited = at
			}
		}
		if waited != c.wait {
			t.Errorf("%d of eight became answers: begun after %d ms, want %d", c.kept, waited, c.wait)
		}
	}
}

// TestLearntPauses: a caller who pauses within turns is given more time, up to a bound,
// from the next turn on.
func TestLearntPauses(t *testing.T) {
	d := newDrive(t, plainConfig())
	d.play(listening)
	delay := func(pauses int) int {
		u := d.s.Utterance()
		d.play("speak 500; quiet 100")
		for range pauses {
			d.play("quiet 480; speak 500; quiet 100") // resumed: the text is late
		}
		d.play(fmt.Sprintf("final %d yes", u+1))
		wait := 100
		for ; d.s.Phase == Pause; wait += 20 {
			d.play("quiet 20")
		}
		d.play("audio; drained; quiet 1000")
		return wait
	}
	var got []int
	for range 2 {
		got = append(got, delay(0))
	}
	got = append(got, delay(1), delay(0), delay(3), delay(0))
	for range 10 {
		delay(3)
	}
	got = append(got, delay(0))
	// 200 + a tenth of 380; then three times a tenth of the rest; to the next frame.
	if want := fmt.Sprint([]int{200, 200, 200, 240, 240, 340, 580}); fmt.Sprint(got) != want {
		t.Errorf("the waits are %v, want %v", got, want)
	}
	long := plainConfig()
	long.LearntMax = 300 * media.Millisecond
	d = newDrive(t, long)
	d.play(listening)
	for range 10 {
		delay(3)
	}
	if got := delay(0); got != 300 {
		t.Errorf("bounded at 300 ms: %d", got)
	}
}

// TestDictation: who is asked for a number is given time for its pauses.
func TestDictation(t *testing.T) {
	d := newDrive(t, plainConfig())
	d.play(speaking + "dictation; quiet 100; drained; speak 500; quiet 100; final 2 my number")
	if got := d.play("quiet 680; quiet 20"); got != "commit 2 my number" || d.s.Silence(d.now) != 800*media.Millisecond {
		t.Errorf("got %q after %v", got, d.s.Silence(d.now).Duration())
	}
	d = newDrive(t, plainConfig())
	d.play(speaking + "question; quiet 100; drained; speak 500; quiet 100; final 2 my number")
	if got := d.play("quiet 100"); got != "commit 2 my number" {
		t.Errorf("got %q", got)
	}
}

// TestPolicies: who may interrupt when.
func TestPolicies(t *testing.T) {
	after := plainConfig()
	after.Barge = AfterFirst
	greeting := plainConfig()
	greeting.Greeting = Never
	keyless := plainConfig()
	keyless.Keys = false
	never := plainConfig()
	never.Barge = Never
	for _, c := range []struct {
		name         string
		config       Config
		before, when string
		then         string
	}{
		{"over the first sentence", after, speaking + "first", "speak 200; partial 2 no wait; quiet 200; final 2 no wait; digit", "turn 2; open; close"},
		{"which is heard then", after, speaking + "first; speak 200; partial 2 no wait; quiet 200; final 2 no wait", "rest; quiet 20", "cut; commit 2 no wait"},
		{"or at its end", after, speaking + "first; speak 200; partial 2 yeah; quiet 200; final 2 yeah", "rest; quiet 20; drained", "drop 2; listen"},
		{"speech beyond it", after, speaking + "first; speak 200", "rest; speak 20; partial 2 no", "duck true; cut"},
		{"later", after, speaking + "rest", "speak 200; partial 2 no", "turn 2; open; duck true; cut"},
		{"from the first audio", after, saying + "speak 60", "audio; first; speak 20", ""},
		{"over the greeting", greeting, "ready; audio", "speak 200; partial 1 no wait; quiet 200; final 1 no wait; digit", "turn 1; open; close"},
		{"and after it", greeting, "ready; audio; speak 100; quiet 200; final 1 no wait", "drained", "commit 1 no wait"},
		{"a salutation over it is no turn", greeting, "ready; audio; speak 100; quiet 200; final 1 hello", "drained", "drop 1; listen"},
		{"over the next reply", greeting, "ready; audio; speak 100; quiet 200; final 1 what now; drained; audio; quiet 20", "speak 200; partial 2 no", "turn 2; open; duck true; cut"},
		{"a key", plainConfig(), speaking, "digit", "cut; listen"},
		{"a key while the caller speaks", plainConfig(), yielding, "digit", "cut"},
		{"a key that counts for nothing", keyless, speaking, "digit", ""},
		{"a key that may not", never, speaking + "quiet 20", "digit", ""},
		{"a key before the reply", plainConfig(), thinking, "digit", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDrive(t, c.config)
			d.play(c.before)
			from := d.s.Phase
			if got := d.play(c.when); got != c.then {
				t.Errorf("%s, then %q:\n got  %q\n want %q", from, c.when, got, c.then)
			}
		})
	}
}
