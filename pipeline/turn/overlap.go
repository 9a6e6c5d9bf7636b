package turn

import (
	"math/bits"

	"parley/media"
)

// Barge-in. The caller speaks while the agent is heard. The agent's voice is lowered at
// once; within FalseInterruptionTimeout the reply is either interrupted (a barge-in) or
// its voice resumed (a false interruption), so that a cough or a backchannel such as
// "uh-huh" loses no syllable. What the detector hears and what the recogniser reads go
// through the same two functions here.

// overlap is speech over the agent's voice.
type overlap struct {
	Kind  overlapKind
	Since media.Time // when the voice was lowered
}

// overlapKind says what the speech may be besides a barge-in.
type overlapKind uint8

const (
	overlapPlain      overlapKind = iota // a backchannel, or noise
	overlapAnswer                        // an answer to what the agent asks, or to its last words
	overlapEarly                         // more of the turn: it began with the reply
	overlapSalutation                    // a salutation: it began with the first message
)

func (o *overlap) noSalutation() {
	if o.Kind == overlapSalutation {
		o.Kind = overlapPlain
	}
}

// earlyOverlap is how soon after a reply has begun speech is taken for more of the turn
// that it answers, at first: the reply came between two words.
const earlyOverlap = 500 * media.Millisecond

// overlap opens the recogniser on speech over the agent's voice.
func (s *step) overlap(e Event) {
	if r := &s.Recogniser; r.FinishedAt == notFinished && r.First <= r.Latest {
		r.FinishedAt = 0 // it goes on
	} else {
		s.newTurn()
		if s.salutes() && e.Tail > s.cfg.AnswerWindow {
			s.Overlap.Kind = overlapSalutation
		}
		s.open()
	}
	if s.Phase == Speaking {
		s.Recogniser.OverAgent = s.Recogniser.Latest
		s.yield(e)
	}
}

// yield lowers the agent's voice until it is known what the overlap is.
func (s *step) yield(e Event) {
	if s.Reply.Uninterruptible {
		return
	}
	s.Phase, s.Overlap.Since = Yielding, s.now
	switch o := &s.Overlap; {
	case e.Tail <= s.cfg.AnswerWindow || e.Question != NoQuestion && e.Tail != Unfinished:
		o.Kind = overlapAnswer
	case o.Kind == overlapSalutation:
	case s.Reply.Line == NoLine && s.now-s.Reply.AudibleAt <= earlyOverlap:
		o.Kind = overlapEarly
	default:
		o.Kind = overlapPlain
	}
	s.do(Action{Kind: Duck})
}

// interruptible is the end of the first sentence, from which on the caller may interrupt
// the agent: by what was said over it, too.
func (s *step) interruptible(e Event) {
	if s.Voice.Kind == voiceSpeech {
		s.yield(e)
	}
	if s.Recogniser.First <= s.Recogniser.Latest && s.Caller.heard() != "" {
		s.judge(Event{Kind: Partial})
	}
}

// judge weighs the words of the overlap.
func (s *step) judge(e Event) {
	w := &s.read().Words
	answer, speaking := s.Overlap.Kind == overlapAnswer, s.Voice.Kind == voiceSpeech
	switch {
	case w.All == 0:
		if e.Kind == LastFinal && !speaking && !answer {
			s.resume()
		}
	case s.bargeWords(w) == 0 && w.Stops == 0: // a backchannel
		if !speaking && !answer { // an answer stays in the turn until the agent has finished
			s.resume()
		}
	case e.Confidence == Unsure:
		// A guess.
	case s.ownWords(w):
		s.interrupt()
	}
}

// checkOverlap weighs what the detector hears, on every frame of the overlap.
func (s *step) checkOverlap() {
	w := &s.read().Words
	answer, speaking := s.Overlap.Kind == overlapAnswer, s.Voice.Kind == voiceSpeech
	backchannel := w.All > 0 && s.bargeWords(w) == 0 && w.Stops == 0
	switch {
	case !answer && s.lasting() && !backchannel:
		s.interrupt()
	case !answer && !speaking && backchannel,
		!speaking && w.All == 0 && s.Silence(s.now) >= s.cfg.OverlapSilence,
		s.now-s.Overlap.Since >= s.falseInterruptionTimeout():
		s.resume()
	}
}

// ownWords says that words of the overlap are the caller's own and interrupt.
func (s *step) ownWords(w *wordCounts) bool {
	v := &s.Voice
	return w.Stops > 0 && (v.OwnFrames >= ownStop || v.OwnRun >= ownStretch) ||
		s.bargeWords(w) >= 2 && v.OwnFrames >= ownWords && (s.Overlap.Kind != overlapSalutation || s.Caller.Spoken >= s.cfg.Salutation)
}

// lasting says that the caller's own voice has gone on for long enough to interrupt. Of
// more than 1.28 s the latest are weighed.
func (s *step) lasting() bool {
	after := s.bargeInAfter()
	if s.Voice.SpeechRun < after {
		return false
	}
	n := min(64, int(after/media.FrameTime))
	return 100*bits.OnesCount64(s.Voice.Own<<(64-n)) >= ownPercent*n
}

// interrupt is a barge-in: the caller has the floor.
func (s *step) interrupt() {
	s.interruptReply()
	s.toListener()
}

// interruptReply stops the reply.
func (s *step) interruptReply() {
	s.Overlap.noSalutation()
	s.noteGreeting()
	s.do(Action{Kind: InterruptReply})
	s.Reply.Then, s.Caller.Commitment = thenListen, uncommitted
	if s.Reply.Tools != answerOwed {
		s.Reply.Tools = noTools
	}
	s.Idle.Reprompts = 0
	s.Phase = Speaking // until toListener or commit moves on
}

// resume is the end of a false interruption; nothing was lost. Words that are no answer
// are forgotten with the overlap, unless it goes on or its text is still to come: a
// slow recogniser's "stop" counts when it arrives. A word of the caller's own that came
// with the beginning of the reply is answered after it, and so is more than a salutation
// that came with the first message.
func (s *step) resume() {
	s.unduck()
	keep := false
	switch s.Overlap.Kind {
	case overlapAnswer:
		keep = true
	case overlapEarly:
		keep = s.Voice.OwnFrames >= ownStop && s.read().Words.Content > 0
	case overlapSalutation:
		keep = !s.onlySalutes()
	}
	if !keep && s.Voice.Kind != voiceSpeech && !s.Owed() {
		s.dropTurn()
	}
}

// unduck resumes the agent's voice where it was lowered.
func (s *step) unduck() {
	if s.Phase == Yielding {
		s.Phase = Speaking
		s.do(Action{Kind: Unduck})
	}
}
