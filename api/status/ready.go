package status

import (
	"context"
	"errors"
	"sync"
	"time"

	"parley/inference"
	"parley/media/isolate"
)

// Bounds of the checks.
const (
	checkTimeout = time.Second // clients wait 10 s for an answer
	checkEvery   = time.Second
)

// state is what does not work, and why; nil for what does.
type state struct {
	database, storage error
	engines           []error // as Server.Engines
}

// engine is why an engine does not work, or nil when all do.
func (s state) engine() error { return errors.Join(s.engines...) }

func (s state) ready() bool { return s.database == nil && s.storage == nil && s.engine() == nil }

// check says what works, by checks that are at most a second old.
func (s *Server) check() state {
	if found, ok := s.state.Get(checkEvery, checkTimeout, s.runChecks); ok {
		return found
	}
	overdue := state{database: context.DeadlineExceeded, storage: context.DeadlineExceeded, engines: make([]error, len(s.Engines))}
	for i := range overdue.engines {
		overdue.engines[i] = context.DeadlineExceeded
	}
	return overdue
}

func (s *Server) runChecks(ctx context.Context) state {
	now := state{engines: make([]error, len(s.Engines))}
	var wg sync.WaitGroup
	run := func(test func(context.Context) error, result *error) {
		if test != nil {
			*result = isolate.Internal // until it says otherwise
			wg.Add(1)
			isolate.Go("api/status/check", nil, func() { *result = test(ctx) }, wg.Done)
		}
	}
	run(s.Database, &now.database)
	run(s.Storage, &now.storage)
	for i, e := range s.Engines {
		run(e.Ready, &now.engines[i])
	}
	wg.Wait()
	return now
}

// reason says to a customer why an engine cannot work. What the error itself says
// is the operator's business.
func reason(err error) string {
	if fault, ok := errors.AsType[*inference.Error](err); ok {
		return fault.Fault.String()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "does not answer"
	}
	return inference.ErrUnavailable.String()
}

// Recent remembers what a look at something found, so that strangers, who need no
// credential to ask, cannot have the server look at itself all day. One look runs at a
// time, on a goroutine of its own, and ends by itself. The zero
// Recent is ready; it may be used from several goroutines.
type Recent[T any] struct {
	mu    sync.Mutex
	at    time.Time // of the last answer
	last  T
	began time.Time     // of the look in progress
	done  chan struct{} // closed at its end; nil: there is none
	broke bool          // the latest one that ended had a panic
}

// grace is how long those who ask wait for a look whose context has ended.
const grace = 250 * time.Millisecond

// Get returns what look found, at most every ago. The look's context ends after patience.
// It is not ok when the look hangs nevertheless: then it is not waited for any more until it
// has ended. Nor is it when the look had a panic; the next Get looks anew.
func (r *Recent[T]) Get(every, patience time.Duration, look func(context.Context) T) (found T, ok bool) {
	r.mu.Lock()
	if !r.at.IsZero() && time.Since(r.at) < every {
		defer r.mu.Unlock()
		return r.last, true
	}
	if r.done == nil {
		r.began, r.done = time.Now(), make(chan struct{})
		found := false
		isolate.Go("api/status/look", nil, func() {
			r.run(patience, look)
			found = true
		}, func() { r.over(found) })
	}
	done, left := r.done, patience+grace-time.Since(r.began)
	r.mu.Unlock()
	t := time.NewTimer(left)
	defer t.Stop()
	select {
	case <-done:
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.last, !r.broke
	case <-t.C:
		return found, false
	}
}

func (r *Recent[T]) run(patience time.Duration, look func(context.Context) T) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	found := look(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at, r.last = time.Now(), found
}

// over ends a look.
func (r *Recent[T]) over(found bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.done)
	r.done, r.broke = nil, !found
}

// Forget has the next Get look anew.
func (r *Recent[T]) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at = time.Time{}
}
