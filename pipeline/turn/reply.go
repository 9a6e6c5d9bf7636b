package turn

import "parley/media"

// reply is the agent's reply: being made, or heard.
type reply struct {
	Line            Line       // the agent's own line it is; NoLine when the model made it
	Since           media.Time // when it was asked for
	AudibleAt       media.Time // its first audio
	Tools           toolStage
	Then            next
	Uninterruptible bool // the caller may not interrupt it now
}

// toolStage follows the functions that replies asked for, and what else the model has yet to answer.
type toolStage uint8

const (
	noTools      toolStage = iota
	toolsRunning           // not all have their results
	toolsDone              // they have, and the follow-up waits for the caller
	answerOwed             // a follow-up waits that an interruption does not end: a process died before it answered
)

// next is what follows a reply.
type next uint8

const (
	thenListen next = iota
	thenHangUp      // the model wants to end the call
)

// ready begins the conversation, or asks first who answered.
func (s *step) ready() {
	if s.Phase == Connecting && !s.screen() {
		s.say(Greeting)
	}
}

// say begins one of the agent's own lines. A line that turns out to be empty
// drains at once.
func (s *step) say(l Line) {
	s.Phase, s.Reply.Since, s.Reply.Line, s.Idle.At = Thinking, s.now, l, 0
	if s.End.Reason != "" {
		s.Phase = Closing
	}
	s.do(Action{Kind: Say, Line: l})
}

func (s *step) firstAudio(e Event) {
	if s.Phase != Thinking && s.Phase != ToolWait {
		return
	}
	s.answered()
	s.Phase, s.Reply.AudibleAt = Speaking, s.now
	s.Reply.Uninterruptible = s.uninterruptible(true)
	if s.Voice.Kind == voiceSpeech {
		if s.salutes() {
			s.Overlap.Kind = overlapSalutation
		}
		e.Tail = Unfinished
		s.yield(e)
	}
}

// answered closes the turn: its reply has begun to be heard or to have effects.
func (s *step) answered() {
	if s.Caller.Commitment != uncommitted {
		s.Caller.Commitment = uncommitted
		s.forgetTurn()
	}
}

// checkThink gives up a reply of which nothing was heard in time.
func (s *step) checkThink() {
	if s.now-s.Reply.Since >= s.cfg.Think {
		s.do(Action{Kind: GiveUp})
		s.failed()
	}
}

// failed is the end of a reply by a fault. What was already made of it is still
// played; a reply without audio is apologised for, but not for an apology.
func (s *step) failed() {
	if s.Phase != Thinking && s.Phase != ToolWait {
		return
	}
	s.answered()
	if s.Reply.Line == NoLine && s.Reply.Then != thenHangUp {
		s.say(Trouble)
		return
	}
	s.toListener()
}

func (s *step) toolsCalled() {
	s.Reply.Tools = toolsRunning
	if s.Phase == Thinking {
		s.Phase = ToolWait
		s.answered()
	}
}

// followUp answers the functions' results, or what is owed, once neither side speaks.
func (s *step) followUp() {
	if s.Reply.Tools < toolsDone || s.Phase != ToolWait {
		return
	}
	s.Reply.Tools, s.Reply.Line, s.Reply.Since, s.Idle.At = noTools, NoLine, s.now, 0
	s.Phase = Thinking
	s.do(Action{Kind: FollowUp})
}

// drained is the end of a reply: everything was played.
func (s *step) drained() {
	switch s.Phase {
	case Closing:
		if s.End.At == 0 {
			s.End.At = s.now + s.cfg.HangupGap
		}
		return
	case Speaking, Yielding, Thinking:
	default:
		return
	}
	if s.Reply.Then == thenHangUp && s.Phase != Yielding {
		s.hangUp()
		return
	}
	s.unduck()
	s.answered()
	s.toListener()
}

// rest is where the conversation goes when nothing is left to say.
func (s *step) rest() {
	switch {
	case s.Reply.Tools != noTools:
		s.Phase = ToolWait
		s.followUp()
		return
	case s.Reply.Then == thenHangUp:
		s.hangUp()
		return
	}
	s.Phase = Listening
	if s.Idle.At == 0 {
		s.armIdle()
	}
	s.do(Action{Kind: Listen})
}
