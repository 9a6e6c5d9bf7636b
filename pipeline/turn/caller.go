package turn

import (
	"unicode/utf8"

	"parley/media"
)

// What the caller does: speech, its text, typed turns and the button.

// speechBegan is the start of speech: a new turn, more of the current one, or an
// overlap with the agent's voice.
func (s *step) speechBegan(e Event) {
	switch s.Phase {
	case Listening:
		s.newTurn()
		s.open()
		s.Phase = UserSpeaking
	case Pause:
		s.retract()
		s.pausedFor(s.gap)
		switch {
		case s.unfinished:
			s.unfinished = false
		case s.last < s.utt:
			s.do(Action{Kind: ResumeUtterance})
		default:
			s.open()
		}
		s.Phase = UserSpeaking
	case Thinking:
		if s.committed {
			// Nothing of the reply was heard: the caller goes on with the same turn.
			s.do(Action{Kind: Cancel})
			s.pausedFor(s.gap)
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
	s.salutation = s.salutes(s.now) && e.Tail > s.Config.TailAnswer
	s.open()
	if s.Phase == Speaking {
		s.over = s.utt
		s.yield(e)
	}
}

// earlyOverlap is how soon after a reply has begun speech is taken for more of the turn
// that it answers, at first: the reply came between two words.
const earlyOverlap = 500 * media.Millisecond

// yield lowers the agent's voice until the verdict.
func (s *step) yield(e Event) {
	if s.shut {
		return
	}
	s.Phase, s.overlapAt = Yielding, s.now
	s.answer = e.Tail <= s.Config.TailAnswer || e.Question != NoQuestion && e.Tail != Unfinished
	s.salutation = s.salutation && !s.answer
	s.early = s.line == NoLine && s.now-s.audibleAt <= earlyOverlap
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
	s.spoken, s.near, s.steady = s.hot, s.own(), s.stretch()
	s.do(Action{Kind: BeginTurn, Turn: s.turn})
}

func (s *step) forgetTurn() {
	s.text, s.partial, s.base, s.guessed, s.spoken, s.first = "", "", "", false, 0, s.utt+1
	s.asked, s.paused, s.ahead.tries, s.salutation = NoQuestion, s.learnt, 0, false
}

// checkEndpoint commits the turn when it is over, or drops what was no speech.
func (s *step) checkEndpoint() {
	if s.now < s.endpoint() || s.hot > 0 {
		return
	}
	if !s.complete() && s.patient(s.now) {
		return
	}
	text := s.heard()
	if text != "" && !s.onlySalutes() {
		s.commit(text, false)
		return
	}
	long := !s.salutation && s.spoken >= s.Config.NoiseMax
	s.retract()
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
	line := s.lineFor(text, typed)
	if line != NoLine {
		s.retract()
	}
	ready := s.settle(text, typed)
	s.do(Action{Kind: Commit, Turn: s.turn, Text: text, Again: s.committed, Typed: typed, Ready: ready, Line: line})
	if !typed && !(s.committed && sameWords(text, s.said)) {
		s.learnt = s.paused // a cough is no pause in speech
	}
	s.base, s.guessed = s.text, s.partial != ""
	s.text, s.partial, s.said = text, "", text
	s.committed, s.apologised = true, false
	s.reprompts, s.idleAt, s.results, s.hangup, s.line = 0, 0, false, false, line
	s.Phase, s.since = Thinking, s.now
}

func (s *step) result(e Event) {
	ours, words := s.listenTo(e)
	if !ours {
		return
	}
	switch s.Phase {
	case Pause:
		if s.ahead.begun && !sameMeaning(s.Config.Language, s.ahead.text, s.heard()) {
			s.retract()
		}
		s.checkEndpoint()
		s.checkAdvance()
	case Thinking:
		if s.committed && words && e.Kind == Final {
			// More of the same turn, and nothing of the reply was heard.
			s.do(Action{Kind: Cancel})
			s.toListener()
		}
	case Yielding:
		s.judge(e)
	case Speaking:
		if !s.shut {
			s.judge(e) // words that came after the verdict
		}
	}
}

// maxTyped bounds a turn that goes on in writing, in Unicode code points: what is typed
// beyond it, before an answer, is a turn of its own.
const maxTyped = 4000

func (s *step) typed(text string) {
	switch s.Phase {
	case Closing, Connecting:
		return
	case Speaking, Yielding:
		s.cut()
	case Thinking:
		s.do(Action{Kind: Cancel})
	}
	if joined := join(s.text, text); s.committed && utf8.RuneCountInString(joined) <= maxTyped {
		text = joined
	} else {
		s.committed = false
		s.newTurn()
	}
	s.commit(text, true)
}

// digit is a key: the caller is there, and wants to be heard.
func (s *step) digit() {
	s.reprompts = 0
	if s.idleAt != 0 {
		s.armIdle()
	}
	if s.Config.Keys && !s.shut && (s.Phase == Speaking || s.Phase == Yielding) {
		s.cut()
		s.toListener()
	}
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
