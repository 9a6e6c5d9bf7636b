package turn

import (
	"strings"
	"testing"

	"parley/media"
)

// Ways to the phases, all without a greeting.
const (
	listening = "ready; drained; "
	spoken    = listening + "speak 1000; quiet 100; "            // ready for the endpoint
	thinking  = spoken + "final 1 what time; quiet 100; "        // turn 1 is committed
	speaking  = thinking + "audio; "                             // and answered
	tooling   = thinking + "tools; "                             // or waits for a function
	yielding  = speaking + "speak 60; "                          // turn 2 begins over it
	word      = speaking + "speak 240; "                         // long enough for some
	closing   = speaking + "stop balance_exhausted goodbye; "    //
	saying    = listening + "quiet 10000; "                      // a line that is not heard yet
	owed      = listening + "speak 1000; quiet 100; quiet 100; " // the text is late
)

// TestStep is the table of what happens in which phase. A case plays before, then
// when, and compares the actions of when.
func TestStep(t *testing.T) {
	for _, c := range []struct {
		name, before, when, then string
		phase                    Phase
	}{
		{"media ready", "", "ready", "say greeting", Thinking},
		{"the greeting is heard", "ready", "audio", "", Speaking},
		{"the greeting ends", "ready; audio", "drained", "listen", Listening},
		{"no greeting: the caller first", "ready", "drained", "listen", Listening},
		{"ready only counts once", listening, "ready", "", Listening},

		{"a click is no speech", listening, "speak 40; quiet 100", "", Listening},
		{"speech after 60 ms", listening, "speak 60", "turn 1; open", UserSpeaking},
		{"a short gap is no pause", listening + "speak 200", "quiet 80; speak 100", "", UserSpeaking},
		{"a pause after 100 ms", listening + "speak 200", "quiet 100", "close", Pause},
		{"the caller goes on before the text", owed, "speak 60", "resume", UserSpeaking},
		{"the caller goes on after the text", listening + "speak 1000; quiet 100; final 1 what", "speak 60", "open", UserSpeaking},

		{"the endpoint with a final text", spoken + "final 1 what time", "quiet 100", "commit 1 what time", Thinking},
		{"not before the delay is over", spoken + "final 1 what time", "quiet 80", "", Pause},
		{"the text after the delay", owed, "final 1 what time", "commit 1 what time", Thinking},
		{"a partial is trusted in the end", spoken + "partial 1 what time", "quiet 480; quiet 20", "commit 1 what time", Thinking},
		{"a partial is not trusted at once", spoken + "partial 1 what time", "quiet 480", "", Pause},
		{"a click holds the endpoint up", spoken + "final 1 what time", "quiet 80; speak 40; quiet 20", "commit 1 what time", Thinking},
		{"short noise is dropped", listening + "speak 300; quiet 100; final 1", "quiet 100", "drop 1; listen", Listening},
		{"short noise waits for its text", listening + "speak 300; quiet 100", "quiet 480", "", Pause},
		{"short noise without any result", listening + "speak 300; quiet 100", "quiet 500", "drop 1; listen", Listening},
		{"long speech without text", spoken + "final 1", "quiet 100", "drop 1; say sorry", Thinking},
		{"sorry is said once", spoken + "final 1; quiet 100; audio; drained; speak 1000; quiet 100; final 2", "quiet 100", "drop 2; listen", Listening},
		{"sorry is said again after a turn", spoken + "final 1; quiet 100; audio; drained; speak 1000; quiet 100; final 2 yes; quiet 100; audio; drained; " +
			"speak 1000; quiet 100; final 3", "quiet 100", "drop 3; say sorry", Thinking},

		{"more speech before the reply", thinking, "speak 60", "cancel; open", UserSpeaking},
		{"more text before the reply", thinking, "final 1 is it", "cancel; commit 1 what time is it (again)", Thinking},
		{"the same text again", listening + "speak 1000; quiet 100; partial 1 what time; quiet 500", "final 1 What time?", "", Thinking},
		{"another text than was guessed", listening + "speak 1000; quiet 100; partial 1 what time; quiet 500", "final 1 what lime",
			"cancel; commit 1 what lime (again)", Thinking},
		{"a partial does not cancel", thinking, "partial 1 is it", "", Thinking},
		{"a cough before the reply", thinking + "speak 60", "quiet 100; final 2; quiet 100", "close; commit 1 what time (again)", Thinking},
		{"the first audio", thinking, "audio", "", Speaking},
		{"nothing comes of a reply", thinking, "quiet 15000", "give up; say trouble", Thinking},
		{"nothing comes of the apology", thinking + "quiet 15000", "quiet 15000", "give up; listen", Listening},
		{"a reply fails", thinking, "fail", "say trouble", Thinking},
		{"an apology fails", thinking + "fail", "fail", "listen", Listening},
		{"a reply fails while it is heard", speaking, "fail", "", Speaking},
		{"an empty reply", thinking, "drained", "listen", Listening},
		{"a button before the reply", thinking, "interrupt", "cancel; listen", Listening},
		{"a button while the caller speaks over a line", saying + "speak 60", "interrupt", "cancel", UserSpeaking},
		{"typed before the reply", thinking, "typed now", "cancel; commit 1 what time now (again) (typed)", Thinking},

		{"typed while the caller speaks", listening + "speak 200; partial 1 what", "typed now", "turn 2; commit 2 now (typed)", Thinking},
		{"and they go on", listening + "speak 200; typed now", "drained; speak 200", "turn 3", UserSpeaking},
		{"and again before the reply", thinking + "speak 60", "typed now", "commit 1 what time now (again) (typed)", Thinking},
		{"text of nobody", listening, "final 7 hello", "", Listening},

		{"speech over the agent", speaking, "speak 60", "turn 2; open; duck true", Yielding},
		{"the reply ends", speaking, "drained", "listen", Listening},
		{"a button stops it", speaking, "interrupt", "cut; listen", Listening},
		{"typed over it", speaking, "typed now", "cut; turn 2; commit 2 now (typed)", Thinking},

		{"a stop word", word, "partial 2 no", "cut", UserSpeaking},
		{"one word", yielding, "partial 2 friday", "", Yielding},
		{"two words", word, "partial 2 friday then", "cut", UserSpeaking},
		{"a stop word in no time", yielding, "partial 2 no", "", Yielding},
		{"a stop word of somebody else's", speaking + "mutter 400; speak 60; mutter 100", "partial 2 no", "", Yielding},
		{"a stop word among them", speaking + "mutter 400; speak 200; mutter 100", "partial 2 no", "cut", UserSpeaking},
		{"a stop word in too little of their voice", speaking + "mutter 180; speak 100; mutter 40; speak 80", "partial 2 no", "", Yielding},
		{"a stop word of which only the vowel is loud", speaking + "mutter 80; speak 120; mutter 60", "partial 2 stop", "cut", UserSpeaking},
		{"a stop word of two loud syllables of others", speaking + "mutter 80; speak 100; mutter 60; speak 60", "partial 2 stop", "", Yielding},
		{"two words in too little of it", speaking + "mutter 200; speak 220", "partial 2 friday then", "", Yielding},
		{"two words in enough", speaking + "mutter 200; speak 240", "partial 2 friday then", "cut", UserSpeaking},
		{"600 ms with weak sounds in them", speaking + "speak 60", "speak 200; mutter 80; speak 160; mutter 60; speak 40", "cut", UserSpeaking},
		{"600 ms of which a third is somebody else's", speaking + "speak 60", "speak 120; mutter 220; speak 240", "", Yielding},
		{"backchannel while it lasts", yielding, "partial 2 uh-huh", "", Yielding},
		{"backchannel", yielding + "quiet 100", "final 2 uh-huh", "duck false; drop 2", Speaking},
		{"600 ms of speech", yielding, "speak 540", "cut", UserSpeaking},
		{"600 ms of backchannel", yielding + "partial 2 yeah", "speak 540", "", Yielding},
		{"600 ms in two runs", yielding, "speak 200; quiet 140; speak 240", "close; open", Yielding},
		{"somebody far off", speaking, "mutter 760", "turn 2; open; duck true; duck false", Speaking},
		{"words from far off", speaking + "mutter 200", "partial 2 no wait", "", Yielding},
		{"words that are a guess", yielding, "guess 2 no wait", "", Yielding},
		{"a word right at the beginning", word + "quiet 100; final 2 goodbye", "quiet 600; drained", "duck false; commit 2 goodbye", Thinking},
		{"a word later on", speaking + "quiet 600; speak 240; quiet 100; final 2 goodbye", "quiet 600; drained", "duck false; drop 2; listen", Listening},
		{"a yes at the beginning", word + "quiet 100; final 2 yes", "drained", "listen", Listening},
		{"noise", yielding, "quiet 400", "close; duck false", Speaking},
		{"no text for the noise", yielding + "quiet 400", "final 2", "drop 2", Speaking},
		{"noise that was nothing", yielding + "quiet 100; final 2", "quiet 400", "", Speaking},
		{"words after the verdict", word + "quiet 400", "final 2 no wait", "cut; commit 2 no wait", Thinking},
		{"no verdict in time", yielding + "partial 2 friday", "quiet 200; quiet 500", "close; duck false", Speaking},
		{"the reply ends under it", yielding, "drained", "duck false", UserSpeaking},
		{"the reply ends, the text is late", yielding + "quiet 200", "drained; final 2 friday", "duck false; commit 2 friday", Thinking},
		{"an answer to the last words", speaking + "tail 500; speak 60; quiet 100", "final 2 yes", "", Yielding},
		{"and it is a turn", speaking + "tail 500; speak 60; quiet 100; final 2 yes", "drained; quiet 100", "duck false; commit 2 yes", Thinking},
		{"an answer does not cut by its length", speaking + "tail 500; speak 60", "speak 540", "", Yielding},
		{"an answer of two words does", speaking + "tail 500; speak 240", "partial 2 on friday", "cut", UserSpeaking},
		{"words from far off are no answer", speaking + "tail 500; mutter 240", "partial 2 on friday", "", Yielding},
		{"nor is a guess", speaking + "tail 2000; question; speak 240", "guess 2 no wait", "", Yielding},
		{"an answer to a question", speaking + "tail 2000; question; speak 60; quiet 100", "final 2 yes", "", Yielding},
		{"too early for an answer", speaking + "question; speak 60; quiet 100", "final 2 yes", "duck false; drop 2", Speaking},
		{"speech since before the audio", saying + "speak 60", "audio", "duck true", Yielding},
		{"and it cuts by its length", saying + "speak 60; audio", "speak 540", "cut", UserSpeaking},

		{"a function is called", thinking, "tools", "", ToolWait},
		{"and has its result", tooling, "results", "follow up", Thinking},
		{"speech while it runs", tooling, "speak 60", "turn 2; open", UserSpeaking},
		{"its result while the caller speaks", tooling + "speak 1000", "results", "", UserSpeaking},
		{"the next turn answers with it", tooling + "speak 1000; results; quiet 100; final 2 hello", "quiet 100", "commit 2 hello", Thinking},
		{"and not twice", tooling + "speak 1000; results; quiet 200; final 2 hello; audio", "drained", "listen", Listening},
		{"noise while it runs", tooling + "speak 100; quiet 100", "final 2; quiet 100", "drop 2", ToolWait},
		{"its result after the noise", tooling + "speak 100; results; quiet 100", "final 2; quiet 100", "drop 2; follow up", Thinking},
		{"its reply was heard", speaking + "tools", "drained", "", ToolWait},
		{"nobody is asked whether they are there", speaking + "tools; drained", "quiet 30000", "", ToolWait},
		{"its result after a newer answer", tooling + "speak 1000; quiet 200; final 2 hello; audio; drained", "results", "follow up", Thinking},
		{"its result during a newer answer", tooling + "speak 1000; quiet 200; final 2 hello; audio; results", "drained", "follow up", Thinking},
		{"results while others are due", tooling + "speak 1000; quiet 200; final 2 hello; audio; results; tools", "drained", "", ToolWait},
		{"a cut forgets them", speaking + "tools; speak 600", "quiet 200; final 2; quiet 1000", "close; drop 2; listen", Listening},
		{"audio after a call", tooling, "audio", "", Speaking},
		{"a failure after a call", tooling, "fail", "say trouble", Thinking},

		{"the model hangs up", speaking + "hangup", "drained; quiet 180", "", Closing},
		{"200 ms after its words", speaking + "hangup; drained; quiet 180", "quiet 20", "end agent_hangup: end_call", Over},
		{"without a word", thinking + "hangup; drained", "quiet 200", "end agent_hangup: end_call", Over},
		{"not when it was interrupted", speaking + "hangup; speak 600", "quiet 200; final 2 wait; audio; drained", "close; commit 2 wait; listen", Listening},
		{"a cough over the last words", speaking + "hangup; speak 60", "drained; quiet 200; final 2; quiet 200",
			"duck false; close; drop 2; end agent_hangup: end_call", Over},
		{"a reply that fails to say goodbye", thinking + "hangup", "fail; quiet 200", "end agent_hangup: end_call", Over},

		{"nobody says anything", listening, "quiet 10000", "say reprompt", Thinking},
		{"and again", listening + "quiet 10000; audio; drained", "quiet 10000", "say reprompt", Thinking},
		{"and again: goodbye", listening + "quiet 10000; audio; drained; quiet 10000; audio; drained", "quiet 10000", "finish; say goodbye", Closing},
		{"noise does not put it off", listening + "quiet 9000; speak 100; quiet 100; final 1; quiet 100", "quiet 700", "say reprompt", Thinking},
		{"a key puts it off", listening + "quiet 9000; digit", "quiet 9980", "", Listening},
		{"words put it off", listening + "quiet 10000; audio; drained; quiet 9000; speak 200; quiet 100; final 1 yes; quiet 100; audio; drained", "quiet 9980", "", Listening},

		{"told to stop", speaking, "stop api_hangup", "end api_hangup", Over},
		{"told to stop with a goodbye", speaking, "stop balance_exhausted goodbye", "finish; say goodbye", Closing},
		{"over an overlap", yielding, "stop balance_exhausted goodbye", "duck false; finish; say goodbye", Closing},
		{"told twice", closing, "stop max_duration goodbye", "", Closing},
		{"told to stop after all", closing, "stop api_hangup", "end balance_exhausted", Over},
		{"the goodbye was heard", closing + "drained; quiet 180", "quiet 20", "end balance_exhausted", Over},
		{"the goodbye takes too long", closing + "quiet 7980", "quiet 20", "end balance_exhausted", Over},
		{"speech over the goodbye", closing, "speak 600", "open", Closing},
		{"typed at the goodbye", closing, "typed wait", "", Closing},
		{"nothing after the end", speaking + "stop api_hangup", "speak 600; quiet 600; typed hello; stop api_hangup; audio; drained", "", Over},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDrive(t, plainConfig())
			d.play(c.before)
			from := d.s.Phase
			if got := d.play(c.when); got != c.then || d.s.Phase != c.phase {
				t.Errorf("%s, then %q:\n got  %s, %q\n want %s, %q", from, c.when, d.s.Phase, got, c.phase, c.then)
			}
		})
	}
}

