package turn

import "parley/media"

// step carries one Step: the state being changed and the actions so far.
type step struct {
	State
	now  media.Time
	acts []Action
}

func (s *step) do(a Action) { s.acts = append(s.acts, a) }

// Step takes one event. It appends the actions to acts, in the order in which
// they must be carried out, and returns the state after them.
func Step(s State, e Event, acts []Action) (State, []Action) {
	m := step{State: s, now: e.Now, acts: acts}
	if s.Phase != Over {
		m.event(e)
	}
	return m.State, m.acts
}

func (s *step) event(e Event) {
	switch e.Kind {
	case Frame:
		s.frame(e)
	case Ready:
		s.ready(e)
	case Partial, Final:
		s.result(e)
	case Typed:
		s.typed(e.Text)
	case Digit:
		s.digit()
	case Interrupt:
		s.interrupt()
	case FirstAudio:
		s.firstAudio(e)
	case ReplyFailed:
		s.failed()
	case ToolsCalled:
		s.toolsDue = true
		if s.Phase == Thinking {
			s.Phase = ToolWait
			s.answered()
		}
	case ToolsDone:
		s.toolsDue, s.results = false, true
		s.followUp()
	case Hangup:
		s.hangup = true
	case Drained:
		s.drained()
	case Held:
		s.hold()
	case Resumed:
		s.resume()
	case Stop:
		s.stop(e)
	}
}

func (s *step) frame(e Event) {
	if s.held {
		s.since += media.FrameTime
	}
	began, ended := s.hear(e)
	s.asked, s.opening, s.ahead.allowed = max(s.asked, e.Question), e.First, e.Advance
	if e.Behind {
		s.behindAt = s.now
	}
	shut := s.shut
	s.shut = s.closed()
	if ended {
		s.unfinished, s.settled = true, false
		if s.Phase == UserSpeaking {
			s.Phase = Pause
		}
	}
	s.checkFinish()
	if began {
		s.speechBegan(e)
	}
	switch s.Phase {
	case UserSpeaking:
		s.checkEndless()
	case Pause:
		s.checkEndpoint()
		s.checkAdvance()
	case Speaking:
		if shut && !s.shut && !began {
			s.opened(e)
		}
	case Yielding:
		s.checkOverlap(e)
	case Thinking:
		if s.now-s.since >= s.Config.Think {
			s.do(Action{Kind: GiveUp})
			s.failed()
		}
	case Listening:
		s.checkIdle()
	case Closing:
		if s.endAt != 0 && s.now >= s.endAt || s.now >= s.closeBy {
			s.end()
		}
	}
}

// checkFinish finishes the utterance after which the caller is silent: at once, or for a
// batch recogniser when the turn may be over, because the caller who goes on before that
// would make the request one in vain.
func (s *step) checkFinish() {
	if !s.unfinished || s.Config.Batch && s.Phase == Pause && (s.hot > 0 || s.now < s.lastSpeech+s.leastDelay()) {
		return
	}
	s.unfinished, s.finishedAt = false, s.now
	s.do(Action{Kind: CloseUtterance})
}

// say begins one of the agent's own lines. A line that turns out to be empty
// drains at once.
func (s *step) say(l Line) {
	s.Phase, s.since, s.idleAt, s.line = Thinking, s.now, 0, l
	if s.reason != "" {
		s.Phase = Closing
	}
	s.do(Action{Kind: Say, Line: l})
}

// rest is where the conversation goes when nobody has anything to say.
func (s *step) rest() {
	switch {
	case s.results || s.toolsDue:
		s.Phase = ToolWait
		s.followUp()
		return
	case s.hangup:
		s.hangUp()
		return
	}
	s.Phase = Listening
	if s.idleAt == 0 {
		s.armIdle()
	}
	s.do(Action{Kind: Listen})
}

// toListener gives the floor to the caller, who may be speaking already.
func (s *step) toListener() {
	switch {
	case s.speaking && s.first > s.utt:
		// The turn that this speech began in was given up for a typed one.
		s.newTurn()
		s.first = s.utt
		s.Phase = UserSpeaking
	case s.speaking:
		s.Phase = UserSpeaking
	case s.first != 0 && s.first <= s.utt && (s.heard() != "" || s.last < s.utt):
		s.Phase = Pause
		s.checkEndpoint()
	default:
		s.rest()
	}
}
