package pipeline

import (
	"context"
	"errors"
	"iter"
	"time"

	"parley/inference"
	"parley/media"
	"parley/pipeline/agent"
	"parley/pipeline/amd"
	"parley/pipeline/listen"
	"parley/pipeline/turn"
)

// Rerun conducts a call again from what was kept of it: the same conductor, fed by Feed
// in place of a leg and engines. It starts no goroutine and reads no clock, so the same
// inputs give the same events. It belongs to one goroutine.
type Rerun struct {
	c         *Call
	leg       *formerLeg
	heard     []Heard
	frame     Heard // being dealt with
	answers   []Answer
	own       bool                // it has gone another way: the leg answers by itself
	agents    map[int]agent.Agent // of the replies, by number
	concluded bool
	// asked is told what engines are asked for; nil: nobody is.
	asked func(gen int, request *inference.Request, text string)
}

// NewRerun returns a call that began as o says, before its first input. change may
// change what it is made of; nil: nothing. journal is told its events and notes, and no
// inputs.
func NewRerun(o Origin, change func(*Config), journal Journal) *Rerun {
	cfg := o.config()
	cfg.Turn.Complete = turn.DefaultConfig(o.Agent.Language).Complete
	if change != nil {
		change(&cfg)
	}
	return newRerun(o.Start, o.Format, cfg, journal)
}

// NewSimulation returns a call of which nothing has happened yet: whoever feeds it plays
// the caller, the engines and the functions. Of the model only the name is asked; the
// recogniser and the voice need not be there. asked is told what the model, or without a
// request the voice alone, is asked for reply gen; it must not feed the call.
func NewSimulation(start time.Time, f media.Format, cfg Config, journal Journal, asked func(gen int, request *inference.Request, text string)) *Rerun {
	cfg.ASR, cfg.TTS = silentASR{simulatedName}, silentTTS{simulatedName}
	r := newRerun(start, f, cfg, journal)
	r.asked, r.own = asked, true
	a := &r.c.agent
	for n := range agent.Fillers {
		for _, p := range pieces(a.Filler(n), a.Language) {
			rate, samples := SimulatedVoice(p, a.Speed)
			r.c.lines.put(turn.NoLine, lineKey(a, a.Form(p)), []inference.Chunk{{Samples: make([]int16, samples), Rate: rate}})
		}
	}
	return r
}

// simulatedName is what engines are called that are played.
const simulatedName = "simulated"

// SimulatedVoice is how long a simulated voice takes for a text: 65 ms a character.
func SimulatedVoice(text string, speed float64) (rate media.Rate, samples int) {
	if speed == 0 {
		speed = 1
	}
	const perCharacter = 0.065 // seconds
	return media.Rate16k, int(float64(len([]rune(text))) * perCharacter / speed * float64(media.Rate16k))
}

// Sentences cuts a text into the pieces in which a call speaks it.
func Sentences(text, language string) []string { return pieces(text, language) }

func newRerun(start time.Time, f media.Format, cfg Config, journal Journal) *Rerun {
	r := &Rerun{leg: newFormerLeg(f), agents: map[int]agent.Agent{}}
	cfg.FrontEnd, cfg.Journal = r, journal
	c := New(cfg)
	r.c, c.rerun, r.leg.clock = c, r, c.now
	c.life, c.kill = context.WithCancelCause(context.Background())
	if c.cfg.ASR != nil {
		c.attach(silentASR{}.stream())
	}
	c.instant = start
	c.begin(r.leg)
	return r
}

// Over says that the call has ended and wants no more inputs but Concluded, Buried and
// Closed.
func (r *Rerun) Over() bool { return r.c.ended != nil }

// Concluded says that its books are closed.
func (r *Rerun) Concluded() bool { return r.concluded }

// Ended is why it has; zero before.
func (r *Rerun) Ended() media.Ended {
	if r.c.ended == nil {
		return media.Ended{}
	}
	return *r.c.ended
}

// Part has the call go its own way: what was answered does not count from here on. A
// question that was not asked then has the same effect.
func (r *Rerun) Part() { r.own = true }

// Parted says whether it does.
func (r *Rerun) Parted() bool { return r.own }

// Close releases what the call holds.
func (r *Rerun) Close() { r.c.kill(nil) }

// Feed has the call deal with one input. Times must not go back.
func (r *Rerun) Feed(in *Input) {
	c := r.c
	c.instant = c.start.Add(in.At)
	r.heard, r.answers = in.Heard(), in.Answers()
	switch in.Kind {
	case Began:
		c.ask()
	case Ticked:
		r.tick(in)
	case Told:
		r.tell(in)
	case Stopped:
		r.stop(in.Stop)
	case Keyed:
		switch {
		case c.state.Phase == turn.Bridged:
		case in.Digit != 0:
			c.legEvent(media.LegEvent{Kind: media.LegDigit, Digit: in.Digit})
		case in.Hold != 0:
			c.legEvent(media.LegEvent{Kind: in.Hold})
		}
	case Concluded:
		if c.ended == nil {
			c.ended = in.Ended
		}
		c.conclusion(nil)
		if asr := c.caller.Detach(); asr != nil {
			asr.Close()
		}
		r.concluded = true
	case Buried:
		if m, ok := r.message(in.Message); ok {
			c.bury(m)
		}
	case Closed:
		c.emit(Event{Kind: End, Ended: *c.ended})
	}
	if len(r.answers) > 0 {
		r.own = true
	}
}

