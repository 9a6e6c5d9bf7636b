package session

import (
	"context"
	"errors"

	"parley/billing"
	"parley/inference"
	"parley/media"
	"parley/media/isolate"
	"parley/pipeline/agent"
	"parley/store/ledger"
)

// Work is a session without a conversation: synthesis, recognition or noise
// removal that somebody asked the API for, or models that try an agent. Its methods may be called from any
// goroutine.
type Work struct {
	s      *Session
	ctx    context.Context
	cancel context.CancelCauseFunc
	unit   billing.Component
}

// units are what each kind of work is counted in.
var units = map[billing.Kind]billing.Component{
	billing.TTS: billing.TTSChars, billing.STT: billing.STTTime, billing.Denoise: billing.DenoiseTime,
}

// Order asks for work.
type Order struct {
	Account string
	Key     string // of the account's, that asks; empty: none
	Agent   string // of the account's, that is tried, whose limits of spending count; empty: none
	Kind    billing.Kind
	// Expected is how much will be used, code points or milliseconds: all of it must stay above the overdraft floor.
	// 0: that is not known.
	Expected int64
	// Tokens are expected of a Test, in and out.
	Tokens [2]int64
	// Engines is what Serves takes; nil: nothing is known of them.
	Engines func(stage agent.Stage, name string) Engine
}

// Work lets work start, or refuses with ErrDraining or the store's refusal. Every Work must be ended.
func (m *Manager) Work(ctx context.Context, o Order) (*Work, error) {
	w := &Work{unit: units[o.Kind]}
	w.s = &Session{m: m, work: w, uses: uses{of: o.Engines}}
	if err := m.enter(w.s); err != nil {
		return nil, err
	}
	w.ctx, w.cancel = context.WithCancelCause(inference.Meter(w.s.Spent).With(ctx))
	start := ledger.Start{Account: o.Account, Key: o.Key, Agent: o.Agent, Terms: billing.Terms{Kind: o.Kind}}
	if o.Kind == billing.Test {
		start.Expect[billing.ReplyIn], start.Expect[billing.ReplyOut] = o.Tokens[0], o.Tokens[1]
	} else {
		start.Expect[w.unit] = o.Expected
	}
	if err := m.open(ctx, w.s, start); err != nil {
		w.cancel(err)
		return nil, err
	}
	w.s.Begin()
	return w, nil
}

// Context ends when the work must stop: its cause is a *media.Ended then. It ends
// with the context that Work was given, too, and with End. What engines use with it is stored with the end.
func (w *Work) Context() context.Context { return w.ctx }

// ID is the identifier of the session that is charged.
func (w *Work) ID() string { return w.s.ID() }

// Used counts n more code points, or milliseconds of audio.
func (w *Work) Used(n int64) { w.s.meter.Add(w.unit, n) }

// Answered counts what an answer of a language model took, of a Test alone: the tokens are
// those of replies, or on a key of the account's own. engine is its name.
func (w *Work) Answered(engine string, u inference.Usage) {
	w.s.note(func() {
		if w.s.uses.add(agent.StageLLM, engine, inference.Usage{In: u.In, Out: u.Out, Cached: u.Cached, Source: u.Source}).Own {
			w.s.meter.AddOwn(u.In, u.Out)
		} else {
			w.s.meter.AddTokens(billing.Reply, u.In, u.Out)
		}
	})
}

// End closes the books of the work, which err ended: nil when it was done, the
// client's going when that was it, isolate.Internal when it panicked, else our fault. It returns when the store has
// them; only the first End counts.
func (w *Work) End(err error) {
	why := media.Ended{Reason: media.Completed}
	cause, stopped := errors.AsType[*media.Ended](context.Cause(w.ctx))
	switch {
	case err == nil:
	case errors.Is(err, isolate.Internal):
		why = *isolate.Internal
	case stopped:
		why = *cause
	case errors.Is(err, context.Canceled):
		why = media.Ended{Reason: media.UserHangup}
	default:
		why = media.Ended{Reason: media.Failed, Detail: media.EngineFailed}
	}
	w.cancel(context.Canceled)
	w.s.End(why)
}
