package turn

// A supervisor is a person who may speak in the agent's place. While they do, the caller's turns are kept and the agent answers none
// of them; when they have stepped out, the agent answers the next one. Whom the caller is transferred to
// counts as one while the agent stays; when the transfer fails the agent answers its result.

// speaker is who speaks to the caller.
type speaker uint8

const (
	agentSpeaks speaker = iota
	supervisorSpeaks
)

// Supervised says that a supervisor speaks in the agent's place.
func (s *State) Supervised() bool { return s.Speaker == supervisorSpeaks }

// ofReply says that the event tells of the agent's reply.
func (k EventKind) ofReply() bool {
	switch k {
	case FirstAudio, ReplyFailed, ToolsCalled, ToolsDone, Hangup, Drained:
		return true
	}
	return false
}

// stepIn stops the agent for a supervisor. Before the conversation has begun, and when it is being closed, nobody steps in.
func (s *step) stepIn(e Event) {
	switch s.Phase {
	case Connecting, Screening, Closing:
		return
	case Speaking, Yielding:
		s.interruptReply()
	case Thinking, ToolWait:
		s.do(Action{Kind: Cancel})
	default:
		if s.Reply.Tools != noTools { // the caller speaks while the reply waits for functions, and it may go on
			s.do(Action{Kind: Cancel})
		}
	}
	s.dropSpeculation()
	s.endCollecting(bySpeech)
	s.Speaker, s.Speculation.Allowed = supervisorSpeaks, false
	if e.Wait != TransferWait {
		s.Reply.Tools = noTools
	}
	s.Reply.Then, s.Idle.At, s.Greeting = thenListen, 0, greetingWhole
	if s.Phase == UserSpeaking || s.Phase == Pause {
		return // the caller's turn goes on
	}
	s.answered()
	s.toListener()
}

// stepOut gives the call back to the agent.
func (s *step) stepOut() {
	if s.Speaker == agentSpeaks {
		return
	}
	s.Speaker = agentSpeaks
	if s.Phase == Listening {
		s.armIdle()
	}
}

// keep is the end of a turn that the supervisor answers.
func (s *step) keep(text string, typed bool) {
	if keys := s.Pressed.take(); keys != "" {
		s.do(Action{Kind: NoteKeys, Text: keys})
	}
	s.do(Action{Kind: Keep, Turn: s.Caller.Number, Text: text, Again: s.Caller.Commitment != uncommitted, Typed: typed})
	s.Pauses.Learnt = s.Pauses.Average
	s.Caller.Commitment = uncommitted
	s.forgetTurn()
	s.toListener()
}
