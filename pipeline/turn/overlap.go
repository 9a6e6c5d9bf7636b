package turn

// The verdict on an overlap: the caller speaks while the agent is heard. The
// voice is lowered at once; within Verdict it is either cut or restored, so that
// a cough or an "uh-huh" loses no syllable. What the detector hears and what the
// recogniser reads go through the same two functions here.

// judge weighs the words of the overlap.
func (s *step) judge(e Event) {
	o := &s.read().words
	switch {
	case o.any == 0:
		if e.Kind == Final && e.Last && !s.speaking && !s.answer {
			s.pass()
		}
	case s.answer:
		// Answered when the agent has finished: the words stay in the turn.
		if o.stop || o.words >= 2 {
			s.win()
		}
	case s.loud == 0, e.Unsure:
		// Not this caller's voice, or a guess.
	case o.stop, o.words >= 2:
		s.win()
	case o.words == 0 && !s.speaking:
		s.pass()
	}
}

// checkOverlap weighs what the detector hears, on every frame of the overlap.
func (s *step) checkOverlap(e Event) {
	o := &s.read().words
	switch {
	case !s.answer && s.loudRun >= s.Config.OverlapMax && (o.any == 0 || o.words > 0):
		s.win()
	case !s.answer && !s.speaking && o.any > 0 && o.words == 0:
		s.pass()
	case !s.speaking && o.any == 0 && s.now-s.lastSpeech >= s.Config.OverlapIdle,
		s.now-s.overlapAt >= s.Config.Verdict:
		s.pass()
	}
}

// win cuts the agent: the caller has the floor.
func (s *step) win() {
	s.cut()
	s.toListener()
}

func (s *step) cut() {
	s.ducked = false
	s.do(Action{Kind: Cut})
	s.hangup, s.toolsDue, s.results, s.committed = false, false, false, false
	s.reprompts = 0
	s.Phase = Speaking // until toListener or commit moves on
}

// pass restores the voice; nothing was lost. Words that are no answer are
// forgotten with the overlap, unless it goes on or its text is still to come: a
// slow recogniser's "stop" counts when it arrives.
func (s *step) pass() {
	s.restore()
	if s.Phase == Yielding {
		s.Phase = Speaking
	}
	if !s.answer && !s.speaking && s.last >= s.utt {
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