func TestNeverInterrupted(t *testing.T) {
	c := plainConfig()
	c.Barge = Never
	d := newDrive(t, c)
	d.play(speaking)
	if got := d.play("speak 1000; partial 2 no wait stop; quiet 100; final 2 no wait stop; quiet 1000"); got != "turn 2; open; close" {
		t.Errorf("over the agent: %q", got)
	}
	if got := d.play("drained"); got != "commit 2 no wait stop" {
		t.Errorf("after it: %q", got)
	}
}

// TestEndpointDelay: the wait follows how complete the text sounds. It ends with a
// frame.
func TestEndpointDelay(t *testing.T) {
	for _, c := range []struct {
		p     float64
		text  string
		delay int64
	}{
		{0.9, "yes", 200}, {0.75, "yes", 200}, {0.6, "yes", 760}, {0.4, "yes", 1520}, {0.1, "yes", 2400},
		{0.9, "five five", 800}, {0.1, "five five", 3000},
	} {
		cfg := plainConfig()
		cfg.Complete = func(string) float64 { return c.p }
		d := newDrive(t, cfg)
		d.play(listening + "speak 1000; final 1 " + c.text)
		silence := d.now
		for d.s.Phase != Thinking && d.now < silence+10*media.Second {
			d.play("quiet 20; final 1")
		}
		if got := (d.now - silence).Milliseconds(); got != c.delay {
			t.Errorf("p %v, %q: committed after %d ms, want %d", c.p, c.text, got, c.delay)
		}
	}
}

