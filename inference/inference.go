// Package inference declares what a call needs of its engines, and the values
// that pass between them and the call. One folder per engine implements it;
// enginetest holds the conformance suite each of them passes.
//
//	ASR         recognises speech                        asr.go
//	LLM         answers a conversation                   llm.go
//	TTS         speaks                                   tts.go
//	Realtime    hears and speaks by itself, in one       realtime.go
//	TurnScorer  judges whether the caller has finished   turnscorer.go
//
// Engines are slow and may fail, so nothing here runs in the 20 ms path except
// Recognition.Write and Session.Write. Cancelling a context frees the engine's
// slot within one frame (20 ms). Engines are safe for use from several
// goroutines; the streams they open belong to one.
package inference

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"parley/media"
)

// Info describes an engine as discovery, readiness and logs show it.
type Info struct {
	Name        string
	Description string
	Languages   []string // two letters, in the order of the specification
	// Latency is the wait for a final result after Finish to assume before any
	// was measured (ASR): 600 ms streaming, 5 s batch.
	Latency time.Duration
	Feed    Feed // ASR: which audio it wants, and when
	// Raw says that an ASR does better on the caller's audio as it came than on
	// what the noise suppressor made of it.
	Raw bool
	// NormalisesText says that a TTS reads numbers, dates and abbreviations by
	// itself, so that it gets the text as it is shown.
	NormalisesText bool
	// Local says that the engine runs on this machine: nothing it is given leaves
	// it, and what it makes in vain costs nobody money.
	Local bool
	// Scripted engines follow rules and are labelled as such wherever they show.
	Scripted bool
	Caps     Caps
}

// Feed is how an ASR wants to be given a call's audio. Of several engines that stand in
// for each other, the preferred one's counts when the stream is opened, and so does its Raw;
// a FailoverASR gives one that takes over from FeedContinuous speech alone, if it wants that.
type Feed uint8

// The feeds.
const (
	// FeedUtterances is speech alone, as it comes: the recogniser works while the
	// caller speaks, and Finish asks for the rest.
	FeedUtterances Feed = iota
	// FeedContinuous is all audio of the call, silence included: the recogniser
	// finds the ends of turns by itself and is confused by cut audio.
	FeedContinuous
	// FeedBatch is speech alone, recognised when it has ended and not before: each
	// Finish is a request, which costs money, and one that Resume takes back is
	// made again.
	FeedBatch
)

// Takes is the format in which an ASR takes audio of a rate as it came; the zero Format: it takes 16 kHz PCM only.
func (i *Info) Takes(rate media.Rate) Format {
	for _, f := range i.Caps.In {
		if i.Raw && f.Rate == rate {
			return f
		}
	}
	return Format{}
}

// Caps is what an engine can do beyond the interface it implements. The zero
// value can do nothing of it.
type Caps struct {
	Partials    bool // ASR: partial results
	WordTimes   bool // ASR, TTS: when each word is said
	Turns       bool // ASR: EventTurnEnd
	Eager       bool // ASR: EventEagerEnd and EventResumed
	ForceEnd    bool // ASR: Finish ends its turn at once
	Reconfigure bool // ASR: Configure works while the stream is open
	TextStream  bool // TTS: StreamingTTS with one prosody over all that is said
	Truncate    bool // Realtime: its history can be cut to what was heard
	Contexts    int  // TTS: utterances one connection holds at a time
	Keyterms    int  // ASR: Hints.Terms that count; more are left out
	Detects     bool // ASR: it hears several languages in one stream, and Result.Language may say which
	// In are the formats that an ASR takes beside 16 kHz PCM, the best of each rate first.
	In, Out []Format
}

// Encoding is how samples are written on an engine's wire.
type Encoding uint8

// The encodings.
const (
	PCM16 Encoding = iota // signed, 16 bits, little endian
	PCMU                  // G.711 µ-law
	PCMA                  // G.711 A-law
)

// Format is audio on an engine's wire.
type Format struct {
	Encoding Encoding
	Rate     media.Rate
}

// SampleRate is the rate of the samples; of the zero Format 16 kHz.
func (f Format) SampleRate() media.Rate { return cmp.Or(f.Rate, media.Rate16k) }

// Warmer is an engine that can prepare for a call: connect, load, fill a cache.
type Warmer interface {
	// Warm prepares while the telephone rings. It returns when that is done, has
	// failed or ctx ends, and its failure is nobody's concern.
	Warm(ctx context.Context)
}

// Warm prepares an engine that is a Warmer.
func Warm(ctx context.Context, engine any) {
	if w, ok := engine.(Warmer); ok {
		w.Warm(ctx)
	}
}

// Options are settings of one engine, as its own schema describes them; nil:
// none. The operator or the agent wrote them, and the engine checks them.
type Options = json.RawMessage
