package turn

// A call whose process has died goes on in another one, from the last State at rest that was stored. The caller has heard nothing for a
// while: the agent says that it is there again. Then it answers what was left without an answer, or listens. A caller who speaks over
// that line has what they say answered, with what was owed; noise does not cost them the answer.

// adopted goes on with the call. What is counted and learnt of the caller stays. All that hangs on a time begins anew, for much time has
// passed since, and so does what is known of the recogniser, which is another one. The turn in which the process died has a number of
// its own.
func (s *step) adopted(e Event) {
	last := s.Recogniser.Latest
	s.State = State{
		Voice:       voice{LastSpeech: s.now},
		Recogniser:  recogniser{First: last + 1, Latest: last, Recognised: last},
		Caller:      callerTurn{Number: s.Caller.Number + 1},
		Pauses:      s.Pauses,
		Speculation: s.Speculation,
		Screening:   screening{By: s.Screening.By},
	}
	if e.Wait == AnswerWait {
		s.Reply.Tools = answerOwed
	}
	s.say(Reconnected)
}
