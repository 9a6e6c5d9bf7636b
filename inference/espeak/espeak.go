// Package espeak speaks with espeak-ng: nine languages, ten voices, without any
// network or model file. It runs the native library in worker processes
// (parley-speech tts), one synthesis at a time each; speech is made a thousand
// times faster than it is played, so two of them serve a node.
//
// The voices are formant voices: clear, quick, deterministic in length, and
// robotic. Galician is an approximation: a Spanish voice reads it by Galician
// letter rules, because espeak-ng has no Galician.
package espeak

import (
	"cmp"
	"context"
	"iter"
	"log/slog"
	"slices"
	"time"

	"parley/inference"
	"parley/inference/worker"
	"parley/media"
)

// Name is the engine's name in discovery, logs and errors.
const Name = "espeak"

const (
	defaultProcesses = 2
	// waiting bounds the requests in line for a worker. A sentence takes some
	// milliseconds, and hundreds of calls that come at once greet at once; a longer
	// line means that the workers are not working.
	waiting = 256
	// naturalRate is the voices' own pace in words a minute.
	naturalRate = 175
)

// Config says how the engine runs. The zero Config is the usual one.
type Config struct {
	Program   string // the worker program; empty: beside this program or on PATH
	Processes int    // 0: two
	Log       *slog.Logger
}

// Engine is a TTS. It may be used from several goroutines.
type Engine struct{ pool *worker.Pool }

var _ inference.TTS = (*Engine)(nil)

// New returns an engine; it speaks while Run runs.
func New(c Config) *Engine {
	return &Engine{worker.NewPool(worker.Config{
		Name: Name, Path: c.Program, Args: []string{"tts"},
		Processes: cmp.Or(c.Processes, defaultProcesses), Streams: 1, Waiting: waiting, Log: c.Log,
	})}
}

// Run keeps the worker processes alive until ctx ends and waits for their end.
func (e *Engine) Run(ctx context.Context) error { return e.pool.Run(ctx) }

// Lag is how long the text that is next has waited for a worker; 0 when none waits.
func (e *Engine) Lag() time.Duration { return e.pool.Lag() }

// Ready waits until the engine can speak; the error says why it cannot.
func (e *Engine) Ready(ctx context.Context) error { return worker.Fault(Name, e.pool.Ready(ctx)) }

// Info describes the engine.
func (e *Engine) Info() inference.Info {
	info := inference.Info{
		Name:        Name,
		Local:       true,
		Description: "espeak-ng formant voices, embedded. Galician is an approximation: a Spanish voice with Galician letter rules.",
	}
	for _, l := range languages {
		info.Languages = append(info.Languages, l.code)
	}
	return info
}

// Voices lists F1 to F5 and M1 to M5; each speaks every language.
func (e *Engine) Voices() []inference.Voice {
	list := make([]inference.Voice, len(voices))
	for i, v := range voices {
		list[i] = v.Voice
	}
	return list
}

// Speak streams s as 22,050 Hz chunks of 60 ms. Words are marked with the text
// between spaces, without the punctuation around it; phonemes in IPA, a pause as
// an empty text; their Char never decreases. A pull holds a worker no longer
// than it takes to make one segment of the text: what is made and not yet
// pulled waits in memory, at most about 400 characters of speech.
//
// Errors besides ErrVoice and ErrLanguage: ErrUnavailable when no worker can
// take the request, ErrFailed when one died or gave up after speech had begun
// (before that others are asked, two at most), or the cause of ctx.
func (e *Engine) Speak(ctx context.Context, s inference.Speech) iter.Seq2[inference.Chunk, error] {
	return func(yield func(inference.Chunk, error) bool) {
		v := slices.IndexFunc(voices, func(v voice) bool { return v.ID == s.Voice })
		l := slices.IndexFunc(languages, func(l language) bool { return l.code == s.Language })
		if v < 0 {
			yield(inference.Chunk{}, &inference.Error{Engine: Name, Fault: inference.ErrVoice})
			return
		}
		if l < 0 {
			yield(inference.Chunk{}, &inference.Error{Engine: Name, Fault: inference.ErrLanguage})
			return
		}
		sp := speaker{pool: e.pool, voice: voices[v], lang: languages[l], rate: rate(s.Speed), text: []rune(s.Text)}
		for _, seg := range segments(sp.text) {
			err := sp.speak(ctx, seg, func(c inference.Chunk) bool { return yield(c, nil) })
			if err == worker.ErrStopped {
				return
			}
			if err != nil {
				yield(inference.Chunk{}, err)
				return
			}
		}
	}
}

// rate is the pace in words a minute; out of range means the nearest in range.
func rate(speed float64) int {
	return int(naturalRate*max(0.5, min(2, cmp.Or(speed, 1))) + 0.5)
}

// Rate is the sample rate of everything the engine says.
const Rate = media.Rate22k
