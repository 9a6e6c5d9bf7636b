// Package agent is the definition of an agent as one document: the same JSON that the
// API takes and gives and that files of the commands have in YAML, its schema, and the
// one check that finds every mistake in it. Once a conversation begins its variables
// become text here.
package agent

import (
	"slices"
	"strings"

	"parley/inference"
	"parley/inference/spoken"
)

// Agent is who the caller talks to.
type Agent struct {
	Prompt       string
	FirstMessage string  // spoken at the start; empty: the agent waits for the caller
	Voice        string  // F1 to F5, M1 to M5
	Language     string  // two letters
	Speed        float64 // 0.5 to 2, 1 is the voice's own pace; 0 means 1
	// Phrases are further texts the caller may be expected to say; they help the
	// recogniser.
	Phrases []string
	// Pronunciation is how the agent pronounces words; nil: as its voice does.
	Pronunciation *spoken.Dictionary
	// VoiceNormalises says that the voice reads numbers, dates and abbreviations by
	// itself (inference.Info.NormalisesText): it gets them as they are shown.
	VoiceNormalises bool
	// Tools are the functions the model may call besides end_call.
	Tools []inference.Tool
	// Goodbye is what the agent says when a limit ends the call; empty: a
	// sentence in its language.
	Goodbye string
	// Announcement is what callers who wait for a transfer hear now and then; empty: a sentence in its language.
	Announcement string
	// ListeningTone plays a tone to everybody in the call while somebody listens in.
	ListeningTone bool
	// Follows are the languages to which it changes with its caller; nil: it changes to none.
	Follows []string
	// Advice is what a supervisor has whispered to it in the call, oldest first.
	Advice []string
}

// maxAdvice bounds the advice, in bytes: it is in each request.
const maxAdvice = 8 << 10

// Advise adds advice. Where there is too much of it the oldest is forgotten.
func (a *Agent) Advise(text string) {
	a.Advice = append(slices.Clone(a.Advice), text)
	for n := len(strings.Join(a.Advice, "")); n > maxAdvice && len(a.Advice) > 1; a.Advice = a.Advice[1:] {
		n -= len(a.Advice[0])
	}
}

// System is what the model knows of its part: the prompt, and the advice.
func (a *Agent) System() string {
	if len(a.Advice) == 0 {
		return a.Prompt
	}
	return a.Prompt + "\n\nDuring the conversation your supervisor whispers to you, and the caller does not hear it:\n" + strings.Join(a.Advice, "\n")
}

// Form is a text as it is shown and as the voice is given it.
func (a *Agent) Form(text string) *spoken.Form {
	language := a.Language
	if a.VoiceNormalises {
		language = "" // leaves numbers to the voice
	}
	return spoken.New(language, a.Pronunciation).Read(text)
}

// Hints are what its caller may be expected to say in a language. Its first message is in the one that it begins in.
func (a *Agent) Hints(language string) inference.Hints {
	h := inference.Hints{Terms: a.Phrases, Prompt: a.Prompt}
	if language == a.Language {
		h.Context = a.FirstMessage
	}
	return h
}

// OnMachine is what happens to an outbound call that a machine answers.
type OnMachine string

// What happens to it. While it is not known who answered, the agent of the last two
// keeps silent, so that it does not talk into a greeting; with Continue it speaks from
// the first moment, as to a person.
const (
	Continue     OnMachine = "continue" // the agent talks to it
	HangUp       OnMachine = "hangup"   // the call ends
	LeaveMessage OnMachine = "message"  // a message is spoken after the tone, then the call ends
)
