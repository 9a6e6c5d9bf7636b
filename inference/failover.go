package inference

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"
)

// FailoverConfig is how a list of engines is tried.
type FailoverConfig struct {
	// Cooldown is how long an engine that failed is tried only after the others.
	// 0 means 30 s: long enough that a call meets a dead server once, short enough
	// that a restarted one is used again soon.
	Cooldown time.Duration
	// First is the longest wait for an engine's first content (or for a recogniser
	// to open). 0 means no limit of its own.
	First time.Duration
	// Failed reports each failure by the engine's name, those that another
	// engine covered included. It is called from the caller's goroutine, must be
	// quick, and may be nil.
	Failed func(engine string, err error)
}

// FailoverLLM tries language models in order. The first to give text or a tool
// call answers; from then on its error is the reply's error, since half a reply
// cannot be taken back. Safe for use from several goroutines.
type FailoverLLM struct {
	engines []LLM
	health  *health
}

// NewFailoverLLM needs at least one engine and panics without.
func NewFailoverLLM(c FailoverConfig, engines ...LLM) *FailoverLLM {
	return &FailoverLLM{engines, newHealth(c, engines)}
}

// Info joins the engines' names and languages; the rest describes the engine
// that is tried next, so that scripted answers are labelled when they are due.
func (f *FailoverLLM) Info() Info { return f.health.info() }

// Complete implements LLM. What a failed attempt consumed is not passed on.
func (f *FailoverLLM) Complete(ctx context.Context, r Request) iter.Seq2[Delta, error] {
	open := func(ctx context.Context, i int) iter.Seq2[Delta, error] {
		name := f.health.infos[i]().Name
		return signed(f.engines[i].Complete(ctx, r), func(d *Delta) { d.Engine = name })
	}
	content := func(d Delta) bool { return d.Text != "" || d.ToolCall != nil }
	return stream(ctx, f.health, f.health.order, open, content)
}

// Warm implements Warmer: the engine that is tried next prepares.
func (f *FailoverLLM) Warm(ctx context.Context) { Warm(ctx, f.engines[f.health.order()[0]]) }

// FailoverTTS tries voices in order, as FailoverLLM does models; those that stream and those
// that take whole texts may stand in for each other. Safe for use from several goroutines.
type FailoverTTS struct {
	engines []TTS
	health  *health
}

// NewFailoverTTS needs at least one engine and panics without.
func NewFailoverTTS(c FailoverConfig, engines ...TTS) *FailoverTTS {
	return &FailoverTTS{engines, newHealth(c, engines)}
}

// Info is like FailoverLLM's.
func (f *FailoverTTS) Info() Info { return f.health.info() }

// Voices lists every voice that at least one engine has, in the engines' order.
func (f *FailoverTTS) Voices() []Voice {
	var all []Voice
	for _, e := range f.engines {
		for _, v := range e.Voices() {
			if !slices.ContainsFunc(all, func(w Voice) bool { return w.ID == v.ID }) {
				all = append(all, v)
			}
		}
	}
	return all
}

// Warm is like FailoverLLM's.
func (f *FailoverTTS) Warm(ctx context.Context) { Warm(ctx, f.engines[f.health.order()[0]]) }

// Speak implements TTS.
func (f *FailoverTTS) Speak(ctx context.Context, s Speech) iter.Seq2[Chunk, error] {
	return f.speech(ctx, f.health.order, func(ctx context.Context, i int) iter.Seq2[Chunk, error] { return f.engines[i].Speak(ctx, s) })
}

// speech is the audio of one text, by the first engine in order that gives any.
func (f *FailoverTTS) speech(ctx context.Context, order func() []int, open func(context.Context, int) iter.Seq2[Chunk, error]) iter.Seq2[Chunk, error] {
	named := func(ctx context.Context, i int) iter.Seq2[Chunk, error] {
		name := f.health.infos[i]().Name
		return signed(open(ctx, i), func(c *Chunk) { c.Engine = name })
	}
	return stream(ctx, f.health, order, named, func(c Chunk) bool { return len(c.Samples) > 0 })
}

// health remembers which engines failed a short while ago.
type health struct {
	FailoverConfig
	infos []func() Info

	mu    sync.Mutex
	until []time.Time // per engine: tried after the others until then
}

func newHealth[E interface{ Info() Info }](c FailoverConfig, engines []E) *health {
	if len(engines) == 0 {
		panic("inference: failover without an engine")
	}
	if c.Cooldown == 0 {
		c.Cooldown = 30 * time.Second
	}
	h := &health{FailoverConfig: c, until: make([]time.Time, len(engines))}
	for _, e := range engines {
		h.infos = append(h.infos, e.Info)
	}
	return h
}

// order is the engines to try: the well ones as configured, then the others, the
// one whose rest ends first in front. They are a last resort, never left out: a
// list with nobody well must not refuse what might work.
func (h *health) order() []int {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	order := make([]int, len(h.until))
	for i := range order {
		order[i] = i
	}
	rest := func(i int) time.Duration { return max(0, h.until[i].Sub(now)) }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rest(a), rest(b)) })
	return order
}

// failed records an engine's failure; its server may say for how long. A refusal (credentials, request, voice,
// language) comes at once and may be about this request only, so the engine
// keeps its place: one customer's odd request must not move everybody else.
func (h *health) failed(i int, err error) {
	if f := FaultOf(err); f == ErrFailed || f == ErrUnavailable {
		rest := h.Cooldown
		if e, ok := errors.AsType[*Error](err); ok && e.RetryAfter > 0 {
			rest = e.RetryAfter
		}
		h.mu.Lock()
		h.until[i] = time.Now().Add(rest)
		h.mu.Unlock()
	}
	if h.Failed != nil {
		h.Failed(h.infos[i]().Name, err)
	}
}

func (h *health) well(i int) {
	h.mu.Lock()
	h.until[i] = time.Time{}
	h.mu.Unlock()
}

func (h *health) info() Info {
	next := h.infos[h.order()[0]]()
	var names []string
	var languages []string
	for _, info := range h.infos {
		one := info()
		// Text and audio are made for any of them.
		next.NormalisesText = next.NormalisesText && one.NormalisesText
		next.Caps.Detects = next.Caps.Detects && one.Caps.Detects // each that may take over
		next.Caps.In = slices.DeleteFunc(slices.Clone(next.Caps.In), func(f Format) bool { return !slices.Contains(one.Caps.In, f) })
		names = append(names, one.Name)
		for _, l := range one.Languages {
			if !slices.Contains(languages, l) {
				languages = append(languages, l)
			}
		}
	}
	next.Name, next.Languages = strings.Join(names, ","), languages
	return next
}

// stalled is the error of an engine that First ran out on.
func (h *health) stalled(i int) error {
	return &Error{Engine: h.infos[i]().Name, Fault: ErrFailed, Err: ErrStalled}
}

// graver picks the error to report for all attempts: a failure that may pass
// says more than a refusal, and of the same kind the preferred engine's counts.
func graver(a, b error) error {
	rank := func(err error) int {
		switch FaultOf(err) {
		case ErrFailed, ErrUnavailable:
			return 2
		case ErrRefused:
			return 1
		}
		return 0
	}
	if a == nil || rank(b) > rank(a) {
		return b
	}
	return a
}