func (r *Rerun) tick(in *Input) {
	c := r.c
	c.noSpeculation.Store(in.NoSpeculation)
	if c.state.Phase == turn.Bridged {
		if in.Carried > 0 {
			c.carried(in.Carried)
		}
		return
	}
	r.leg.ready = len(r.heard)
	c.tick(c.instant)
}

func (r *Rerun) tell(in *Input) {
	if m, ok := r.message(in.Message); ok {
		r.c.deliver(m)
	}
}

func (r *Rerun) stop(s *StopAsked) {
	r.c.step(turn.Event{Kind: turn.Stop, Reason: s.Reason, Detail: s.Detail, Line: s.Line})
}

// Opened is the recogniser's latest utterance.
func (r *Rerun) Opened() int { return r.c.state.Utterance() }

// message is the one that was kept, as if it came again.
func (r *Rerun) message(kept *Message) (m message, ok bool) {
	if kept == nil {
		return m, false
	}
	for k, name := range messageNames {
		if name == kept.Kind && name != "" {
			m.kind, ok = messageKind(k), true
		}
	}
	c := r.c
	m.gen, m.seg, m.text, m.id, m.engine = kept.Gen, kept.Seg, kept.Text, kept.ID, kept.Engine
	if kept.Sent != nil {
		m.sent = c.start.Add(*kept.Sent)
	}
	if kept.At != nil {
		m.at = c.start.Add(*kept.At)
	}
	if kept.Whole != nil {
		m.whole = c.start.Add(*kept.Whole)
	}
	if kept.Err != "" {
		if m.err = errorCauses[kept.Cause]; m.err == nil {
			m.err = errors.New(kept.Err)
		}
	}
	switch m.kind {
	case msgResult:
		if kept.Result == nil {
			return m, false
		}
		m.result, m.seg = *kept.Result, c.caller.Stream()
		m.result.Utterance -= c.caller.Offset()
	case msgStreamEnded:
		m.seg = c.caller.Stream()
	case msgRecogniser:
		m.asr = silentASR{}.stream()
	case msgSentence:
		agent := r.agents[m.gen]
		m.form, m.stop = agent.Form(m.text), func(error) {}
	case msgAudio:
		m.chunk = inference.Chunk{Samples: make([]int16, kept.Samples), Rate: kept.Rate, Words: kept.Words, Engine: kept.Engine}
	case msgTool:
		if kept.Call == nil {
			return m, false
		}
		m.call = *kept.Call
	case msgWritten:
		if kept.Usage != nil {
			m.usage = *kept.Usage
		}
	case msgBroken:
		m.again = make(chan string, 1)
	case msgUpdate:
		m.update = func(a *agent.Agent) {
			if kept.Agent != nil {
				kept.Agent.apply(a)
			}
		}
	}
	return m, ok
}

// answer is what the world said when the call was journalled, or what the leg says by
// itself.
func (r *Rerun) answer(kind AnswerKind, value int64) int64 {
	if r.own || len(r.answers) == 0 || r.answers[0].Kind != kind {
		r.own = true
		return value
	}
	v := r.answers[0].Value
	r.answers = r.answers[1:]
	r.leg.answered(kind, value, v)
	return v
}

// Hear implements listen.FrontEnd: it is what was made of the frame that the leg gave last.
func (r *Rerun) Hear(f media.Frame) (media.Frame, listen.Activity) {
	r.frame, r.heard = r.heard[0], r.heard[1:]
	return f, listen.Activity{Speech: r.frame.Speech, Echo: r.frame.Echo, Level: r.frame.Level}
}

func (r *Rerun) who() (amd.Verdict, bool) { return amd.Verdict(r.frame.Verdict), r.frame.Open }

// Engines that are never asked: what they said is fed.

type silentLLM struct{ name string }

func (s silentLLM) Info() inference.Info { return inference.Info{Name: s.name} }

func (s silentLLM) Complete(context.Context, inference.Request) iter.Seq2[inference.Delta, error] {
	return func(func(inference.Delta, error) bool) {}
}

type silentTTS struct{ name string }

func (s silentTTS) Info() inference.Info { return inference.Info{Name: s.name} }

func (s silentTTS) Voices() []inference.Voice { return nil }

func (s silentTTS) Speak(context.Context, inference.Speech) iter.Seq2[inference.Chunk, error] {
	return func(func(inference.Chunk, error) bool) {}
}

type silentASR struct{ name string }

func (s silentASR) Info() inference.Info { return inference.Info{Name: s.name} }

func (s silentASR) Open(context.Context, inference.ASRConfig) (inference.Recognition, error) {
	return s.stream(), nil
}

func (s silentASR) stream() inference.Recognition { return silentStream{} }

type silentStream struct{ inference.NoContext }

func (silentStream) Write([]int16)                    {}
func (silentStream) Finish() int                      { return 0 }
func (silentStream) Resume()                          {}
func (silentStream) Results() <-chan inference.Result { return nil }
func (silentStream) Close()                           {}
