package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

const (
	// interruptPatience is how long Ctrl-C waits for calls: somebody is looking on.
	interruptPatience = 5 * time.Second
	// echo is within what time a second signal is the first one again: some
	// supervisors signal the process and then its whole group.
	echo = 20 * time.Millisecond
)

// stopRequest is the cause of a server's context after a signal.
type stopRequest struct {
	signal   os.Signal
	patience time.Duration // for calls in progress
}

func (s *stopRequest) Error() string { return "received " + s.signal.String() }

// watchSignals turns signals into the ends of two contexts until ctx ends: drain
// at the first SIGTERM or SIGINT, now at the second. A third one kills the
// process, as if we were not watching. SIGHUP reloads.
func (s *server) watchSignals(ctx context.Context, in chan os.Signal, drain, now context.CancelCauseFunc) {
	var asked time.Time // when the first one came
	for {
		select {
		case <-ctx.Done():
			return
		case sig := <-in:
			patience := s.cfg.DrainTimeout
			if sig == os.Interrupt {
				patience = min(patience, interruptPatience)
			}
			switch {
			case sig == syscall.SIGHUP:
				s.reload(ctx)
			case asked.IsZero():
				asked = time.Now()
				drain(&stopRequest{sig, patience})
			case time.Since(asked) >= echo:
				s.log.Warn("stopping at once", "signal", sig.String())
				now(&stopRequest{signal: sig})
				signal.Stop(in)
				return
			}
		}
	}
}

// onReload adds something to do at SIGHUP.
func (s *server) onReload(name string, f func(ctx context.Context) error) {
	s.reloadMu.Lock()
	defer s.reloadMu.Unlock()
	s.reloaders = append(s.reloaders, reloader{name, f})
}

type reloader struct {
	name string
	f    func(ctx context.Context) error
}

// reload runs everything that onReload added; what fails keeps its old state.
func (s *server) reload(ctx context.Context) {
	s.reloadMu.Lock()
	defer s.reloadMu.Unlock()
	s.log.Info("reloading", "parts", len(s.reloaders))
	for _, r := range s.reloaders {
		if err := r.f(ctx); err != nil {
			s.log.Error("reload failed; the old state stays", "part", r.name, "err", err)
		}
	}
}
