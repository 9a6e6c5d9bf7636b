package turn

import "parley/media"

// State is everything that is known about whose turn it is. The zero value is a
// conversation that has not begun. It is a plain value: store it, by JSON or gob, and the
// conversation can be resumed or compared from there. Its parts have exported fields for
// that alone; only Step changes them.
type State struct {
	Phase       Phase
	Voice       voice
	Recogniser  recogniser
	Caller      callerTurn
	Pauses      pauses
	Reading     reading // of the caller's text
	Score       score
	Speculation speculation
	Reply       reply
	Speaker     speaker
	Overlap     overlap
	Greeting    greetingStage
	Screening   screening
	Idle        idle
	Fillers     fillers
	Collecting  collecting
	Pressed     pressed
	End         ending
}

// Turn is the number of the caller's current turn, from 1.
func (s *State) Turn() int { return s.Caller.Number }

// Utterance is the number of the latest utterance opened, from 1.
func (s *State) Utterance() int { return s.Recogniser.Latest }

// Owed says whether the recogniser owes a last result for the latest utterance.
func (s *State) Owed() bool { return s.Recogniser.Recognised < s.Recogniser.Latest }

// OverAgent says whether utterance utt began while the agent was speaking.
func (s *State) OverAgent(utt int) bool { return utt > 0 && utt == s.Recogniser.OverAgent }

// Ending says why the call is being closed; empty while it is not.
func (s *State) Ending() media.EndReason { return s.End.Reason }

// Heard is the text of the caller's turn as far as it is known.
func (s *State) Heard() string {
	if s.Phase != UserSpeaking && s.Phase != Pause && s.Phase != Yielding {
		return ""
	}
	return s.Caller.heard()
}

// LeftOpen is the text of a turn of the caller's that the end of the call leaves uncommitted, and again whether it goes on
// with one that was committed. What a machine says is none.
func (s *State) LeftOpen() (text string, again bool) {
	if s.Screens() || s.WithMachine() {
		return "", false
	}
	return s.Heard(), s.Caller.Commitment != uncommitted
}

// Rests says that nobody speaks and nothing is waited for: the agent listens, and all that was said is recognised.
func (s *State) Rests() bool {
	return s.Phase == Listening && !s.Owed() && !s.Collects() && !s.Held() && !s.Supervised() && s.Pressed.Keys == "" && s.End.Reason == ""
}

// Collects says that a function waits for a number that the caller types.
func (s *State) Collects() bool { return s.Collecting.Stage != collectOff }

// Held says that the caller has the agent on hold.
func (s *State) Held() bool { return s.Idle.Held }

// Paused says whether the caller pauses within a turn, and since when.
func (s *State) Paused() (since media.Time, ok bool) { return s.Voice.LastSpeech, s.Phase == Pause }

// Silence is how long the caller has been silent at now.
func (s *State) Silence(now media.Time) media.Time { return now - s.Voice.LastSpeech }
