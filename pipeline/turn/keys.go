package turn

import "parley/media"

// Keys of a telephone. While a function collects a number (Collect) they belong to that:
//
//	stage          event                                next
//	collectPrompt  the agent has said what it wants     collectKeys
//	               Key                                  collectPrompt
//	collectKeys    Key                                  collectKeys
//	               no key for First, or Next            collectDone
//	both           the terminator, Max keys, speech     collectDone
//	any            Collected                            collectOff
//
// Others the model learns of like of words: with the caller's next turn, or when nothing
// follows, after keysAfter as a turn of their own.

const (
	keysAfter = 1500 * media.Millisecond
	maxKeys   = 32 // of one turn; further keys are dropped
	// lateKeys is how long after the last key that counts others are taken to belong to
	// the same number: many people end it with # all the same.
	lateKeys = 2 * media.Second
)

// How a number ends.
const (
	byTerminator = "terminator"
	byMax        = "max_digits"
	byTimeout    = "timeout"
	bySpeech     = "speech"
)

// Number is what a function collects.
type Number struct {
	Max         int        // keys that end it
	Terminator  string     // the key that ends it; empty: none
	First, Next media.Time // how long the first key may take, and each further one
}

// collecting is a number on its way.
type collecting struct {
	Stage     collectStage
	Number    Number
	Keys      string
	By        media.Time // collectKeys: when it has taken too long
	LateUntil media.Time // until then keys belong to a number that is complete
}

type collectStage uint8

const (
	collectOff    collectStage = iota
	collectPrompt              // the agent says what it wants
	collectKeys                // it waits for the next key
	collectDone                // the number has ended, its function has yet to take it
)

// collect takes a key; false: it belongs to no number.
func (s *step) collect(key byte) bool {
	k := &s.Collecting
	if k.Stage == collectOff || k.Stage == collectDone {
		return s.now < k.LateUntil
	}
	if string(rune(key)) == k.Number.Terminator {
		s.endCollecting(byTerminator)
		return true
	}
	k.Keys += string(rune(key))
	k.By = s.now + k.Number.Next
	if len(k.Keys) == k.Number.Max {
		k.LateUntil = s.now + lateKeys
		s.endCollecting(byMax)
	}
	return true
}

// checkCollecting ends a number that takes too long, from when the agent has said what it
// wants.
func (s *step) checkCollecting(e Event) {
	switch k := &s.Collecting; {
	case k.Stage == collectKeys && s.now > k.By:
		s.endCollecting(byTimeout)
	case k.Stage == collectPrompt && s.rests(e):
		k.Stage, k.By = collectKeys, s.now+k.Number.First
		if k.Keys != "" {
			k.By = s.now + k.Number.Next
		}
	}
}

// endCollecting gives the function what was typed, if one waits.
func (s *step) endCollecting(how string) {
	if k := &s.Collecting; k.Stage == collectPrompt || k.Stage == collectKeys {
		k.Stage = collectDone
		s.do(Action{Kind: EndCollecting, Text: k.Keys, Detail: how})
	}
}

// pressed are the keys that the model has not learnt of.
type pressed struct {
	Keys string
	At   media.Time // of the last one
}

func (p *pressed) add(key byte, now media.Time) {
	if p.At = now; key != 0 && len(p.Keys) < maxKeys {
		p.Keys += string(rune(key))
	}
}

// take is the text that stands for the keys, which are no longer new; empty: there are none.
func (p *pressed) take() (text string) {
	if p.Keys != "" {
		text = "[pressed " + p.Keys + "]"
		*p = pressed{}
	}
	return text
}

// TakeKeys is the text that stands for keys that nothing followed, at the end of the call;
// empty: there are none.
func (s *State) TakeKeys() string { return s.Pressed.take() }

// checkPressed makes the keys a turn when nothing has followed them.
func (s *step) checkPressed() {
	if s.Pressed.Keys != "" && s.now-s.Pressed.At >= keysAfter && !s.Idle.Held && s.Phase == Listening && !s.WithMachine() {
		s.typed(s.Pressed.take())
	}
}
