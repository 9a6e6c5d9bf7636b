package turn

import "parley/media"

// Silence and the end of the call.

// idle follows a caller who says nothing.
type idle struct {
	Held      bool       // the caller has the agent on hold
	HeldAt    media.Time // since when
	At        media.Time // when the agent will ask; 0: not armed
	Reprompts int        // how often it asked since the caller was last heard
	Apologies int        // how often it said "sorry?" since the caller was last understood: once at most
}

// ending is the end of the call.
type ending struct {
	Reason  media.EndReason // empty: the call goes on
	Detail  string
	At      media.Time // when the hang-up is due; 0: not armed
	CloseBy media.Time // when it is due whatever the last words take
}

// stop ends the call, after a last line if there is one. A second stop without a
// line cuts the last words of the first one short. Two people who talk to each other hear
// no last line.
func (s *step) stop(e Event) {
	if s.Phase == Bridged || s.Supervised() {
		e.Line = NoLine
	}
	if s.End.Reason == "" {
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
	s.dropSpeculation()
	s.unduck()
	s.Phase = Closing
	s.End.Reason, s.End.Detail, s.End.CloseBy = reason, detail, s.now+s.cfg.ClosingMax
}

// hangUp ends the call as the model wished: its last words were heard.
func (s *step) hangUp() {
	s.close(media.AgentHangup, "end_call")
	s.End.At = s.now + s.cfg.HangupGap
}

func (s *step) checkEnd() {
	if s.End.At != 0 && s.now >= s.End.At || s.now >= s.End.CloseBy {
		s.end()
	}
}

func (s *step) end() {
	s.Phase = Over
	s.do(Action{Kind: End, Reason: s.End.Reason, Detail: s.End.Detail})
}

// connected ends the agent's part, a closing of the call that has begun too.
func (s *step) connected() {
	s.dropSpeculation()
	s.Phase, s.End, s.Speaker = Bridged, ending{}, agentSpeaks
}

// hold stops what waits for the caller, who hears nothing and cannot speak.
func (s *step) hold() {
	if s.Idle.Held {
		return
	}
	s.Idle.Held, s.Idle.HeldAt = true, s.now
	s.dropSpeculation()
	if s.Phase == Yielding {
		s.resume()
	}
}

// unhold gives the caller the time to speak that they had before.
func (s *step) unhold() {
	s.Idle.Held = false
	s.Collecting.By += s.now - s.Idle.HeldAt
	if s.Idle.At != 0 {
		s.armIdle()
	}
}

func (s *step) armIdle() {
	if s.cfg.Idle > 0 && !s.Supervised() {
		s.Idle.At = s.now + s.cfg.Idle
	}
}
