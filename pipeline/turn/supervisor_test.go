package turn

import "testing"

// TestSupervisor: a supervisor who steps in stops the agent, which answers nothing until they have stepped out.
func TestSupervisor(t *testing.T) {
	const in = listening + "in; "
	for _, c := range []struct {
		name, before, when, then string
		phase                    Phase
	}{
		{"while the agent is silent", listening, "in", "listen", Listening},
		{"while it speaks", speaking, "in", "cut; listen", Listening},
		{"while it is interrupted", yielding, "in", "cut", UserSpeaking},
		{"while it thinks", thinking, "in", "cancel; listen", Listening},
		{"while a function runs", tooling, "in", "cancel; listen", Listening},
		{"while the caller speaks", listening + "speak 1000", "in", "", UserSpeaking},
		{"while the caller speaks and a function runs", tooling + "speak 1000", "in", "cancel", UserSpeaking},
		{"before the conversation", "", "in", "", Connecting},
		{"while the call is closed", closing, "in", "", Closing},

		{"a turn is kept", in + "speak 1000; quiet 100; final 1 what time", "quiet 100", "keep 1 what time; listen", Listening},
		{"the turn that had begun is", spoken + "final 1 what time; in", "quiet 100", "keep 1 what time; listen", Listening},
		{"more of a turn that was not answered is", thinking + "speak 1000; in; quiet 100; final 2 is it", "quiet 100", "keep 1 what time is it (again); listen", Listening},
		{"a typed turn is", in, "typed what time", "turn 1; keep 1 what time; listen", Listening},
		{"keys are", in + "press 12", "wait 1500", "turn 1; keep 1 [pressed 12]; listen", Listening},
		{"nothing is begun ahead of it", "ahead; " + spoken + "quiet 40; in", "final 1 what time", "", Pause},
		{"noise is not", in + "speak 1000; quiet 100; final 1", "quiet 100", "drop 1; listen", Listening},
		{"a reply is not heard any more", thinking + "in", "audio; drained; tools; results; hangup", "", Listening},
		{"silence is not broken", in, "quiet 60000", "", Listening},
		{"the call ends without a goodbye", in, "stop balance_exhausted goodbye", "end balance_exhausted", Over},

		{"afterwards a turn is answered", in + "out; speak 1000; quiet 100; final 1 what time", "quiet 100", "commit 1 what time", Thinking},
		{"one that began before, too", in + "speak 1000; out; quiet 100; final 1 what time", "quiet 100", "commit 1 what time", Thinking},
		{"what was kept is not", in + "speak 1000; quiet 100; final 1 what time; quiet 100; out; speak 1000; quiet 100; final 2 yes", "quiet 100", "commit 2 yes", Thinking},
		{"the agent asks into the silence again", in + "out", "quiet 10000", "say reprompt", Thinking},
		{"whom the caller is transferred to, while the transfer goes on", tooling, "meet", "cancel", ToolWait},
		{"nothing is said into that", tooling + "meet", "ring 30000", "", ToolWait},
		{"a turn is kept in it", tooling + "meet; speak 1000; quiet 100; final 2 is that you", "quiet 100", "keep 2 is that you", ToolWait},
		{"the agent answers its result when it fails", tooling + "meet; out", "results", "follow up", Thinking},
		{"after the caller's turn", tooling + "meet; speak 1000; out; results; quiet 100; final 2 is that you", "quiet 100", "commit 2 is that you", Thinking},
		{"who has not stepped in does not step out", listening + "out", "quiet 9980", "", Listening},
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
