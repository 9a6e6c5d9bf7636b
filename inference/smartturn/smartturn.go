// Package smartturn judges by its sound whether a turn has ended, with the network smart-turn
// (version 3, published with Pipecat), whose weights users bring. It runs in worker processes
// (parley-speech turn), beside the call: a score is made of the last 8 s, of any words.
//
// It is unproven: here it has run graphs of the same shape, never the published weights.
package smartturn

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"parley/inference"
	"parley/inference/worker"
	"parley/media"
)

// Name is the engine's name unless its Config has another.
const Name = "smart-turn"

const (
	defaultProcesses = 1
	// A child judges one pause at a time, in some tens of milliseconds. An answer is of use for a
	// few hundred, so a longer line would be judged in vain.
	streams, waiting = 8, 8
)

// Config says how the engine runs.
type Config struct {
	Name      string // empty: smart-turn
	Program   string // the worker program; empty: beside this program or on PATH
	Library   string // ONNX Runtime, 1.24 or later: an absolute path, or a name that the system's loader finds; empty: its usual one
	Model     string // the file of the network, an absolute path that workers reach
	Processes int    // 0: one
	Log       *slog.Logger
}

// Engine is a TurnScorer. It may be used from several goroutines.
type Engine struct {
	name string
	pool *worker.Pool
}

var _ inference.TurnScorer = (*Engine)(nil)

// New returns an engine; it judges while Run runs.
func New(c Config) *Engine {
	name, files := cmp.Or(c.Name, Name), []string(nil)
	if filepath.IsAbs(c.Library) {
		files = []string{c.Library}
	}
	return &Engine{name, worker.NewPool(worker.Config{
		Name: name, Path: c.Program, Args: []string{"-library", c.Library, "-model", c.Model, "turn"}, Read: append([]string{c.Model}, worker.Processors...), Files: files,
		Processes: cmp.Or(c.Processes, defaultProcesses), Streams: streams, Waiting: waiting, Log: c.Log,
	})}
}

// Run keeps the worker processes alive until ctx ends and waits for their end.
func (e *Engine) Run(ctx context.Context) error { return e.pool.Run(ctx) }

// Lag is how long the pause that is next has waited for a worker; 0 when none waits.
func (e *Engine) Lag() time.Duration { return e.pool.Lag() }

// Ready waits until the engine can judge; the error says why it cannot.
func (e *Engine) Ready(ctx context.Context) error { return worker.Fault(e.name, e.pool.Ready(ctx)) }

// languages are those that the network was trained with, as its publisher names them.
var languages = []string{"en", "es", "pt", "fr", "it", "de", "nl", "pl", "ru", "uk", "tr", "da", "nb", "fi", "ar", "bn", "hi", "id", "ja", "ko", "mr", "vi", "zh"}

// Info describes the engine.
func (e *Engine) Info() inference.Info {
	return inference.Info{Name: e.name, Local: true, Languages: slices.Clone(languages),
		Description: "smart-turn, run by ONNX Runtime: whether a turn has ended, by its sound."}
}

// Score implements inference.TurnScorer. Errors: ErrLanguage, ErrUnavailable when too many pauses
// wait, ErrFailed when the worker died or the network failed, or the cause of ctx.
func (e *Engine) Score(ctx context.Context, p inference.Pause) (float64, error) {
	if !slices.Contains(languages, p.Language) {
		return 0, &inference.Error{Engine: e.name, Fault: inference.ErrLanguage}
	}
	a := &answer{got: make(chan struct{})}
	s, err := e.pool.Open(ctx, a)
	if err != nil {
		return 0, worker.Fault(e.name, err)
	}
	defer s.Close()
	if err := s.Send(worker.Score, media.AppendPCM(nil, p.Audio[max(0, len(p.Audio)-Samples):])); err != nil {
		return 0, worker.Fault(e.name, err)
	}
	select {
	case <-a.got:
		return a.prob, worker.Fault(e.name, a.err)
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// answer is what a worker says of one pause.
type answer struct {
	once sync.Once
	got  chan struct{} // closed when the rest is set
	prob float64
	err  error
}

func (a *answer) set(prob float64, err error) {
	a.once.Do(func() {
		a.prob, a.err = prob, err
		close(a.got)
	})
}

// Receive takes a message of the worker.
func (a *answer) Receive(kind worker.Kind, payload []byte) {
	switch {
	case kind == worker.Failed:
		a.set(0, errors.New(string(payload)))
	case kind != worker.Scored:
	case len(payload) != 4:
		a.set(0, fmt.Errorf("%w: a score of %d bytes", worker.ErrFormat, len(payload)))
	default:
		a.set(float64(math.Float32frombits(binary.LittleEndian.Uint32(payload))), nil)
	}
}

// Lost handles the death of the worker.
func (a *answer) Lost() { a.set(0, worker.ErrLost) }