func TestHeard(t *testing.T) {
	d := newDrive(t, plainConfig())
	d.play(listening + "speak 500; partial 1 what")
	if got := d.s.Heard(); got != "what" || d.s.Turn() != 1 || d.s.Utterance() != 1 || !d.s.Owed() {
		t.Errorf("%q in turn %d, utterance %d, owed %v", got, d.s.Turn(), d.s.Utterance(), d.s.Owed())
	}
	d.play("quiet 100; piece 1 what time; partial 1 is")
	if got := d.s.Heard(); got != "what time is" {
		t.Errorf("got %q", got)
	}
	d.play("final 1 is it; quiet 100")
	if got := d.s.Heard(); got != "" || d.s.Owed() {
		t.Errorf("after the turn: %q, owed %v", got, d.s.Owed())
	}
	if got := d.s.Silence(d.now); got != 200*media.Millisecond {
		t.Errorf("silence %v", got.Duration())
	}
	d.play("audio; stop api_hangup")
	if d.s.Ending() != media.APIHangup {
		t.Errorf("ends with %q", d.s.Ending())
	}
}

// TestBatch: a recogniser that recognises whole utterances is asked when the turn may be
// over, not at each pause, and its text is waited for from then on.
func TestBatch(t *testing.T) {
	const talks = listening + "speak 1000; "
	for _, c := range []struct {
		name, before, when, then string
		phase                    Phase
	}{
		{"not at a pause", talks, "quiet 180", "", Pause},
		{"at the endpoint", talks + "quiet 180", "quiet 20", "close", Pause},
		{"not when the caller goes on", talks, "quiet 180; speak 500; quiet 180", "", Pause},
		{"and once then", talks + "quiet 180; speak 500", "quiet 200", "close", Pause},
		{"nor while a click may be a word", talks + "quiet 180", "speak 40; quiet 20", "close", Pause},
		{"it has its time from then on", talks + "quiet 200", "quiet 480", "", Pause},
		{"and no more", talks + "quiet 200; quiet 480", "quiet 120", "drop 1; say sorry", Thinking},
		{"its text is the turn's", talks + "quiet 200", "final 1 what time", "commit 1 what time", Thinking},
		{"a piece of a long turn is not all of it", talks + "quiet 120; piece 1 what time", "quiet 80; quiet 200; final 1 is it", "close; commit 1 what time is it", Thinking},
		{"who typed is answered", talks + "quiet 120", "typed now; quiet 80", "turn 2; commit 2 now (typed); close", Thinking},
		{"and may go on in writing and speech", talks + "quiet 120; typed now", "drained; speak 60", "listen; turn 3; close; open", UserSpeaking},
		{"over the agent it is asked at once", speaking + "speak 240", "quiet 100", "close", Yielding},
		{"and once more when they go on", speaking + "speak 240; quiet 100", "speak 60; quiet 100", "resume; close", Yielding},
		{"but not where nothing interrupts the agent", "ready; audio; speak 240", "quiet 180; speak 240; quiet 180", "", Speaking},
		{"nor while a line is made", saying + "speak 240", "quiet 180; speak 240; quiet 180", "", Thinking},
		{"nor in its last words", closing + "speak 240", "quiet 180; speak 240; quiet 180", "", Closing},
		{"who goes on after the endpoint has it asked again", talks + "quiet 200", "speak 60; quiet 220", "resume; close", Pause},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := plainConfig()
			cfg.Batch, cfg.Greeting = true, Never
			d := newDrive(t, cfg)
			d.play(c.before)
			if got := d.play(c.when); got != c.then || d.s.Phase != c.phase {
				t.Errorf("got  %s, %q\nwant %s, %q", d.s.Phase, got, c.phase, c.then)
			}
		})
	}
}

