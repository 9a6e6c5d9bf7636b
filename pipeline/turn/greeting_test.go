package turn

import "testing"

// TestSalutation: a short hello over the beginning of the first message never takes the
// floor from it; who goes on talking has it.
func TestSalutation(t *testing.T) {
	const (
		first  = "ready; audio; "
		hello  = "speak 700; quiet 100; final 1 hello hello; "
		cutOff = first + "speak 1200; quiet 100; "
	)
	for _, c := range []struct {
		name, before, when, then string
		phase                    Phase
	}{
		{"hello", first, hello, "turn 1; open; duck true; close; duck false; drop 1", Speaking},
		{"hello for a second", first, "speak 1000; quiet 400; final 1 hello", "turn 1; open; duck true; close; duck false; drop 1", Speaking},
		{"hello that is heard as two other words", first, "speak 700; quiet 100; partial 1 yellow low; quiet 700", "turn 1; open; duck true; close; duck false", Speaking},
		{"and they are answered after it", first + "speak 700; quiet 100; final 1 yellow low; quiet 800", "drained; quiet 100", "commit 1 yellow low", Thinking},
		{"one other word is not", first + "speak 700; quiet 100; final 1 hello maria; quiet 800", "drained; quiet 100", "listen", Listening},
		{"hello since before the audio", "ready; speak 300", "audio; speak 500; quiet 100; final 1 hello hello", "duck true; close; duck false; drop 1", Speaking},
		{"hello since before the conversation", "speak 300; ready", "audio; speak 500; quiet 400; final 1 hello hello", "duck true; close; duck false; drop 0", Speaking},
		{"hello whose text is late", first + "speak 700; quiet 700", "final 1 hello hello", "drop 1", Speaking},
		{"hello whose text comes after the message", first + "speak 700; quiet 500; drained", "final 1 hello hello", "drop 1; listen", Listening},
		{"hello that nobody understands", first + "speak 800; quiet 700", "drained", "drop 1; listen", Listening},
		{"hello twice", first + "speak 500; quiet 200; final 1 hello; speak 500; quiet 100", "final 2 hello there", "duck false; drop 2", Speaking},
		{"a stop word", first + "speak 240", "partial 1 no", "cut", UserSpeaking},
		{"they go on in words", first + "speak 1000; partial 1 hello this is maria", "speak 200; partial 1 hello this is maria smith", "cut", UserSpeaking},
		{"they go on", first, "speak 1200", "turn 1; open; duck true; cut", UserSpeaking},
		{"they go on saying hello", first + "speak 1000; partial 1 hello hello hello", "speak 300", "", Yielding},
		{"they are answered", cutOff + "final 1 hello this is maria smith", "quiet 100", "commit 1 hello this is maria smith", Thinking},
		{"it was only hello: the message goes on", cutOff + "final 1 hello hello", "quiet 100", "commit 1 hello hello (greeting)", Thinking},
		{"it goes on once", cutOff + "final 1 hello hello; quiet 100; audio; quiet 3000; speak 600; quiet 100; final 2 hello", "quiet 100", "commit 2 hello", Thinking},
		{"after a button it is for the model to go on", first + "interrupt; speak 500; quiet 100; final 1 what time", "quiet 100", "commit 1 what time", Thinking},
		{"words later on", first + "quiet 2100; speak 240", "partial 1 friday then", "cut", UserSpeaking},
		{"600 ms later on", first + "quiet 2100", "speak 600", "turn 1; open; duck true; cut", UserSpeaking},
		{"an answer to a short message", first + "tail 500; speak 200; quiet 100; final 1 yes", "drained; quiet 100", "duck false; commit 1 yes", Thinking},
		{"hello over a reply", speaking, "speak 600", "turn 2; open; duck true; cut", UserSpeaking},
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
