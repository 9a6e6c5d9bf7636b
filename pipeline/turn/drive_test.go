package turn

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"parley/media"
)

// drive plays a script to a State. Commands are separated by semicolons:
//
//	ready, digit, interrupt, audio, fail, tools, results, hangup, drained
//	adopt, adopt owing      the process has died, and an hour later another one goes on, which owes an answer or none
//	in, meet, out           a supervisor steps in, or whom the caller is transferred to; or out
//	speak MS, mutter MS     frames of speech, as loud as the caller or far off
//	quiet MS                frames without
//	partial U TEXT, guess U TEXT (unsure), piece U TEXT (final, more follows), final U TEXT
//	typed TEXT
//	press KEYS, collect, collected, words   keys, a function that collects up to four, or does not any more
//	wait MS, ring MS        as quiet, with ticks, while a function or a transfer runs
//	output resting, preparing, sounding, filling   what ticks say of the agent
//	stop REASON [goodbye]
//	tail MS, tail ?         what frames say is left of the reply
//	question, dictation     and what it asks
//	first, rest             and that its first sentence is being played, or is over
//	ahead                   and that replies may be begun in advance
//	undecided, person [greeting], machine [busy]   who answered, and that they go on talking
//	score P, engine P       a probability in percent that the turn has ended, or its end; retract, stale
//	behind, beside          and that the recogniser is behind, or not any more
//	fall, level             a frame without speech, of which the one before ended so
type drive struct {
	t        testing.TB
	c        Config
	s        State
	now      media.Time
	tail     media.Time
	question Question
	first    bool
	ahead    bool
	behind   bool
	output   Output
	acts     []Action
}

func newDrive(t testing.TB, c Config) *drive {
	return &drive{t: t, c: c, tail: Unfinished}
}

// plainConfig is the default with every text complete, and 200 ms as the shortest wait.
func plainConfig() Config {
	c := DefaultConfig("en")
	c.MinDelay, c.LikelyDelay = 200*media.Millisecond, 0
	c.Complete = func(string) float64 { return 0.9 }
	return c
}

func (d *drive) step(e Event) {
	e.Now = d.now
	d.s, d.acts = Step(&d.c, d.s, e, d.acts)
}

func (d *drive) frames(ms string, speech Speech) {
	for n := d.number(ms) / 20; n > 0; n-- {
		d.now += media.FrameTime
		d.step(Event{Kind: Frame, Speech: speech, Tail: d.tail, Question: d.question, First: d.first, MaySpeculate: d.ahead, Behind: d.behind})
	}
}

func (d *drive) number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		d.t.Fatalf("%q is no number", s)
	}
	return n
}

var plainEvents = map[string]EventKind{"ready": Ready, "digit": Digit, "interrupt": Interrupt, "audio": FirstAudio,
	"fail": ReplyFailed, "tools": ToolsCalled, "results": ToolsDone, "hangup": Hangup, "drained": Drained, "connect": Connected,
	"words": Words, "retract": Unscored, "collected": Collected, "hold": Held, "unhold": Resumed,
	"in": SteppedIn, "out": SteppedOut}

