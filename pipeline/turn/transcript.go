package turn

import "parley/media"

// recogniser is how far the recogniser is with the utterances that it was given, which
// are numbered from 1.
type recogniser struct {
	First      int        // the first of the caller's turn
	Latest     int        // the latest that was opened
	Recognised int        // the latest that is completely recognised
	Settled    int        // equal to Latest when a final result came since the last pause
	OverAgent  int        // the latest that began over the agent's voice
	FinishedAt media.Time // when the latest was finished; notFinished: it goes on in the pause
	BehindAt   media.Time // when the recogniser was last behind
}

// notFinished is the FinishedAt of an utterance that goes on while the caller pauses.
const notFinished media.Time = -1

// listenTo takes in a recognition result and says whether it belongs to the
// caller's current turn, and whether it brought words to it.
func (s *step) listenTo(e Event) (ours, words bool) {
	r, t := &s.Recogniser, &s.Caller
	speaking := s.Voice.Kind == voiceSpeech
	// While the caller speaks, an end of the utterance in progress is one that was
	// taken back: more of it follows.
	if e.Kind == LastFinal && e.Utt > r.Recognised && e.Utt <= r.Latest && !(speaking && e.Utt == r.Latest) {
		r.Recognised = e.Utt
	}
	if r.First == 0 || e.Utt < r.First || e.Utt > r.Latest {
		return false, false
	}
	known := t.heard()
	defer func() {
		if !sameWords(known, t.heard()) {
			t.TextAt = e.Now
			s.ask()
		}
	}()
	if e.Kind == Partial {
		t.Partial = e.Text
		return true, e.Text != ""
	}
	before := t.Text
	if t.Commitment == committedGuess {
		t.Text, t.Commitment = t.Base, committed
	}
	t.Partial = ""
	if !speaking && (e.Kind == LastFinal || !s.cfg.Batch) { // a batch recogniser's piece is not the rest
		r.Settled = r.Latest
	}
	t.Text = join(t.Text, e.Text)
	return true, e.Text != "" && !sameWords(before, t.Text)
}

// textComplete says whether no more text is to be expected for what was spoken.
func (s *State) textComplete() bool {
	r := &s.Recogniser
	return s.Caller.Partial == "" && (r.Settled == r.Latest || r.Recognised >= r.Latest)
}

// result takes what the recogniser made of an utterance.
func (s *step) result(e Event) {
	ours, words := s.listenTo(e)
	if !ours {
		return
	}
	switch s.Phase {
	case Pause:
		if s.Speculation.Stage == speculating && s.misses(s.Caller.heard()) {
			s.dropSpeculation()
		}
		s.checkEndpoint()
		s.checkSpeculate()
	case Thinking:
		if s.Caller.Commitment != uncommitted && words && e.final() {
			// More of the same turn, and nothing of the reply was heard.
			s.do(Action{Kind: Cancel})
			s.toListener()
		}
	case Yielding:
		s.judge(e)
	case Speaking:
		if !s.Reply.Uninterruptible {
			s.judge(e) // words that came after the false interruption
		}
	}
}
