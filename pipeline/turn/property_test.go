package turn

import (
	"testing"

	"parley/media"

	"pgregory.net/rapid"
)

// world is what surrounds the machine: it carries out actions as a call does and
// checks that they make sense. Its events are any that a call can cause.
type world struct {
	*rapid.T
	c           *Config
	s           State
	now         media.Time
	making      bool // a reply is being made
	audible     bool // it was heard
	tools       bool // functions run
	open        bool // an utterance is open
	opened      int
	ducked      bool
	turn        int
	turns       map[int]bool // committed
	ends        int
	finished    bool // Finish: what plays ends soon
	speculative bool // there is a speculative reply
	tries       map[int]int
	collects    bool // a function waits for a number
	owed        bool // an answer is owed since another process has adopted the call
}

func (w *world) step(e Event) {
	e.Now = w.now
	was := w.s.Phase
	var acts []Action
	w.s, acts = Step(w.c, w.s, e, nil)
	if was == Over && (w.s.Phase != Over || len(acts) > 0) {
		w.Fatalf("after the end: %s, %s", w.s.Phase, names(acts))
	}
	if e.Kind != Frame || w.now%media.Second == 0 {
		w.s = stored(w, w.s)
	}
	for _, a := range acts {
		w.apply(a)
	}
	if w.ducked != (w.s.Phase == Yielding) {
		w.Fatalf("ducked is %v while %s", w.ducked, w.s.Phase)
	}
	if (w.ends == 1) != (w.s.Phase == Over) {
		w.Fatalf("%d ends while %s", w.ends, w.s.Phase)
	}
	if (w.s.Phase == Speaking || w.s.Phase == Yielding) && !w.audible {
		w.Fatalf("%s, and nothing is audible", w.s.Phase)
	}
	if w.s.Supervised() && (w.making || w.s.Phase != Listening && w.s.Phase != UserSpeaking && w.s.Phase != Pause && w.s.Phase != Over) {
		w.Fatalf("a supervisor speaks, a reply is made: %v, while %s", w.making, w.s.Phase)
	}
	if w.owed && w.s.Phase == Listening && !w.s.Supervised() {
		w.Fatal("the agent listens, and owes an answer")
	}
	if w.speculative && w.s.Phase != Pause {
		w.Fatalf("a speculative reply, while %s", w.s.Phase)
	}
	if w.s.Phase == UserSpeaking && w.s.Voice.Kind != voiceSpeech || w.s.Phase == Pause && w.s.Voice.Kind == voiceSpeech {
		w.Fatalf("%s while the caller is heard as %d", w.s.Phase, w.s.Voice.Kind)
	}
}

func (w *world) apply(a Action) {
	switch a.Kind {
	case OpenUtterance, ResumeUtterance:
		if w.open || a.Kind == ResumeUtterance && w.opened == 0 {
			w.Fatalf("%s: open is %v, %d before", name(a), w.open, w.opened)
		}
		w.open = true
		if a.Kind == OpenUtterance {
			w.opened++
		}
	case CloseUtterance:
		if !w.open {
			w.Fatal("closed what is not open")
		}
		w.open = false
	case BeginTurn:
		if a.Turn != w.turn+1 {
			w.Fatalf("turn %d after %d", a.Turn, w.turn)
		}
		w.turn = a.Turn
	case Keep:
		if !w.s.Supervised() || a.Turn != w.turn || a.Text == "" || w.making {
			w.Fatalf("%s in turn %d, making is %v", name(a), w.turn, w.making)
		}
	case Commit:
		if a.Turn != w.turn || a.Text == "" || w.turns[a.Turn] != a.Again || w.audible {
			w.Fatalf("%s in turn %d, audible is %v", name(a), w.turn, w.audible)
		}
		if a.Ready && (!w.speculative || a.Typed) {
			w.Fatalf("%s, and nothing was begun", name(a))
		}
		if w.speculative != a.Ready {
			w.Fatalf("%s, and something else was begun", name(a))
		}
		w.turns[a.Turn], w.speculative = true, false
		w.making, w.owed = true, false
	case Speculate:
		if w.speculative || w.making && !w.finished || w.audible || w.tools || a.Turn != w.turn || a.Text == "" || w.turns[a.Turn] != a.Again {
			w.Fatalf("%s: begun is %v, making %v, audible %v", name(a), w.speculative, w.making, w.audible)
		}
		if w.tries[a.Turn]++; w.tries[a.Turn] > 2 {
			w.Fatalf("%s: too often", name(a))
		}
		w.speculative = true
	case DropSpeculation:
		if !w.speculative {
			w.Fatal("nothing was begun")
		}
		w.speculative = false
	case FollowUp, Say:
		if w.audible && !w.finished {
			w.Fatalf("%s over audible speech", name(a))
		}
		w.making, w.audible = true, w.audible && w.finished
		if a.Kind == FollowUp {
			w.owed = false
		}
	case Cancel, GiveUp:
		if w.audible {
			w.Fatalf("%s of what is audible", name(a))
		}
		w.making = false
	case InterruptReply:
		if !w.audible {
			w.Fatal("cut, and nothing is audible")
		}
		w.making, w.audible, w.ducked, w.tools = false, false, false, false
	case Finish:
		w.finished = true
	case Duck, Unduck:
		if (a.Kind == Duck) == w.ducked {
			w.Fatalf("%s twice", name(a))
		}
		w.ducked = a.Kind == Duck
	case SayFiller:
		if w.s.Phase != ToolWait || w.audible || w.making || w.collects {
			w.Fatalf("%s while %s", name(a), w.s.Phase)
		}
	case EndCollecting:
		if !w.collects {
			w.Fatal("a number has ended that nobody waits for")
		}
		w.collects = false
	case End:
		w.ends++
		if a.Reason == "" {
			w.Fatal("an end without a reason")
		}
	}
}

