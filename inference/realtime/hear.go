package realtime

import (
	"context"
	"sync/atomic"

	"parley/inference"
	"parley/media/isolate"
)

// ASR is the engine as a recogniser. A stream of it is a session.
func (c *Call) ASR() inference.ASR { return recogniser{c} }

type recogniser struct{ *Call }

// Info implements inference.ASR.
func (c recogniser) Info() inference.Info { return c.info() }

// Open implements inference.ASR. The session begins with the prompt, the functions and the history of the latest
// request; hints are the engine's own prompt.
func (c recogniser) Open(ctx context.Context, a inference.ASRConfig) (inference.Recognition, error) {
	r := &recognition{call: c.Call, results: make(chan inference.Result)}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	if err := c.open(r); err != nil {
		r.cancel(err)
		return nil, err
	}
	isolate.Go("inference/realtime/results", r.cancel, r.deliver, func() { close(r.results) })
	return r, nil
}

// recognition is a session as a stream of results. An utterance has ended when the conductor says so; what the
// engine heard meanwhile is final.
type recognition struct {
	inference.NoContext
	call    *Call
	session atomic.Pointer[inference.Session] // changed under the call's lock
	ctx     context.Context
	cancel  context.CancelCauseFunc
	results chan inference.Result

	// Held under the call's lock.
	queue    []inference.Result // not delivered yet
	finished int                // utterances
	owed     bool               // the last result of the latest finished one is
	texts    int                // of the utterance in progress
}

// Write implements inference.Recognition.
func (r *recognition) Write(samples []int16) { (*r.session.Load()).Write(samples) }

// Finish implements inference.Recognition. An utterance of which the engine has heard nothing yet ends the caller's
// turn there, too.
func (r *recognition) Finish() int {
	r.call.mu.Lock()
	defer r.call.mu.Unlock()
	r.finished++
	if r.owed = r.texts == 0; r.owed {
		(*r.session.Load()).Commit()
	} else {
		r.lastLocked("")
	}
	return r.finished
}

// Resume implements inference.Recognition.
func (r *recognition) Resume() {
	r.call.mu.Lock()
	defer r.call.mu.Unlock()
	r.finished--
	r.owed = false
}

// heardLocked takes what the caller said in a turn that the engine has found to be over.
func (r *recognition) heardLocked(text string) {
	end := inference.Result{Event: inference.EventTurnEnd, Utterance: r.finished + 1, EndProb: 1, Confidence: -1}
	if r.owed {
		end.Utterance = r.finished
		r.lastLocked(text)
	} else {
		r.texts++
		r.queue = append(r.queue, inference.Result{Utterance: r.finished + 1, Text: text, Final: true, Confidence: -1})
	}
	r.queue = append(r.queue, end)
}

// lastLocked ends the latest finished utterance.
func (r *recognition) lastLocked(text string) {
	r.owed, r.texts = false, 0
	r.queue = append(r.queue, inference.Result{Utterance: r.finished, Text: text, Final: true, Last: true, Confidence: -1})
	r.call.signalLocked()
}

// deliver hands on the results in order, until one carries an error.
func (r *recognition) deliver() {
	for {
		var next inference.Result
		err := r.call.await(r.ctx, func() (ok bool) {
			if ok = len(r.queue) > 0; ok {
				next, r.queue = r.queue[0], r.queue[1:]
			}
			return ok
		})
		if err != nil {
			return
		}
		select {
		case r.results <- next:
		case <-r.ctx.Done():
			return
		}
		if next.Err != nil {
			return
		}
	}
}

// Results implements inference.Recognition.
func (r *recognition) Results() <-chan inference.Result { return r.results }

// Close implements inference.Recognition: the session ends.
func (r *recognition) Close() {
	r.cancel(nil)
	r.call.mu.Lock()
	s := *r.session.Load() // no other follows
	r.call.mu.Unlock()
	s.Close()
}
