package turn

import "testing"

// TestScreening: who answered decides what they get.
func TestScreening(t *testing.T) {
	const answer = "ready; speak 500; quiet 100; partial 1 hello; final 1 hello it is me; "
	for _, c := range []struct {
		name         string
		on           OnMachine
		before, when string
		then         string
		phase        Phase
	}{
		{"the agent keeps silent", HangUpOn, "ready", "undecided; speak 500; typed hello; digit; quiet 5000", "open; close", Screening},
		{"a person hears the first message", HangUpOn, answer, "undecided; person greeting", "note hello it is me; say greeting", Thinking},
		{"which answers what they said", HangUpOn, answer + "person greeting; audio", "drained; quiet 1000", "listen", Listening},
		{"without one the model answers", HangUpOn, answer + "person", "drained; quiet 200", "commit 0 hello it is me", Thinking},
		{"who speaks is waited for", LeaveAMessage, answer, "person busy", "", Screening},
		{"a machine is hung up on", HangUpOn, answer, "machine busy", "note hello it is me; end voicemail", Over},
		{"its tone is waited for", LeaveAMessage, answer, "machine busy", "", Screening},
		{"then it gets the message", LeaveAMessage, answer, "machine busy; machine", "note hello it is me; leave message; say greeting", Thinking},
		{"which nothing interrupts", LeaveAMessage, answer + "machine; audio", "speak 1000; partial 2 no wait stop; digit", "turn 1; open", Speaking},
		{"and the call ends after it", LeaveAMessage, answer + "machine; audio", "drained; quiet 200", "end agent_hangup: end_call", Over},
		{"a machine is no caller", LeaveAMessage, answer + "machine; speak 500; quiet 100; final 2 press one; fail", "quiet 200", "end voicemail", Over},
		{"nothing was heard of it", LeaveAMessage, "ready", "machine", "leave message; say greeting", Thinking},
		{"a conversation goes on meanwhile", Converse, "ready; drained; " + "speak 500; quiet 100; final 1 hi", "quiet 100; machine", "commit 1 hi", Thinking},
		{"the call ends before it is known", HangUpOn, answer + "stop max_duration goodbye", "undecided", "note hello it is me", Closing},
		{"nobody asks", NotScreened, "", "ready", "say greeting", Thinking},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := plainConfig()
			cfg.OnMachine = c.on
			d := newDrive(t, cfg)
			d.play(c.before)
			if got := d.play(c.when); got != c.then || d.s.Phase != c.phase {
				t.Errorf("got  %s, %q\nwant %s, %q", d.s.Phase, got, c.phase, c.then)
			}
		})
	}
}

// TestAnswer: what was heard while the agent kept silent is not lost with the call.
func TestAnswer(t *testing.T) {
	cfg := plainConfig()
	cfg.OnMachine = HangUpOn
	d := newDrive(t, cfg)
	d.play("ready; speak 500; quiet 100; final 1 hello; speak 500; partial 2 who is")
	if got := d.s.Answer(); got != "hello who is" || d.s.Heard() != "" || !d.s.Screens() || d.s.WithMachine() {
		t.Errorf("%q, shown %q", got, d.s.Heard())
	}
	if d.play("machine"); d.s.Answer() != "" || d.s.Screens() || !d.s.WithMachine() {
		t.Errorf("%q is left", d.s.Answer())
	}
}
