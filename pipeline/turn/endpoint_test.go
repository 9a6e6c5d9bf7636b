package turn

import "testing"

// TestEndless: a turn ends though the detector goes on hearing speech.
func TestEndless(t *testing.T) {
	const words = listening + "speak 1000; partial 1 what time; speak 200; "
	for _, c := range []struct {
		name, before, when, then string
		phase                    Phase
	}{
		{"behind the caller somebody goes on", words + "mutter 1980", "mutter 20; mutter 120; final 1 what time; mutter 500", "close; commit 1 what time", Thinking},
		{"but their text changes", words + "mutter 1900; partial 1 what time do", "mutter 1980", "", UserSpeaking},
		{"and the caller goes on, too", words + "mutter 1700", "speak 600", "", UserSpeaking},
		{"and goes on after all", words + "mutter 1900", "speak 600", "close; resume", UserSpeaking},
		{"as loud as the caller", words, "speak 5000; final 1 what time; speak 1000; final 1", "close; commit 1 what time", Thinking},
		{"without any text", listening, "speak 29980", "turn 1; open", UserSpeaking},
		{"for half a minute", listening + "speak 29980", "speak 20", "close", Pause},
		{"and the reply is not interrupted by it", words + "mutter 2200; final 1 what time; mutter 300", "audio; mutter 5000; drained", "listen", Listening},
		{"the caller's own voice is", words + "mutter 2200; final 1 what time; mutter 300; audio", "mutter 1000; speak 260; speak 60; speak 600", "turn 2; open; duck true; cut", UserSpeaking},
		{"after a pause all is as before", words + "mutter 2200; final 1 what time; mutter 300; audio; quiet 100", "mutter 60", "turn 2; open; duck true", Yielding},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDrive(t, plainConfig())
			d.play(c.before)
			if got := d.play(c.when); got != c.then || d.s.Phase != c.phase {
				t.Errorf("got  %s, %q\nwant %s, %q", d.s.Phase, got, c.phase, c.then)
			}
		})
	}
}
