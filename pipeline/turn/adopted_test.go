package turn

import (
	"testing"

	"parley/media"
)

// TestAdopted: after the process of a call died, the agent says that it is there again, and answers what is owed.
func TestAdopted(t *testing.T) {
	const (
		rests = listening + "speak 1000; quiet 100; final 1 what time; quiet 100; audio; drained; quiet 200; "
		says  = rests + "adopt; audio; "
		owes  = rests + "adopt owing; audio; "
		over  = "speak 600; quiet 100; " // 600 ms interrupt

		asked  = listening + "quiet 10000; audio; drained; quiet 10000; audio; drained; " // twice whether the caller is there
		waited = listening + "speak 1000; quiet 100; final 1 what time; quiet 100; tools; wait 7000; results; audio; drained; quiet 200; "
	)
	for _, c := range []struct {
		name, before, when, then string
		phase                    Phase
	}{
		{"nothing is owed", rests, "adopt", "say reconnected", Thinking},
		{"and the agent listens", says, "drained", "listen", Listening},
		{"an answer is owed", rests, "adopt owing", "say reconnected", Thinking},
		{"and is given after the line", owes, "drained", "follow up", Thinking},
		{"once", owes + "drained; audio", "drained", "listen", Listening},
		{"also when the line fails", rests + "adopt owing", "fail", "follow up", Thinking},
		{"or takes too long", rests + "adopt owing", "quiet 15000", "give up; follow up", Thinking},
		{"not over the end of the call", owes + "stop balance_exhausted goodbye", "drained; quiet 2000", "end balance_exhausted", Over},

		{"the caller speaks over the line", owes + over, "final 2 hello there; quiet 200", "commit 3 hello there", Thinking},
		{"and is answered once", owes + over + "final 2 hello there; quiet 200; audio", "drained", "listen", Listening},
		{"the caller types over it", owes, "typed hello", "cut; turn 3; commit 3 hello (typed)", Thinking},
		{"and is answered once, too", owes + "typed hello; audio", "drained", "listen", Listening},
		{"noise over the line costs no answer", owes + over, "final 2; quiet 200", "drop 3; follow up", Thinking},
		{"nor does a backchannel", owes + "speak 100; quiet 100", "final 2 yes; drained", "duck false; drop 3; follow up", Thinking},
		{"nor the button", owes, "interrupt", "cut; follow up", Thinking},
		{"a supervisor answers in the agent's place", owes + "in; out", "quiet 5000", "", Listening},

		{"silence counts anew", says + "drained", "quiet 9980", "", Listening},
		{"from the line on", says + "drained; quiet 9980", "quiet 20", "say reprompt", Thinking},
		{"and so do questions into it", asked + "adopt; audio; drained", "quiet 10000", "say reprompt", Thinking},
		{"which it would have given up", asked, "quiet 10000", "finish; say goodbye", Closing},
		{"fillers of the turn before do not count", waited + "adopt owing; audio; drained; tools", "wait 920", "filler 0", ToolWait},
		{"no filler is late", owes + "drained; tools", "wait 900", "", ToolWait},
		{"and they count anew", owes + "drained; tools; wait 900", "wait 20", "filler 0", ToolWait},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDrive(t, plainConfig())
			d.play(c.before)
			if got := d.play(c.when); got != c.then || d.s.Phase != c.phase {
				t.Errorf("%s; %s, want %s; %s", got, d.s.Phase, c.then, c.phase)
			}
		})
	}
}

// TestAdoptedKeepsWhatIsLearnt: how the caller pauses, and what speculative replies are worth, is known of them still.
func TestAdoptedKeepsWhatIsLearnt(t *testing.T) {
	d := newDrive(t, plainConfig())
	d.play(listening)
	d.s.Pauses = pauses{700 * media.Millisecond, 700 * media.Millisecond}
	d.s.Speculation.Stage, d.s.Greeting = speculationOff, greetingInterrupted
	d.play("adopt; audio; drained")
	if p := d.s.Pauses; p.Learnt != 700*media.Millisecond || d.s.Speculation.Stage != speculationOff {
		t.Errorf("pauses are %v, speculative replies %d", p, d.s.Speculation.Stage)
	}
	if got := d.play("speak 300; quiet 100; final 1 hello; quiet 600"); got != "turn 2; open; close; commit 2 hello" {
		t.Errorf("%s: a first message that another process began is not gone on with", got)
	}
}
