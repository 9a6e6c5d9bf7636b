// Package stt is recognition as a service: POST /stt/transcribe takes a recording,
// the WebSocket /ws/stt a live voice. Both cut the audio into utterances by voice
// activity and let an inference.ASR recognise one after the other; what is charged
// is the time of the audio.
package stt

import (
	"context"
	"log/slog"
	"time"

	"parley/api"
	"parley/api/socket"
	"parley/api/upload"
	"parley/billing"
	"parley/inference"
)

// Options are what the routes work with.
type Options struct {
	ASR     inference.ASR // nil: no language is recognised
	VAD     string        // name of the detector that finds the utterances, one that vad.New knows
	Books   api.Books
	Sockets *socket.Set
	Log     *slog.Logger // nil: nothing is logged
}

const (
	// maxJobs bounds the recordings that are worked on at once, half of them of one
	// account: each may be 100 MB while its JSON is read. jobWait is how long one
	// waits for its turn.
	maxJobs = 8
	jobWait = 20 * time.Second
	// openWait is how long a recogniser may take to open: longer than to load its
	// largest model on a busy machine.
	openWait = 10 * time.Second
)

// service is both routes.
type service struct {
	asr   inference.ASR
	vad   string
	books api.Books
	set   *socket.Set
	jobs  *upload.Gate
	log   *slog.Logger
}

func newService(o Options) *service {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	asr := o.ASR
	if asr != nil { // a stream that is lost is opened once more and hears again what it owes
		asr = inference.NewFailoverASR(inference.FailoverConfig{First: openWait, Failed: func(engine string, err error) {
			o.Log.Warn("a recogniser failed", "engine", engine, "err", err)
		}}, o.ASR)
	}
	return &service{asr: asr, vad: o.VAD, books: o.Books, set: o.Sockets, jobs: upload.NewGate(maxJobs, jobWait), log: o.Log}
}

// open opens a recogniser. Its errors are those of the error table; the language
// is left to the recogniser when it is empty.
func (s *service) open(ctx context.Context, language string) (inference.Recognition, error) {
	r, err := s.asr.Open(ctx, inference.ASRConfig{Language: language})
	switch {
	case err == nil:
		return r, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case inference.FaultOf(err) == inference.ErrLanguage:
		return nil, api.ErrDeaf
	}
	return nil, api.ErrRecognition
}

// begin lets work that is charged start. expected is in milliseconds, 0 when
// nobody knows.
func (s *service) begin(ctx context.Context, p api.Principal, expected int64) (api.Work, error) {
	return s.books.Begin(ctx, p, billing.STT, expected)
}