func (w *world) frames(n int, speech Speech) {
	for range n {
		w.now += media.FrameTime
		tail := Unfinished
		if !w.making {
			tail = 300 * media.Millisecond
		}
		w.step(Event{Kind: Frame, Speech: speech, Tail: tail, Question: Question(w.turn % 3), First: w.now%(3*media.Second) < media.Second, MaySpeculate: w.now%(5*media.Second) < 3*media.Second, Behind: w.now%(7*media.Second) < media.Second})
	}
}

// moves are what can happen, by name for reports.
func (w *world) moves() map[string]func(*rapid.T) {
	moves := map[string]func(*rapid.T){
		"speak": func(t *rapid.T) {
			n, speech := rapid.IntRange(1, 60).Draw(t, "frames"), DistantSpeech
			if rapid.Bool().Draw(t, "loud") {
				speech = CallerSpeech
			}
			w.frames(n, speech)
		},
		"quiet":   func(t *rapid.T) { w.frames(rapid.IntRange(1, 60).Draw(t, "frames"), NoSpeech) },
		"wait":    func(t *rapid.T) { w.frames(rapid.IntRange(100, 800).Draw(t, "frames"), NoSpeech) },
		"digit":   func(t *rapid.T) { w.step(Event{Kind: Digit, Key: rapid.SampledFrom([]byte("12#")).Draw(t, "key")}) },
		"tick":    func(t *rapid.T) { w.ticks(rapid.IntRange(1, 400).Draw(t, "ticks")) },
		"collect": func(t *rapid.T) { w.collect() },
		"button":  func(t *rapid.T) { w.step(Event{Kind: Interrupt}) },
		"typed":   func(t *rapid.T) { w.step(Event{Kind: Typed, Text: "typed"}) },
		"partial": func(t *rapid.T) { w.result(t, Partial) },
		"final":   func(t *rapid.T) { w.result(t, Final) },
		"audio":   func(t *rapid.T) { w.audio() },
		"made":    func(t *rapid.T) { w.making = w.making && !w.audible },
		"drained": func(t *rapid.T) { w.drained() },
		"results": func(t *rapid.T) {
			if w.tools {
				w.tools = false
				w.step(Event{Kind: ToolsDone})
			}
		},
		"answered": func(t *rapid.T) {
			if w.s.Screens() {
				kind := AnsweredBy
				if rapid.Bool().Draw(t, "open") {
					kind = GreetedBy
				}
				w.step(Event{Kind: kind, By: Answerer(rapid.IntRange(0, 2).Draw(t, "who"))})
			}
		},
		"supervisor": func(t *rapid.T) {
			if rapid.IntRange(0, 4).Draw(t, "rarely") > 0 {
				return
			}
			if w.s.Supervised() {
				w.step(Event{Kind: SteppedOut})
				return
			}
			if w.step(Event{Kind: SteppedIn}); w.s.Supervised() {
				w.making, w.audible, w.tools, w.owed = false, false, false, false
			}
		},
		"adopted": func(t *rapid.T) {
			if !w.s.Rests() || w.making || w.audible || rapid.IntRange(0, 2).Draw(t, "rarely") > 0 {
				return
			}
			w.now += media.Time(rapid.IntRange(0, 3600).Draw(t, "seconds")) * media.Second
			w.tools = false
			w.owed = rapid.Bool().Draw(t, "owing")
			w.step(Event{Kind: Adopted, Wait: map[bool]Wait{true: AnswerWait}[w.owed]})
			w.turn = w.s.Turn()
		},
		"connected": func(t *rapid.T) {
			if rapid.IntRange(0, 9).Draw(t, "rarely") == 0 {
				w.ducked = false // the agent's voice is gone
				w.step(Event{Kind: Connected})
			}
		},
		"stop": func(t *rapid.T) {
			if rapid.IntRange(0, 9).Draw(t, "rarely") == 0 {
				e := Event{Kind: Stop, Reason: media.APIHangup}
				if rapid.Bool().Draw(t, "goodbye") {
					e.Line = Goodbye
				}
				w.step(e)
			}
		},
	}
	for name, kind := range map[string]EventKind{"fail": ReplyFailed, "tools": ToolsCalled, "hangup": Hangup} {
		moves[name] = func(*rapid.T) {
			if w.making && !(kind == ToolsCalled && w.owed) { // the line that comes first calls none
				w.making = w.making && kind != ReplyFailed
				w.tools = w.tools || kind == ToolsCalled
				w.step(Event{Kind: kind})
			}
		}
	}
	return moves
}