// play runs a script and returns the actions it caused.
func (d *drive) play(script string) string {
	d.acts = nil
	for command := range strings.SplitSeq(script, ";") {
		word, rest, _ := strings.Cut(strings.TrimSpace(command), " ")
		switch word {
		case "":
		case "speak":
			d.frames(rest, CallerSpeech)
		case "mutter":
			d.frames(rest, DistantSpeech)
		case "quiet":
			d.frames(rest, NoSpeech)
		case "partial", "guess", "piece", "final":
			utt, text, _ := strings.Cut(rest, " ")
			e := Event{Kind: Partial, Utt: d.number(utt), Text: text}
			switch word {
			case "guess":
				e.Confidence = Unsure
			case "piece":
				e.Kind = Final
			case "final":
				e.Kind = LastFinal
			}
			d.step(e)
		case "typed":
			d.step(Event{Kind: Typed, Text: rest})
		case "stop":
			reason, goodbye, _ := strings.Cut(rest, " ")
			e := Event{Kind: Stop, Reason: media.EndReason(reason)}
			if goodbye != "" {
				e.Line = Goodbye
			}
			d.step(e)
		case "tail":
			d.tail = Unfinished
			if rest != "?" {
				d.tail = media.Time(d.number(rest)) * media.Millisecond
			}
		case "question":
			d.question = PlainQuestion
		case "dictation":
			d.question = DictationQuestion
		case "first", "rest":
			d.first = word == "first"
		case "behind", "beside":
			d.behind = word == "behind"
		case "undecided", "person", "machine":
			e := Event{Kind: GreetedBy, By: answerers[word]}
			switch rest {
			case "greeting":
				e.Line = Greeting
			case "busy":
				e.Kind = AnsweredBy
			}
			d.step(e)
		case "wait", "ring":
			for n := d.number(rest) / 20; n > 0; n-- {
				d.frames("20", NoSpeech)
				d.step(Event{Kind: Tick, Output: d.output, Wait: map[string]Wait{"wait": FunctionWait, "ring": TransferWait}[word]})
			}
		case "adopt":
			d.now += 3600 * media.Second
			d.s = stored(d.t, d.s)
			d.step(Event{Kind: Adopted, Wait: map[string]Wait{"owing": AnswerWait}[rest]})
		case "meet":
			d.step(Event{Kind: SteppedIn, Wait: TransferWait})
		case "output":
			d.output = outputs[rest]
		case "collect":
			d.step(Event{Kind: Collect, Number: Number{Max: 4, Terminator: "#", First: 10 * media.Second, Next: 4 * media.Second}})
		case "press":
			for _, key := range []byte(rest) {
				d.step(Event{Kind: Digit, Key: key})
			}
		case "score", "engine":
			e := Event{Kind: Scored, Prob: float64(d.number(rest)) / 100}
			if e.Pause, _ = d.s.Paused(); word == "engine" {
				e.Kind = EngineEnd
			}
			d.step(e)
		case "stale":
			d.step(Event{Kind: Scored, Prob: 1, Pause: 1})
		case "ahead":
			d.ahead = true
		case "fall", "level":
			d.now += media.FrameTime
			d.step(Event{Kind: Frame, Tone: tones[word], Tail: d.tail})
		default:
			kind, ok := plainEvents[word]
			if !ok {
				d.t.Fatalf("there is no command %q", word)
			}
			d.step(Event{Kind: kind})
		}
	}
	return names(d.acts)
}

var outputs = map[string]Output{"resting": Resting, "preparing": Preparing, "sounding": Sounding, "filling": Filling}

var tones = map[string]Tone{"fall": Falling, "level": Level}

var answerers = map[string]Answerer{"person": Person, "machine": Machine}

var lineNames = map[Line]string{Greeting: "greeting", Sorry: "sorry", Reprompt: "reprompt", Goodbye: "goodbye", Trouble: "trouble", Reconnected: "reconnected"}

func names(acts []Action) string {
	list := make([]string, len(acts))
	for i, a := range acts {
		list[i] = name(a)
	}
	return strings.Join(list, "; ")
}

func name(a Action) string {
	switch a.Kind {
	case OpenUtterance:
		return "open"
	case ResumeUtterance:
		return "resume"
	case CloseUtterance:
		return "close"
	case AskScore:
		return fmt.Sprintf("ask %d %s", a.Wait.Duration().Milliseconds(), a.Text)
	case BeginTurn:
		return fmt.Sprintf("turn %d", a.Turn)
	case DropTurn:
		return fmt.Sprintf("drop %d", a.Turn)
	case Commit:
		s := fmt.Sprintf("commit %d %s", a.Turn, a.Text)
		if a.Again {
			s += " (again)"
		}
		if a.Typed {
			s += " (typed)"
		}
		if a.Ready {
			s += " (ready)"
		}
		if a.Line != NoLine {
			s += " (" + lineNames[a.Line] + ")"
		}
		return s
	case Speculate:
		s := fmt.Sprintf("speculate %d %s", a.Turn, a.Text)
		if a.Again {
			s += " (again)"
		}
		return s
	case DropSpeculation:
		return "retract"
	case Cancel:
		return "cancel"
	case NoteAnswer:
		return "note " + a.Text
	case LeaveMessage:
		return "leave message"
	case GiveUp:
		return "give up"
	case InterruptReply:
		return "cut"
	case Finish:
		return "finish"
	case Duck:
		return "duck true"
	case Unduck:
		return "duck false"
	case SayFiller:
		return fmt.Sprintf("filler %d", a.N)
	case StopFiller:
		return "stop filler"
	case EndCollecting:
		return fmt.Sprintf("collected %s (%s)", a.Text, a.Detail)
	case NoteKeys:
		return "note " + a.Text
	case Keep:
		s := fmt.Sprintf("keep %d %s", a.Turn, a.Text)
		if a.Again {
			s += " (again)"
		}
		return s
	case Say:
		return "say " + lineNames[a.Line]
	case FollowUp:
		return "follow up"
	case Listen:
		return "listen"
	case End:
		return strings.TrimSuffix(fmt.Sprintf("end %s: %s", a.Reason, a.Detail), ": ")
	}
	return "nothing"
}
