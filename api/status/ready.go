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
