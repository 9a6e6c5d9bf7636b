package realtimetest

import (
	"net/url"
	"testing"
	"time"

	"parley/inference/enginetest/hearingtest"
	"parley/inference/enginetest/loopbacktest"
)

// Fault, Books, Delays and what is heard are those of all fakes. The Reason of a Status is the error's
// code. A Fail whose Reason is session_expired ends a session as its 60 minutes do, and one that is the code of
// an account that cannot go on, as insufficient_quota, as OpenAI does. EmptyFinal of an Utterance makes transcripts empty.
type (
	Fault     = loopbacktest.Fault
	Books     = loopbacktest.Books
	Delays    = hearingtest.Delays
	Utterance = hearingtest.Utterance
	Pause     = hearingtest.Pause
)

// DefaultKey is accepted when the script names no key.
const DefaultKey = "sk-realtime-test-0123456789"

// TranscriptionScript is what a server of transcription does. Its zero value hears no words.
type TranscriptionScript struct {
	Key        string // "": DefaultKey
	Utterances []Utterance
	// Continue counts the utterances over all connections: a new one goes on with the first
	// word that is in no completed transcript. It is for one client that reconnects.
	Continue bool
	Delays   Delays
	Faults   []Fault
	Traps    Traps
	Expects  []string      // parts of the violations that the test means to cause
	Sockets  int           // at a time, more are refused with 429; 0: any number
	Lifetime time.Duration // of a session, by the clock; 0: 60 min
}

// Traps are what OpenAI does although it is awkward. Items are counted from 0 over all connections,
// in the order of their commits.
type Traps struct {
	Late       []int // items that are completed after the one that follows them
	Failed     []int // items whose transcription fails
	Unanswered []int // items that are never completed
}

// Transcription is the fake of transcription. Safe for concurrent use.
type Transcription struct{ *server }

// NewTranscription starts a server that runs until the test ends, and then reports violations.
func NewTranscription(t testing.TB, script TranscriptionScript) *Transcription {
	t.Helper()
	return loopbacktest.Started(t, StartTranscription, script, script.Expects)
}

// StartTranscription starts a server that runs until Close.
func StartTranscription(script TranscriptionScript) (*Transcription, error) {
	s, err := start(script, kind{completed, transcribes, serveTranscription})
	return &Transcription{s}, err
}

// transcribes refuses the query of a session that is no transcription.
func transcribes(q url.Values) error {
	switch {
	case q.Get("intent") != "transcription":
		return trouble{Code: "missing_model", Message: "You must provide a model parameter."}
	case q.Has("model"):
		return trouble{Code: "invalid_model", Message: "You must not provide a model parameter for transcription sessions."}
	}
	return nil
}
