package turn

import "parley/media"

// Screening finds out who answered an outbound call, a person or a machine
// (answering-machine detection, AMD). The agent keeps silent meanwhile where a machine
// does not get a conversation; else it talks as to a person.

// OnMachine is what a machine that answers gets.
type OnMachine uint8

// What a machine gets.
const (
	NotScreened   OnMachine = iota // there is no detection
	Converse                       // a conversation, as a person
	HangUpOn                       // nothing: the call ends
	LeaveAMessage                  // a message after the tone, then the call ends
)

// Answerer is who answered.
type Answerer uint8

// Who answers.
const (
	Undecided Answerer = iota
	Person             // also an assistant that screens calls, and the undecided
	Machine
)

// screening is what is known of who answered.
type screening struct {
	Stage screeningStage
	By    Answerer // with a stage of screeningSilent, or after it
}

type screeningStage uint8

const (
	screeningOff    screeningStage = iota // there is no detection, or it has decided
	screeningAside                        // the conversation goes on meanwhile
	screeningSilent                       // the agent keeps silent
)

// Answer is what was heard while the agent kept silent, as long as it does.
func (s *State) Answer() string {
	if s.Screening.Stage != screeningSilent {
		return ""
	}
	return s.Caller.heard()
}

// screen begins the screening, and says whether the agent keeps silent.
func (s *step) screen() bool {
	switch s.cfg.OnMachine {
	case NotScreened:
		return false
	case Converse:
		s.Screening.Stage = screeningAside
		return false
	}
	s.Screening.Stage, s.Phase = screeningSilent, Screening
	return true
}

// answeredBy takes what is known of who answered, and begins the conversation or leaves the
// message as soon as they may be spoken to.
func (s *step) answeredBy(e Event) {
	silent := s.Screening.Stage == screeningSilent
	if silent {
		s.Screening.By = e.By
	}
	switch {
	case silent && s.Phase != Screening: // the call ends for another reason
		s.noteAnswer()
	case e.By == Undecided:
		return
	case !silent:
	case e.By == Machine && s.cfg.OnMachine == HangUpOn:
		s.noteAnswer()
		s.stop(Event{Reason: media.Voicemail})
	case e.Kind == AnsweredBy:
		return
	case e.By == Machine:
		s.noteAnswer()
		s.forgetTurn()
		s.do(Action{Kind: LeaveMessage})
		s.Reply.Then = thenHangUp
		s.say(Greeting)
	default:
		// A first message answers what was said so far; without one the model does.
		if e.Line == Greeting {
			s.noteAnswer()
			s.forgetTurn()
		}
		s.say(Greeting)
	}
	s.Screening.Stage = screeningOff
}

// noteAnswer keeps what was heard before the conversation began.
func (s *step) noteAnswer() {
	if text := s.Caller.heard(); text != "" {
		s.do(Action{Kind: NoteAnswer, Text: text})
	}
}