func (w *world) result(t *rapid.T, kind EventKind) {
	texts := []string{"", "uh-huh", "stop", "no wait", "what time is it", "five five", "and"}
	e := Event{Kind: kind, Utt: rapid.IntRange(max(1, w.opened-1), w.opened+1).Draw(t, "utterance"), Text: rapid.SampledFrom(texts).Draw(t, "text")}
	if rapid.Bool().Draw(t, "unsure") {
		e.Confidence = Unsure
	}
	if kind == Final && rapid.Bool().Draw(t, "last") {
		e.Kind = LastFinal
	}
	if kind == Final && e.Text != "" {
		w.step(Event{Kind: Words})
	}
	w.step(e)
}

// ticks are frames of silence, each followed by what the agent is at.
func (w *world) ticks(n int) {
	for range n {
		w.frames(1, NoSpeech)
		e := Event{Kind: Tick}
		switch {
		case w.audible:
			e.Output = Sounding
		case w.making:
			e.Output = Preparing
		}
		if w.tools {
			e.Wait = FunctionWait
		}
		w.step(e)
	}
}

// collect has a function wait for a number, or take what was typed.
func (w *world) collect() {
	switch {
	case w.s.Collects() && !w.collects:
		w.step(Event{Kind: Collected})
	case !w.s.Collects() && w.s.Phase == ToolWait:
		w.collects = true
		w.step(Event{Kind: Collect, Number: Number{Max: 3, Terminator: "#", First: 2 * media.Second, Next: media.Second}})
	}
}

func (w *world) audio() {
	if w.making && !w.audible {
		w.audible = w.s.Phase == Thinking || w.s.Phase == ToolWait
		w.step(Event{Kind: FirstAudio})
	}
}

func (w *world) drained() {
	if w.audible && !w.making || w.making && !w.audible && w.s.Phase == Thinking {
		w.making, w.audible = false, false
		w.step(Event{Kind: Drained})
	}
}

// TestAnythingMayHappen plays random events in any order and checks after each
// that the machine is where it says it is. Its state is stored all the time, and the
// conversation goes on from what was stored.
func TestAnythingMayHappen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := DefaultConfig(rapid.SampledFrom([]string{"en", "de", "xx"}).Draw(t, "language"))
		if rapid.IntRange(0, 3).Draw(t, "policy") == 0 {
			c.Barge = Policy(rapid.IntRange(1, 2).Draw(t, "which"))
		}
		if rapid.IntRange(0, 3).Draw(t, "outbound") == 0 {
			c.OnMachine = OnMachine(rapid.IntRange(1, 3).Draw(t, "machine"))
		}
		c.Batch = rapid.Bool().Draw(t, "batch")
		w := &world{T: t, c: &c, turns: map[int]bool{}, tries: map[int]int{}}
		w.step(Event{Kind: Ready})
		t.Repeat(w.moves())
	})
}

// TestAllocFrames: what happens with every frame costs no memory.
func TestAllocFrames(t *testing.T) {
	for name, script := range map[string]string{
		"listening": listening, "speaking": speaking, "the caller speaks": listening + "speak 200; partial 1 What Time",
		"pause": listening + "speak 200; partial 1 What Time And; quiet 100", "yielding": yielding + "partial 2 Yeah",
	} {
		t.Run(name, func(t *testing.T) {
			d := newDrive(t, DefaultConfig("en"))
			d.play(script)
			d.acts = d.acts[:0]
			speech := NoSpeech
			if d.s.Phase == UserSpeaking || d.s.Phase == Yielding {
				speech = DistantSpeech
			}
			if n := testing.AllocsPerRun(30, func() {
				d.now += media.FrameTime
				d.step(Event{Kind: Frame, Speech: speech, Tail: Unfinished})
				d.step(Event{Kind: Tick, Output: Sounding})
			}); n != 0 {
				t.Errorf("allocates %v times a frame", n)
			}
		})
	}
}
