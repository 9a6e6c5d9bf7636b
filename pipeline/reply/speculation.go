package reply

import "parley/pipeline/agent"

// SpeculationLevel says what is done for a speculative reply before its turn is committed.
type SpeculationLevel uint8

// How far speculative replies go.
const (
	SpeculationOff  SpeculationLevel = iota // there are none
	SpeculateText                           // the model writes them; a voice that is Local speaks the first sentence
	SpeculateSpeech                         // any voice speaks the first sentence
)

// With is the level that an agent's settings ask for; s is what counts where they say
// nothing.
func (s SpeculationLevel) With(a *agent.Settings) SpeculationLevel {
	switch on, voice := a.Speculate(s != SpeculationOff), a.SpeculativeVoice; {
	case !on:
		return SpeculationOff
	case voice == nil:
		return max(s, SpeculateText)
	case *voice:
		return SpeculateSpeech
	}
	return SpeculateText
}

// SpeculationOf is what a journal has of it: whether there is any, and whether any voice speaks ahead.
func SpeculationOf(on, anyVoice bool) SpeculationLevel {
	switch {
	case on && anyVoice:
		return SpeculateSpeech
	case on:
		return SpeculateText
	}
	return SpeculationOff
}
