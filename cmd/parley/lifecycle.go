package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// lifecycle owns the parts of a running server. Parts start in order; they stop
// one after the other in reverse, so that each can use the ones before it until
// it has ended. start and stop are for one goroutine.
type lifecycle struct {
	log    *slog.Logger
	parts  []*part
	failed chan error // the first part that ended by itself; one is enough to end all
}

// part is something that runs.
type part struct {
	name string
	end  func()        // asks it to end; may be called more than once
	done chan struct{} // closed when it has ended
}

var errStopping = errors.New("the server stops")

func newLifecycle(log *slog.Logger) *lifecycle {
	return &lifecycle{log: log, failed: make(chan error, 1)}
}

// run starts a part that runs until its context ends. One that returns earlier,
// even without an error, ends the whole server.
func (l *lifecycle) run(name string, f func(ctx context.Context) error) *part {
	ctx, cancel := context.WithCancelCause(context.Background())
	p := &part{name: name, end: func() { cancel(errStopping) }, done: make(chan struct{})}
	l.parts = append(l.parts, p)
	go func() {
		defer close(p.done)
		err := f(ctx)
		if ctx.Err() != nil {
			if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, errStopping) {
				l.log.Warn("a part did not stop in good order", "part", name, "err", err)
			}
			return
		}
		if err == nil {
			err = errors.New("ended unexpectedly")
		}
		select {
		case l.failed <- fmt.Errorf("%s: %w", name, err):
		default: // another part was first, and that is the reason people need
		}
	}()
	return p
}

// onStop adds a part that does not run but has to be closed.
func (l *lifecycle) onStop(name string, closer func() error) {
	l.run(name, func(ctx context.Context) error {
		<-ctx.Done()
		return closer()
	})
}

// stop ends all parts, the last one first, and waits for them for as long as
// patience lasts in all. A part that hangs is named and left behind.
func (l *lifecycle) stop(patience time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for i := len(l.parts) - 1; i >= 0; i-- {
		l.parts[i].stop(ctx, l.log)
	}
}

// stop ends one part before its turn; ending it again does nothing.
func (p *part) stop(ctx context.Context, log *slog.Logger) {
	p.end()
	select {
	case <-p.done:
	case <-ctx.Done():
		log.Error("a part does not stop", "part", p.name)
	}
}
