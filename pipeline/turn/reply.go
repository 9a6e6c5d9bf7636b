package turn

// What becomes of a reply.

func (s *step) ready(e Event) {
	if s.Phase != Connecting {
		return
	}
	if e.Settled {
		s.forgetTurn()
	}
	s.say(Greeting)
}

func (s *step) firstAudio(e Event) {
	if s.Phase != Thinking && s.Phase != ToolWait {
		return
	}
	s.answered()
	s.Phase, s.opening, s.audibleAt = Speaking, true, s.now
	s.shut = s.closed()
	if s.speaking {
		s.salutation = s.salutation || s.salutes(s.now)
		e.Tail = Unfinished
		s.yield(e)
	}
}

// answered closes the turn: its reply has begun to be heard or to have effects.
func (s *step) answered() {
	if s.committed {
		s.committed = false
		s.forgetTurn()
	}
}

// failed is the end of a reply by a fault. What was already made of it is still
// played; a reply without audio is apologised for, but not for an apology.
func (s *step) failed() {
	if s.Phase != Thinking && s.Phase != ToolWait {
		return
	}
	s.answered()
	if s.line == NoLine && !s.hangup {
		s.say(Trouble)
		return
	}
	s.toListener()
}

// followUp answers the functions' results once nobody speaks.
func (s *step) followUp() {
	if !s.results || s.toolsDue || s.Phase != ToolWait {
		return
	}
	s.results, s.idleAt, s.line = false, 0, NoLine
	s.Phase, s.since = Thinking, s.now
	s.do(Action{Kind: FollowUp})
}

// drained is the end of a reply: everything was played.
func (s *step) drained() {
	if s.Phase == Closing {
		if s.endAt == 0 {
			s.endAt = s.now + s.Config.HangupGap
		}
		return
	}
	if s.Phase != Speaking && s.Phase != Yielding && s.Phase != Thinking {
		return
	}
	if s.hangup && s.Phase != Yielding {
		s.hangUp()
		return
	}
	s.restore()
	s.answered()
	s.toListener()
}
