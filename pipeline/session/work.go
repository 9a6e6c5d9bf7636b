package session

import (
	"context"
	"errors"

	"parley/billing"
	"parley/media"
	"parley/media/isolate"
	"parley/store/ledger"
)

// Work is a session without a conversation: synthesis, recognition or noise
// removal that somebody asked the API for. Its methods may be called from any
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

// Work lets work of the kind start for an account that a key of it asks for, or none, or refuses with ErrDraining or
// the store's refusal. When expected is not 0 it is how much will be used, code
// points or milliseconds: all of it must stay above the overdraft floor. Every Work
// must be ended.
func (m *Manager) Work(ctx context.Context, account, key string, kind billing.Kind, expected int64) (*Work, error) {
	w := &Work{unit: units[kind]}
	w.s = &Session{m: m, work: w}
	if err := m.enter(w.s); err != nil {
		return nil, err
	}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	start := ledger.Start{Account: account, Key: key, Terms: billing.Terms{Kind: kind}}
	start.Expect[w.unit] = expected
	if err := m.open(ctx, w.s, start); err != nil {
		w.cancel(err)
		return nil, err
	}
	w.s.Begin()
	return w, nil
}

// Context ends when the work must stop: its cause is a *media.Ended then. It ends
// with the context that Work was given, too, and with End.
func (w *Work) Context() context.Context { return w.ctx }

// ID is the identifier of the session that is charged.
func (w *Work) ID() string { return w.s.ID() }

// Used counts n more code points, or milliseconds of audio.
func (w *Work) Used(n int64) { w.s.meter.Add(w.unit, n) }

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
