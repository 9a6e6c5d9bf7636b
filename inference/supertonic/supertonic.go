// Package supertonic speaks with Supertonic 3, a neural voice whose weights the user brings:
// four graphs that turn characters into speech without a dictionary. ONNX Runtime runs them in
// worker processes (parley-speech supertonic), one chunk of text at a time each.
//
// The weights are under the OpenRAIL-M licence, whose conditions of use are passed on with them.
// None come with Parley.
package supertonic

import (
	"cmp"
	"context"
	"iter"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"parley/inference"
	"parley/inference/worker"
	"parley/media"
)

const (
	// Name is the engine's usual name in discovery, logs and errors.
	Name = "supertonic"
	// Rate is the sample rate of everything the engine says.
	Rate = media.Rate44k
)

const (
	// defaultProcesses each hold the weights in memory, 99 million floats, and use one processor.
	defaultProcesses = 2
	// waiting bounds the chunks in line for a worker. Each takes a second or so, so those behind
	// a longer line would come too late for a call.
	waiting = 64
	// The model's own number of denoising steps, and the most of which it gains.
	defaultSteps = 8
	maxSteps     = 12
	// usualSpeed is the model's own: predicted lengths are divided by it.
	usualSpeed = 1.05
	pause      = 300 * time.Millisecond // between chunks
)

// bounds: one chunk is at most MaxLength of sound, which comes when all of it is made: that takes
// some seconds on a machine that has much else to do.
var bounds = worker.Bounds{Silence: 30 * time.Second, Samples: int(Rate) * int(MaxLength/time.Second)}

// languages are those that the model has and a call can have.
var languages = []string{"en", "es", "pt", "fr", "it", "de"}

// Config says how the engine runs.
type Config struct {
	Name    string // empty: supertonic
	Program string // the worker program; empty: beside this program or on PATH
	Library string // ONNX Runtime, 1.24 or later; empty: wherever the system has it
	// Dir is the model, with the directories onnx and voice_styles. The user that workers run as
	// reads it, and cannot follow links that lead out of it.
	Dir       string
	Steps     int // of denoising, 1 to 12, for a Speech that wants no other; 0: 8
	Processes int // each with the weights in memory; 0: two
	Log       *slog.Logger
}

// Engine is a TTS. It may be used from several goroutines.
type Engine struct {
	name  string
	steps int
	pool  *worker.Pool
}

var _ inference.TTS = (*Engine)(nil)

// New returns an engine; it speaks while Run runs.
func New(c Config) *Engine {
	c.Name = cmp.Or(c.Name, Name)
	// A worker has another working directory. The name of a library alone is the system's to find.
	c.Dir = absolute(c.Dir)
	var files []string
	if strings.ContainsRune(c.Library, filepath.Separator) {
		c.Library = absolute(c.Library)
		files = []string{c.Library}
	}
	return &Engine{c.Name, cmp.Or(c.Steps, defaultSteps), worker.NewPool(worker.Config{
		Name: c.Name, Path: c.Program, Args: []string{"-library", c.Library, "-model", c.Dir, "supertonic"}, Read: append([]string{c.Dir}, worker.Processors...), Files: files,
		Processes: cmp.Or(c.Processes, defaultProcesses), Streams: 1, Waiting: waiting, Log: c.Log,
	})}
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// Run keeps the worker processes alive until ctx ends and waits for their end.
func (e *Engine) Run(ctx context.Context) error { return e.pool.Run(ctx) }

// Lag is how long the chunk that is next has waited for a worker; 0 when none waits.
func (e *Engine) Lag() time.Duration { return e.pool.Lag() }

// Ready waits until the engine can speak; the error says why it cannot, such as which file of the
// model is missing or which tensor of a graph is not what it should be.
func (e *Engine) Ready(ctx context.Context) error { return worker.Fault(e.name, e.pool.Ready(ctx)) }

// Info describes the engine.
func (e *Engine) Info() inference.Info {
	return inference.Info{
		Name:        e.name,
		Local:       true,
		Description: "Supertonic 3, a neural voice, from a directory of weights that the operator brings. It does not say when each word is spoken.",
		Languages:   slices.Clone(languages),
	}
}

// Voices lists F1 to F5 and M1 to M5, the model's presets; each speaks every language.
func (e *Engine) Voices() []inference.Voice {
	list := make([]inference.Voice, len(Voices))
	for i, id := range Voices {
		list[i] = inference.Voice{ID: id, Gender: "female", Description: "Preset " + id + " of the model"}
		if id[0] == 'M' {
			list[i].Gender = "male"
		}
	}
	return list
}

// Speak streams s as 44,100 Hz chunks of 100 ms, without marks. The text is made chunk by chunk,
// each when the one before it was pulled, with 0.3 s of silence between them; the first is short,
// for nothing is heard before all of it is made. The same text sounds the same every time.
//
// Errors besides ErrVoice and ErrLanguage are those of worker.Pool.Speak. After ctx ends the worker
// still finishes the step of denoising, or the vocoder, it is at, and the sequence ends after that.
func (e *Engine) Speak(ctx context.Context, s inference.Speech) iter.Seq2[inference.Chunk, error] {
	return func(yield func(inference.Chunk, error) bool) {
		var fault inference.Fault
		switch {
		case !slices.Contains(Voices, s.Voice):
			fault = inference.ErrVoice
		case !slices.Contains(languages, s.Language):
			fault = inference.ErrLanguage
		}
		if fault != 0 {
			yield(inference.Chunk{}, &inference.Error{Engine: e.name, Fault: fault})
			return
		}
		err := e.speak(ctx, s, func(samples []int16) bool {
			return yield(inference.Chunk{Samples: samples, Rate: Rate}, nil)
		})
		if err != nil && err != worker.ErrStopped {
			yield(inference.Chunk{}, err)
		}
	}
}

func (e *Engine) speak(ctx context.Context, s inference.Speech, pass func([]int16) bool) error {
	r := worker.Synthesis{
		Voice: s.Voice, Language: s.Language,
		Speed: usualSpeed * max(0.5, min(2, cmp.Or(s.Speed, 1))),
		Steps: max(1, min(maxSteps, cmp.Or(s.Steps, e.steps))),
	}
	for i, text := range chunks([]rune(s.Text), s.Language) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if i > 0 && !pass(make([]int16, media.FromDuration(pause).Samples(Rate))) {
			return worker.ErrStopped
		}
		r.Text = text
		if err := e.pool.Speak(ctx, r, bounds, func(p worker.Piece) bool { return pass(p.Samples) }); err != nil {
			return err
		}
	}
	return nil
}
