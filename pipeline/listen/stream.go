package listen

import (
	"context"
	"errors"
	"time"

	"parley/inference"
)

const (
	// A recogniser whose stream falls is opened again at once, then after waits that
	// double: it may be down for good, and the call lives without it.
	reopenFirst = 250 * time.Millisecond
	reopenMost  = 4 * time.Second
	// maxRefused is how many streams in a row may open and then be refused. No other is opened after them.
	maxRefused = 3
	// never is the wait after them.
	never = -1
)

// errStreamEnded is the fault of a recogniser that gives no reason.
var errStreamEnded = errors.New("the stream ended")

// Forward hands on the results of an engine's stream until it ends, and returns why; or until give says that nobody wants more.
func Forward(engine string, results <-chan inference.Result, give func(inference.Result) bool) error {
	for r := range results {
		if r.Err != nil || !give(r) {
			return r.Err
		}
	}
	return &inference.Error{Engine: engine, Fault: inference.ErrFailed, Err: errStreamEnded}
}

// refused says that an engine will not serve this call however often it is asked.
func refused(err error) bool { return inference.FaultOf(err) == inference.ErrRefused }

// Fallen takes the recogniser away whose stream has ended by err, to be closed; nil: stream is not the present one. Reopen opens
// another, after wait.
func (c *Caller) Fallen(stream int, err error) (old inference.Recognition, wait time.Duration) {
	e := &c.feed
	if stream != e.stream || e.asr == nil {
		return nil, 0
	}
	old = e.asr
	e.asr, e.asked = nil, [maxAsked]time.Time{}
	if e.fallen > 0 {
		wait = min(reopenMost, reopenFirst<<min(e.fallen-1, 8))
	}
	if e.fallen++; e.fallen >= maxRefused && refused(err) {
		wait = never
	}
	return old, wait
}

// Reopen opens a stream after wait, as Fallen says, as often as it takes. It returns nil when the engines refuse, and when ctx has
// ended.
func Reopen(ctx context.Context, wait time.Duration, open func() (inference.Recognition, error)) inference.Recognition {
	for wait != never {
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return nil
		}
		asr, err := open()
		switch {
		case err == nil:
			return asr
		case refused(err):
			return nil
		}
		wait = min(reopenMost, max(reopenFirst, 2*wait))
	}
	return nil
}
