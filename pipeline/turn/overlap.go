package turn

import (
	"math/bits"

	"parley/media"
)

// The verdict on an overlap: the caller speaks while the agent is heard. The
// voice is lowered at once; within Verdict it is either cut or restored, so that
// a cough or an "uh-huh" loses no syllable. What the detector hears and what the
// recogniser reads go through the same two functions here.

// closed says that the agent may not be interrupted now.
func (s *State) closed() bool {
	policy := s.Config.Barge
	if s.line == Greeting {
		policy = s.Config.Greeting
	}
	return policy == Never || policy == AfterFirst && s.opening
}

// opened is the end of the first sentence, from which on the agent may be interrupted:
// by what was said over it, too.
func (s *step) opened(e Event) {
	if s.speaking {
		s.yield(e)
	}
	if s.first <= s.utt && s.heard() != "" {
		s.judge(Event{Kind: Partial})
	}
}

// A voice is the caller's own when most of it is about as loud as the caller is: of the
// latest 320 ms, five eighths for a stop word, which is short, and three quarters for
// other words; and, where no word says so, nearly three quarters of OverlapMax. Now and
// then somebody behind the caller is as loud for a syllable, and recognisers are sure of
// words in what they say: of eight people 10 dB behind, eleven frames of sixteen at most
// in half an hour. Of "stop" the vowel alone is loud, six frames in some voices, but at a
// stretch, which happens in one of two hundred overlaps of those people.
const (
	ownFrames  = 16
	ownStop    = 10
	ownStretch = 6
	ownWords   = 12
	ownPercent = 73
)

// own is how many of the latest frames of the voice are as loud as the caller is.
func (s *State) own() int { return bits.OnesCount64(s.voice & (1<<ownFrames - 1)) }

// stretch is how many of them are so without a gap.
func (s *State) stretch() int { return bits.TrailingZeros64(^s.voice) }

// theirs says that words of the overlap are the caller's.
func (s *State) theirs(o *overlap) bool {
	return o.stop && (s.near >= ownStop || s.steady >= ownStretch) ||
		s.barges(o) >= 2 && s.near >= ownWords && (!s.salutation || s.spoken >= s.Config.Salutation)
}

// lasting says that the caller's own voice has gone on for bargeAfter. Of more than
// 1.28 s the latest are weighed.
func (s *State) lasting() bool {
	after := s.bargeAfter()
	if s.hot < after {
		return false
	}
	n := min(64, int(after/media.FrameTime))
	return 100*bits.OnesCount64(s.voice<<(64-n)) >= ownPercent*n
}

// judge weighs the words of the overlap.
func (s *step) judge(e Event) {
	o := &s.read().words
	switch {
	case o.any == 0:
		if e.Kind == Final && e.Last && !s.speaking && !s.answer {
			s.pass()
		}
	case s.barges(o) == 0 && !o.stop:
		if !s.speaking && !s.answer { // an answer stays in the turn until the agent has finished
			s.pass()
		}
	case e.Unsure:
		// A guess.
	case s.theirs(o):
		s.win()
	}
}

// checkOverlap weighs what the detector hears, on every frame of the overlap.
func (s *step) checkOverlap(e Event) {
	o := &s.read().words
	switch {
	case !s.answer && s.lasting() && (o.any == 0 || s.barges(o) > 0 || o.stop):
		s.win()
	case !s.answer && !s.speaking && o.any > 0 && s.barges(o) == 0 && !o.stop:
		s.pass()
	case !s.speaking && o.any == 0 && s.now-s.lastSpeech >= s.Config.OverlapIdle,
		s.now-s.overlapAt >= s.verdict():
		s.pass()
	}
}

// win cuts the agent: the caller has the floor.
func (s *step) win() {
	s.cut()
	s.toListener()
}

func (s *step) cut() {
	s.ducked, s.salutation = false, false
	s.interrupted = s.line == Greeting
	s.do(Action{Kind: Cut})
	s.hangup, s.toolsDue, s.results, s.committed = false, false, false, false
	s.reprompts = 0
	s.Phase = Speaking // until toListener or commit moves on
}

// pass restores the voice; nothing was lost. Words that are no answer are
// forgotten with the overlap, unless it goes on or its text is still to come: a
// slow recogniser's "stop" counts when it arrives. A word of the caller's own that came
// with the beginning of the reply is answered after it, and so is more than a salutation
// that came with the first message.
func (s *step) pass() {
	s.restore()
	if s.Phase == Yielding {
		s.Phase = Speaking
	}
	more := s.early && s.near >= ownStop && s.read().words.words > 0
	more = more || s.salutation && !s.onlySalutes()
	if !s.answer && !more && !s.speaking && s.last >= s.utt {
		s.forgetTurn()
		s.do(Action{Kind: DropTurn, Turn: s.turn})
	}
}

func (s *step) restore() {
	if s.ducked {
		s.ducked = false
		s.do(Action{Kind: Duck})
	}
}
