package turn

import "parley/media"

// Silence and the end of the call.

// stop ends the call, after a last line if there is one. A second stop without a
// line cuts the last words of the first one short.
func (s *step) stop(e Event) {
	if s.reason == "" {
		s.close(e.Reason, e.Detail)
		if e.Line != NoLine {
			s.do(Action{Kind: Finish})
			s.say(e.Line)
		}
	}
	if e.Line == NoLine {
		s.end()
	}
}

func (s *step) close(reason media.EndReason, detail string) {
	s.retract()
	s.reason, s.detail = reason, detail
	s.Phase, s.closeBy = Closing, s.now+s.Config.ClosingMax
	s.restore()
}

// hangUp ends the call as the model wished: its last words were heard.
func (s *step) hangUp() {
	s.close(media.AgentHangup, "end_call")
	s.endAt = s.now + s.Config.HangupGap
}

func (s *step) end() {
	s.Phase = Over
	s.do(Action{Kind: End, Reason: s.reason, Detail: s.detail})
}

func (s *step) armIdle() {
	if s.Config.Idle > 0 {
		s.idleAt = s.now + s.Config.Idle
	}
}

// hold stops what waits for the caller, who hears nothing and cannot speak.
func (s *step) hold() {
	s.held = true
	s.retract()
	if s.Phase == Yielding {
		s.pass()
	}
}

// resume gives the caller the time to speak that they had before.
func (s *step) resume() {
	s.held = false
	if s.idleAt != 0 {
		s.armIdle()
	}
}

func (s *step) checkIdle() {
	if s.held || s.idleAt == 0 || s.now < s.idleAt {
		return
	}
	if s.reprompts >= s.Config.Reprompts {
		s.stop(Event{Reason: media.AgentHangup, Detail: "idle", Line: Goodbye})
		return
	}
	s.reprompts++
	s.say(Reprompt)
}
