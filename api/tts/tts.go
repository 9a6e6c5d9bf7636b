// Package tts is speech synthesis as the API offers it, whichever way it is asked
// for: one table of voices and languages, one check of what clients send, and one
// job that turns a text into 44.1 kHz audio with mouth shapes. Its own route is the
// one-shot POST /tts/synthesize; the streaming socket and the background tasks use
// the Service, too.
package tts

import (
	"parley/inference"
	"parley/media"
)

// Rate is the sample rate of everything a Service gives.
const Rate = media.Rate44k

// Service speaks with an engine. It may be used from several goroutines.
type Service struct{ engine inference.TTS }

// New returns a service that speaks with the engine.
func New(engine inference.TTS) *Service { return &Service{engine} }

// Request is a checked Ask.
type Request struct {
	Text     string
	Voice    string  // F1 to F5, M1 to M5
	Language string  // one of the nine, two letters
	Speed    float64 // 0.5 to 2.0
	Steps    int     // 1 to 8
	Visemes  bool
}

// Chunk is a piece of a job's audio, 16 bits mono at Rate. The receiver owns it.
type Chunk struct {
	Samples []int16
	// Visemes are the mouth shapes of these samples; nil unless they were asked for.
	Visemes []Viseme
	// Chars is how much of the text this chunk and those before it speak, in code
	// points; it never decreases.
	Chars int
}