// TestCandidate: a batch recogniser is asked when the turn would end, were its words complete; a tone or a score says more of that.
func TestCandidate(t *testing.T) {
	const talks = listening + "speak 1000; quiet 80; "
	for _, c := range []struct {
		name, script string
		wait         int64 // ms
	}{
		{"a breath is none", talks + "quiet 20", 960},
		{"a fall says that it may be one", talks + "fall", 460},
		{"one pitch does not", talks + "level", 960},
		{"a score says so", talks + "quiet 20; score 90", 460},
		{"or that it is not", talks + "quiet 20; score 10", 2400},
		{"whatever the tone", talks + "fall; score 10", 2400},
		{"numbers have longer pauses", listening + "dictation; speak 1000; quiet 100", 1560},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := plainConfig()
			cfg.Batch, cfg.MinDelay = true, DefaultConfig("en").MinDelay
			d := newDrive(t, cfg)
			got := d.play(c.script)
			for d.s.Silence(d.now) < 3*media.Second && !strings.HasSuffix(got, "close") {
				got = d.play("quiet 20")
			}
			if got := d.s.Silence(d.now).Milliseconds(); got != c.wait {
				t.Errorf("asked after %d ms, want %d", got, c.wait)
			}
		})
	}
}

// TestBehind: a turn does not rest on what a recogniser that is behind has heard so far, but
// that has an end.
func TestBehind(t *testing.T) {
	const part = listening + "speak 1000; quiet 100; partial 1 what; behind; "
	for _, c := range []struct {
		name, before, when, then string
	}{
		{"it is waited for", part, "quiet 2000", ""},
		{"until its text is there", part + "quiet 2000", "final 1 what time is it", "commit 1 what time is it"},
		{"also when it has just caught up", part + "quiet 2000; beside", "quiet 580", ""},
		{"but not longer than usual then", part + "quiet 2000; beside; quiet 580", "quiet 20", "commit 1 what"},
		{"nor for ever", part + "quiet 4880", "quiet 20", "commit 1 what"},
		{"nobody says that they have not understood", listening + "speak 1000; quiet 100; behind", "quiet 4000; final 1 yes", "commit 1 yes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDrive(t, plainConfig())
			d.play(c.before)
			if got := d.play(c.when); got != c.then {
				t.Errorf("got  %q\nwant %q", got, c.then)
			}
		})
	}
}

// TestBridged: once the caller talks to somebody else, only the end of the call counts.
func TestBridged(t *testing.T) {
	for _, c := range []struct {
		name, before, when, then string
		phase                    Phase
	}{
		{"nobody is asked for the floor", tooling, "connect; speak 1000; partial 2 stop; typed hello; results; drained; quiet 30000", "", Bridged},
		{"nor answered in advance", "ahead; " + listening + "speak 1000; quiet 100; final 1 what time; quiet 20", "connect; quiet 1000", "retract", Bridged},
		{"nobody says goodbye", tooling + "connect", "stop max_duration goodbye", "end max_duration", Over},
		{"a goodbye that had begun is forgotten", closing + "connect", "quiet 9000; stop completed", "end completed", Over},
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
