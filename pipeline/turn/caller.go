package turn

import (
	"unicode/utf8"

	"parley/media"
)

// callerTurn is the caller's turn.
type callerTurn struct {
	Number     int
	Spoken     media.Time // speech in it so far
	Text       string     // final text in it, joined
	Partial    string     // text that may still change
	TextAt     media.Time // when its words last changed
	Asked      Question   // what the agent had asked before it
	Commitment commitment
	Said       string // its text when it was committed
	Base       string // its final text without the partial it was committed with
}

// commitment says whether the turn was committed and nothing of the reply was heard yet.
type commitment uint8

const (
	uncommitted commitment = iota
	committed
	committedGuess // with a partial text
)

// speechBegan is the start of speech: a new turn, more of the current one, or an
// overlap with the agent's voice.
func (s *step) speechBegan(e Event) {
	switch s.Phase {
	case Listening, ToolWait:
		s.newTurn()
		s.open()
		s.Phase = UserSpeaking
	case Pause:
		s.dropSpeculation()
		s.Pauses.add(s.Voice.Gap, s.cfg)
		s.goOn()
		s.Phase = UserSpeaking
	case Thinking:
		if s.Caller.Commitment == uncommitted {
			s.overlap(e)
			return
		}
		// Nothing of the reply was heard: the caller goes on with the same turn.
		s.do(Action{Kind: Cancel})
		s.Pauses.add(s.Voice.Gap, s.cfg)
		s.open()
		s.Phase = UserSpeaking
	case Speaking:
		s.overlap(e)
	default: // Connecting, Screening, Yielding, Closing: kept for the recogniser, decides nothing
		if s.cfg.Batch {
			s.goOn()
		} else {
			s.open()
		}
	}
}

// goOn has the recogniser hear more of the latest utterance, where that is not recognised yet, or another one.
func (s *step) goOn() {
	switch r := &s.Recogniser; {
	case r.FinishedAt == notFinished:
		r.FinishedAt = 0
	case r.Recognised < r.Latest:
		s.do(Action{Kind: ResumeUtterance})
	default:
		s.open()
	}
}

// open begins an utterance.
func (s *step) open() {
	r := &s.Recogniser
	if r.FinishedAt == notFinished { // of a turn that was given up
		s.finish()
	}
	r.Latest++
	if r.First == 0 {
		r.First = r.Latest
	}
	s.do(Action{Kind: OpenUtterance})
}

func (s *step) newTurn() {
	s.Caller.Number++
	s.forgetTurn()
	v := &s.Voice
	s.Caller.Spoken, v.OwnFrames, v.OwnRun = v.SpeechRun, v.ownFrames(), v.ownRun()
	s.do(Action{Kind: BeginTurn, Turn: s.Caller.Number})
}

// forgetTurn drops what the turn is made of, but not that it was committed.
func (s *step) forgetTurn() {
	t := &s.Caller
	t.Text, t.Partial, t.Base, t.Spoken, t.Asked = "", "", "", 0, NoQuestion
	if t.Commitment == committedGuess {
		t.Commitment = committed
	}
	s.Recogniser.First = s.Recogniser.Latest + 1
	s.Pauses.Average, s.Speculation.Tries = s.Pauses.Learnt, 0
	s.Overlap.noSalutation()
}

// dropTurn drops a turn that was nothing.
func (s *step) dropTurn() {
	s.forgetTurn()
	s.do(Action{Kind: DropTurn, Turn: s.Caller.Number})
}

// commit is the end of the turn: text is answered. A machine is not: its message could not
// be spoken.
func (s *step) commit(text string, typed bool) {
	if s.Supervised() {
		s.keep(text, typed)
		return
	}
	if s.WithMachine() {
		s.stop(Event{Reason: media.Voicemail})
		return
	}
	t := &s.Caller
	again := t.Commitment != uncommitted
	line := s.lineFor(text, typed)
	if line != NoLine {
		s.dropSpeculation()
	}
	ready := s.useSpeculation(text, typed)
	if !again {
		if keys := s.Pressed.take(); keys != "" {
			s.do(Action{Kind: NoteKeys, Text: keys})
		}
	}
	s.Fillers = fillers{}
	s.do(Action{Kind: Commit, Turn: t.Number, Text: text, Again: again, Typed: typed, Ready: ready, Line: line})
	if !typed && !(again && sameWords(text, t.Said)) {
		s.Pauses.Learnt = s.Pauses.Average // a cough is no pause in speech
	}
	t.Base, t.Commitment = t.Text, committed
	if t.Partial != "" {
		t.Commitment = committedGuess
	}
	t.Text, t.Partial, t.Said = text, "", text
	if s.Reply.Tools >= toolsDone {
		s.Reply.Tools = noTools // their results are in the history, and so is what is owed an answer
	}
	s.Reply.Then, s.Reply.Line, s.Reply.Since = thenListen, line, s.now
	s.Idle.Apologies, s.Idle.Reprompts, s.Idle.At = 0, 0, 0
	s.Phase = Thinking
}

// maxTyped bounds a turn that goes on in writing, in Unicode code points: what is typed
// beyond it, before an answer, is a turn of its own.
const maxTyped = 4000

func (s *step) typed(text string) {
	switch s.Phase {
	case Closing, Connecting, Screening:
		return
	case Speaking, Yielding:
		s.interruptReply()
	case Thinking:
		s.do(Action{Kind: Cancel})
	}
	if joined := join(s.Caller.Text, text); s.Caller.Commitment != uncommitted && utf8.RuneCountInString(joined) <= maxTyped {
		text = joined
	} else {
		s.Caller.Commitment = uncommitted
		s.newTurn()
	}
	s.commit(text, true)
}

// digit is a key that belongs to no number: the caller is there, and wants to be heard.
func (s *step) digit(key byte) {
	if s.collect(key) {
		return
	}
	s.Pressed.add(key, s.now)
	s.Idle.Reprompts = 0
	if s.Idle.At != 0 {
		s.armIdle()
	}
	if s.cfg.Keys && !s.Reply.Uninterruptible && (s.Phase == Speaking || s.Phase == Yielding) {
		s.interrupt()
	}
}

// button is the caller's wish that the agent stops.
func (s *step) button() {
	switch s.Phase {
	case Speaking, Yielding:
		s.interrupt()
	case Thinking:
		s.do(Action{Kind: Cancel})
		s.Reply.Then = thenListen
		s.answered()
		s.toListener()
	}
}

// toListener gives the floor to the caller, who may be speaking already.
func (s *step) toListener() {
	r := &s.Recogniser
	switch {
	case s.Voice.Kind == voiceSpeech && r.First > r.Latest:
		// The turn that this speech began in was given up for a typed one.
		s.newTurn()
		r.First = r.Latest
		s.Phase = UserSpeaking
	case s.Voice.Kind == voiceSpeech:
		s.Phase = UserSpeaking
	case r.First != 0 && r.First <= r.Latest && (s.Caller.heard() != "" || s.Owed()):
		s.Phase = Pause
		s.checkEndpoint()
		s.ask()
	default:
		s.rest()
	}
}
