package turn

import "parley/media"

// step carries one Step: the state being changed and the actions so far.
type step struct {
	State
	cfg  *Config
	now  media.Time
	acts []Action
}

func (s *step) do(a Action) { s.acts = append(s.acts, a) }

// Step takes one event. It appends the actions to acts, in the order in which
// they must be carried out, and returns the state after them.
func Step(c *Config, s State, e Event, acts []Action) (State, []Action) {
	m := step{State: s, cfg: c, now: e.Now, acts: acts}
	if s.Phase != Over {
		m.event(e)
	}
	return m.State, m.acts
}

func (s *step) event(e Event) {
	if s.Phase == Bridged && e.Kind != Stop {
		return
	}
	switch e.Kind {
	case Frame:
		s.frame(e)
	case Ready:
		s.ready()
	case Tick:
		s.tick(e)
	case AnsweredBy, GreetedBy:
		s.answeredBy(e)
	case Partial, Final, LastFinal:
		s.result(e)
	case Words:
		s.endCollecting(bySpeech)
	case Typed:
		s.typed(e.Text)
	case Digit:
		s.digit(e.Key)
	case Collect:
		s.Collecting = collecting{Stage: collectPrompt, Number: e.Number}
	case Collected:
		s.Collecting = collecting{LateUntil: s.Collecting.LateUntil}
	case Interrupt:
		s.button()
	case FirstAudio:
		s.firstAudio(e)
	case ReplyFailed:
		s.failed()
	case ToolsCalled:
		s.toolsCalled()
	case ToolsDone:
		s.Reply.Tools = toolsDone
		s.followUp()
	case Hangup:
		s.Reply.Then = thenHangUp
	case Drained:
		s.drained()
	case Held:
		s.hold()
	case Resumed:
		s.unhold()
	case Connected:
		s.connected()
	case Stop:
		s.stop(e)
	}
}

// frame hears 20 ms of the caller and checks the timers of the phase.
func (s *step) frame(e Event) {
	if s.Idle.Held {
		s.Reply.Since += media.FrameTime
	}
	began, ended := s.hear(e)
	s.Caller.Asked = max(s.Caller.Asked, e.Question)
	s.Speculation.Allowed = e.MaySpeculate && !s.Screens() && !s.WithMachine()
	if e.Behind {
		s.Recogniser.BehindAt = s.now
	}
	opened := s.Reply.Uninterruptible
	s.Reply.Uninterruptible = s.uninterruptible(e.First)
	opened = opened && !s.Reply.Uninterruptible
	if ended {
		s.Recogniser.FinishedAt, s.Recogniser.Settled = notFinished, 0
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
		s.checkSpeculate()
	case Speaking:
		if opened && !began {
			s.interruptible(e)
		}
	case Yielding:
		s.checkOverlap()
	case Thinking:
		s.checkThink()
	case Listening:
		s.checkIdle()
	case Closing:
		s.checkEnd()
	}
}
