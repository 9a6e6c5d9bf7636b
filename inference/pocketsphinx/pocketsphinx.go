// Package pocketsphinx recognises English speech with pocketsphinx, offline and
// without a network. It runs the native library in worker processes
// (parley-speech asr), one a core, with a decoder for each stream.
//
// What it can do depends on its hints. From the phrases of an agent (its
// prompt, greeting, slots, expected answers) and a core of everyday telephone
// English it builds a small language model; a clear caller who keeps to the
// agent's subject is understood over a telephone line with 5 to 12 % of the words
// wrong. Open conversation is not: words outside the model are heard as others. An
// agent without phrases gets the library's general model, which is slower by a
// factor of five and wrong in a third of the words on a telephone.
//
// The first utterance of a stream is decoded twice. pocketsphinx needs a second or more of
// speech to learn a telephone line, and gets two thirds of the words wrong before. The worker
// adapts on what it heard and decodes it again at the end of the first utterance, which is why
// that result takes about 0.2 s.
package pocketsphinx

import (
	"cmp"
	"context"
	"log/slog"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"parley/inference"
	"parley/inference/worker"
	"parley/media/isolate"
)

// Name is the engine's name in discovery, logs and errors.
const Name = "pocketsphinx"

const (
	// streamsPerProcess bounds the decoders of a worker: 8 MB each, of which a
	// core can serve some thirty that speak at the same time.
	streamsPerProcess = 128
	// generalPerProcess bounds the decoders with the general model likewise: 93 MB
	// each.
	generalPerProcess = 8
	// waiting bounds the calls in line for a decoder.
	waiting = 64
	// defaultModelDir is where Debian's pocketsphinx-en-us puts the model.
	defaultModelDir = "/usr/share/pocketsphinx/model/en-us"
)

// Config says how the engine runs. The zero Config is the usual one.
type Config struct {
	Program   string // the worker program; empty: beside this program or on PATH
	Processes int    // 0: one a core
	ModelDir  string // the English model; empty: where Debian installs it
	Log       *slog.Logger
}

// Engine is an ASR. It may be used from several goroutines.
type Engine struct {
	pool   *worker.Pool
	models *models
	log    *slog.Logger

	maxGenerals int32
	generals    atomic.Int32 // streams with the general model

	mu      sync.Mutex
	streams map[*recognition]struct{} // open ones
}

var _ inference.ASR = (*Engine)(nil)

// New returns an engine; it recognises while Run runs.
func New(c Config) *Engine {
	c.Processes, c.ModelDir = cmp.Or(c.Processes, runtime.NumCPU()), cmp.Or(c.ModelDir, defaultModelDir)
	c.Log = cmp.Or(c.Log, slog.Default())
	return &Engine{
		pool: worker.NewPool(worker.Config{
			Name: Name, Path: c.Program, Args: []string{"-model", c.ModelDir, "asr"}, Read: []string{c.ModelDir},
			Processes: c.Processes, Streams: streamsPerProcess, Waiting: waiting, Log: c.Log,
		}),
		models: &models{path: filepath.Join(c.ModelDir, "cmudict-en-us.dict")},
		log:    c.Log,

		maxGenerals: int32(c.Processes * generalPerProcess),
		streams:     map[*recognition]struct{}{},
	}
}

// Run keeps the worker processes alive until ctx ends and waits for their end.
func (e *Engine) Run(ctx context.Context) error { return e.pool.Run(ctx) }

// Ready waits until the engine can recognise; the error says why it cannot.
func (e *Engine) Ready(ctx context.Context) error { return worker.Fault(Name, e.pool.Ready(ctx)) }

// Lag is how far the workers are behind the callers who speak: the mean of the audio that each
// of their streams has been given and not decoded. It is some 50 ms while workers keep up.
func (e *Engine) Lag() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	waiting, streams := 0, 0
	for r := range e.streams {
		if n := r.undecoded(); n > 0 {
			waiting, streams = waiting+n, streams+1
		}
	}
	if streams == 0 {
		return 0
	}
	return time.Duration(waiting/streams) * time.Second / time.Duration(rate)
}

// Info describes the engine.
func (e *Engine) Info() inference.Info {
	return inference.Info{
		Name:        Name,
		Description: "pocketsphinx, embedded. English only, and only what the agent's texts lead one to expect; not for open conversation.",
		Languages:   []string{"en"},
		Latency:     600 * time.Millisecond,
		Local:       true,
		Caps:        inference.Caps{Partials: true},
	}
}

// Open starts a stream with the language model of c.Hints. Besides ErrLanguage
// it may fail with ErrUnavailable, when no worker can take the stream. The first
// Open with the same hints takes some 100 ms. See recognition for what happens
// to a stream whose worker dies.
func (e *Engine) Open(ctx context.Context, c inference.ASRConfig) (inference.Recognition, error) {
	if c.Language != "" && c.Language != "en" {
		return nil, &inference.Error{Engine: Name, Fault: inference.ErrLanguage}
	}
	phrases := append([]string{c.Hints.Prompt, c.Hints.Context}, c.Hints.Terms...)
	m := e.models.get(phrases)
	if m.err != nil {
		return nil, &inference.Error{Engine: Name, Fault: inference.ErrUnavailable, Err: m.err}
	}
	e.log.Debug("language model", "engine", Name, "words", m.words, "guessed", m.guessed)
	if m.general && e.generals.Add(1) > e.maxGenerals {
		e.generals.Add(-1)
		return nil, worker.Fault(Name, worker.ErrBusy)
	}
	r := newRecognition(e, m)
	if err := r.connect(ctx); err != nil {
		r.release()
		return nil, err
	}
	e.mu.Lock()
	e.streams[r] = struct{}{}
	e.mu.Unlock()
	ctx, r.cancel = context.WithCancel(ctx)
	isolate.Go("inference/pocketsphinx/recognition", nil, func() { r.run(ctx) }, // ends with ctx or Close, which waits for it
		r.end, func() { close(r.results) }, func() { close(r.done) })
	return r, nil
}
