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
		s.ready()
	case Partial, Final:
		s.result(e)
	case Typed:
		s.typed(e.Text)
	case Digit:
		s.reprompts = 0
		if s.idleAt != 0 {
			s.armIdle()
		}
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
	case Stop:
		s.stop(e)
	}
}

func (s *step) ready() {
	if s.Phase != Connecting {
		return
	}
	s.say(Greeting)
}

// answered closes the turn: its reply has begun to be heard or to have effects.
func (s *step) answered() {
	if s.committed {
		s.committed = false
		s.forgetTurn()
	}
}

func (s *step) firstAudio(e Event) {
	if s.Phase != Thinking && s.Phase != ToolWait {
		return
	}
	s.answered()
	s.Phase = Speaking
	if s.speaking {
		e.Tail = Unfinished
		s.yield(e)
	}
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

func (s *step) frame(e Event) {
	began, ended := s.hear(e)
	switch {
	case began:
		s.speechBegan(e)
	case ended:
		s.do(Action{Kind: CloseUtterance})
		s.settled = false
		if s.Phase == UserSpeaking {
			s.Phase = Pause
		}
	}
	switch s.Phase {
	case Pause:
		s.checkEndpoint()
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

// speechBegan is the start of speech: a new turn, more of the current one, or an
// overlap with the agent's voice.
func (s *step) speechBegan(e Event) {
	switch s.Phase {
	case Listening:
		s.newTurn()
		s.open()
		s.Phase = UserSpeaking
	case Pause:
		if s.last < s.utt {
			s.do(Action{Kind: ResumeUtterance})
		} else {
			s.open()
		}
		s.Phase = UserSpeaking
	case Thinking:
		if s.committed {
			// Nothing of the reply was heard: the caller goes on with the same turn.
			s.do(Action{Kind: Cancel})
			s.open()
			s.Phase = UserSpeaking
			return
		}
		s.overlap(e)
	case Speaking:
		s.overlap(e)
	case ToolWait:
		s.newTurn()
		s.open()
		s.Phase = UserSpeaking
	default: // Connecting, Closing: kept for the recogniser, decides nothing
		s.open()
	}
}

// overlap opens the recogniser on speech over the agent's voice.
func (s *step) overlap(e Event) {
	s.newTurn()
	s.open()
	if s.Phase == Speaking {
		s.yield(e)
	}
}

// yield lowers the agent's voice until the verdict.
func (s *step) yield(e Event) {
	if s.Config.Barge == Never {
		return
	}
	s.Phase, s.overlapAt = Yielding, s.now
	s.answer = e.Tail <= s.Config.TailAnswer || e.Question && e.Tail != Unfinished
	s.ducked = true
	s.do(Action{Kind: Duck, On: true})
}

func (s *step) open() {
	s.utt++
	s.settled = false
	if s.first == 0 {
		s.first = s.utt
	}
	s.do(Action{Kind: OpenUtterance})
}

func (s *step) newTurn() {
	s.turn++
	s.forgetTurn()
	s.spoken, s.loud = s.hot, s.hotLoud
	s.do(Action{Kind: BeginTurn, Turn: s.turn})
}

func (s *step) forgetTurn() {
	s.text, s.partial, s.base, s.guessed, s.spoken, s.first = "", "", "", false, 0, s.utt+1
}

// checkEndpoint commits the turn when it is over, or drops what was no speech.
func (s *step) checkEndpoint() {
	if s.now < s.endpoint() || s.hot > 0 {
		return
	}
	if !s.complete() && s.now < s.lastSpeech+s.Config.Recogniser {
		return
	}
	if text := s.heard(); text != "" {
		s.commit(text, false)
		return
	}
	long := s.spoken >= s.Config.NoiseMax
	s.forgetTurn()
	s.do(Action{Kind: DropTurn, Turn: s.turn})
	if long && !s.apologised {
		s.apologised, s.hangup = true, false
		s.say(Sorry)
		return
	}
	s.rest()
}

func (s *step) commit(text string, typed bool) {
	s.do(Action{Kind: Commit, Turn: s.turn, Text: text, Again: s.committed, Typed: typed})
	s.base, s.guessed = s.text, s.partial != ""
	s.text, s.partial = text, ""
	s.committed, s.apologised = true, false
	s.reprompts, s.idleAt, s.results, s.hangup, s.line = 0, 0, false, false, NoLine
	s.Phase, s.since = Thinking, s.now
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

func (s *step) result(e Event) {
	ours, words := s.listenTo(e)
	if !ours {
		return
	}
	switch s.Phase {
	case Pause:
		s.checkEndpoint()
	case Thinking:
		if s.committed && words && e.Kind == Final {
			// More of the same turn, and nothing of the reply was heard.
			s.do(Action{Kind: Cancel})
			s.toListener()
		}
	case Yielding:
		s.judge(e)
	case Speaking:
		if s.Config.Barge != Never {
			s.judge(e) // words that came after the verdict
		}
	}
}

func (s *step) typed(text string) {
	switch s.Phase {
	case Closing, Connecting:
		return
	case Speaking, Yielding:
		s.cut()
	case Thinking:
		s.do(Action{Kind: Cancel})
	}
	if s.committed {
		text = join(s.text, text)
	} else {
		s.newTurn()
	}
	s.commit(text, true)
}

func (s *step) interrupt() {
	switch s.Phase {
	case Speaking, Yielding:
		s.cut()
		s.toListener()
	case Thinking:
		s.do(Action{Kind: Cancel})
		s.hangup = false
		s.answered()
		s.toListener()
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

func (s *step) checkIdle() {
	if s.idleAt == 0 || s.now < s.idleAt {
		return
	}
	if s.reprompts >= s.Config.Reprompts {
		s.stop(Event{Reason: media.AgentHangup, Detail: "idle", Line: Goodbye})
		return
	}
	s.reprompts++
	s.say(Reprompt)
}
