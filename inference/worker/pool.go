// Package worker runs speech engines in child processes and speaks with them in
// small framed messages over their standard input and output. A Pool starts the
// children, hands their slots out, starts again what dies and leaves no orphan;
// the message format is shared with the program at the other end of the pipes.
//
// Native engines live behind it because their crashes, their global state and
// their licences must not become the server's, and in package sandbox because they
// read what strangers say and write.
package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"parley/inference"
	"parley/media/isolate"
)

// Program is the file name of the worker program.
const Program = "parley-speech"

const (
	// A child that dies is started again after minBackoff; each death within
	// steadyAfter of its start doubles that up to maxBackoff, which keeps the
	// promise that the next request is served within a second.
	minBackoff  = 20 * time.Millisecond
	maxBackoff  = 400 * time.Millisecond
	steadyAfter = 10 * time.Second
	// patience is how long Open waits while no child lives at all.
	patience = 2 * time.Second
)

// The faults of a pool.
var (
	ErrNoWorker = errors.New("no worker process is running")
	ErrBusy     = errors.New("too many requests wait for a worker")
	ErrLost     = errors.New("the worker process died")
)

// Fault is an error of a pool as one of an engine; the end of a context stays what it is.
func Fault(engine string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrBusy), errors.Is(err, ErrNoWorker):
		return &inference.Error{Engine: engine, Fault: inference.ErrUnavailable, Err: err}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return &inference.Error{Engine: engine, Fault: inference.ErrFailed, Err: err}
}

// Processors is what libraries read of the machine to choose instructions that it has, for
// Config.Read.
var Processors = []string{"/proc/cpuinfo", "/sys/devices/system/cpu"}

// Config says what a pool runs.
type Config struct {
	Name      string   // for logs, such as "espeak"
	Path      string   // the program; empty: Locate
	Args      []string // its arguments
	Read      []string // files and directories that it reads besides the system's, see sandbox.Config
	Files     []string // files that it reads although its account may not reach them, see sandbox.Config
	Processes int      // how many children, at least 1
	Streams   int      // how many streams a child serves at a time, at least 1
	Waiting   int      // how many Opens may wait for a slot; more fail with ErrBusy
	// HungAfter is how long a child may not answer before it is killed; 0: 10 s.
	HungAfter time.Duration
	Log       *slog.Logger
}

// Pool is a supervised set of equal child processes. Its methods may be called
// from several goroutines.
type Pool struct {
	cfg Config

	mu      sync.Mutex
	live    []*process    // ready to serve
	waiters []*waiter     // oldest first
	fault   error         // why the latest child ended or did not start
	changed chan struct{} // closed and replaced when live or fault changes
}

type waiter struct {
	h     Handler
	since time.Time
	got   chan *Stream // capacity 1: the giver never waits
}

// Handler receives what a child says to one stream. Its methods are called from
// the goroutine that reads the child, so they must not block. A call that was
// under way may still arrive while Stream.Close returns.
type Handler interface {
	// Receive takes one message; the payload is valid until it returns.
	Receive(kind Kind, payload []byte)
	// Lost is called once, as the last, when the child has died.
	Lost()
}

// NewPool returns a pool; Run starts it.
func NewPool(c Config) *Pool {
	c.Processes, c.Streams = max(1, c.Processes), max(1, c.Streams)
	c.Log, c.HungAfter = cmp.Or(c.Log, slog.Default()), cmp.Or(c.HungAfter, defaultHungAfter)
	return &Pool{cfg: c, changed: make(chan struct{})}
}

// Locate finds the worker program: beside the running executable, else on PATH.
func Locate() (string, error) {
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), Program)
		if path, err := exec.LookPath(beside); err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath(Program)
	if err != nil {
		return "", fmt.Errorf("%s lies neither beside this program nor on PATH", Program)
	}
	return path, nil
}

// Run keeps the children alive until ctx ends, then ends them and waits for
// all. It is called once.
func (p *Pool) Run(ctx context.Context) error {
	var slots sync.WaitGroup
	for range p.cfg.Processes {
		slots.Add(1)
		isolate.Keep(ctx, "inference/worker/child", func() { p.keep(ctx) }, slots.Done)
	}
	slots.Wait()
	return nil
}

// keep runs one child after the other.
func (p *Pool) keep(ctx context.Context) {
	backoff, quiet := minBackoff, time.Time{}
	for ctx.Err() == nil {
		started := time.Now()
		err := p.runProcess(ctx)
		if ctx.Err() != nil {
			return
		}
		p.mu.Lock()
		p.fault = err
		p.announceLocked()
		p.mu.Unlock()
		if time.Since(started) > steadyAfter {
			backoff, quiet = minBackoff, time.Time{}
		}
		if now := time.Now(); now.After(quiet) { // a program that never starts says so once a minute
			p.cfg.Log.Error("speech worker ended, starting it again", "engine", p.cfg.Name, "err", err)
			if backoff == maxBackoff {
				quiet = now.Add(time.Minute)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(backoff):
		}
		backoff = min(2*backoff, maxBackoff)
	}
}

// Open takes a slot of the least loaded child for h. It waits in line while all
// are taken; Close gives the slot back. Errors: ErrBusy, ErrNoWorker, the cause of ctx.
func (p *Pool) Open(ctx context.Context, h Handler) (*Stream, error) {
	p.mu.Lock()
	if len(p.waiters) == 0 {
		if s := p.takeLocked(h); s != nil {
			p.mu.Unlock()
			return s, nil
		}
	}
	if len(p.waiters) >= p.cfg.Waiting {
		p.mu.Unlock()
		return nil, ErrBusy
	}
	w := &waiter{h: h, since: time.Now(), got: make(chan *Stream, 1)}
	p.waiters = append(p.waiters, w)
	p.mu.Unlock()

	for {
		select {
		case s := <-w.got:
			return s, nil
		case <-ctx.Done():
			return nil, p.leave(w, context.Cause(ctx))
		case <-time.After(patience):
			if err := p.absent(); err != nil {
				return nil, p.leave(w, err)
			}
		}
	}
}

// leave takes w out of the line; a slot it was given meanwhile goes back.
func (p *Pool) leave(w *waiter, why error) error {
	p.mu.Lock()
	p.waiters = slices.DeleteFunc(p.waiters, func(o *waiter) bool { return o == w })
	p.mu.Unlock()
	select {
	case s := <-w.got:
		s.Close()
	default:
	}
	return why
}

// absent is nil while a child lives, else why there is none.
func (p *Pool) absent() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case len(p.live) > 0:
		return nil
	case p.fault != nil:
		return fmt.Errorf("%w: %w", ErrNoWorker, p.fault)
	}
	return ErrNoWorker
}

// Ready waits until a child serves. It returns why not when the first one to
// end did so before that, or the cause of ctx.
func (p *Pool) Ready(ctx context.Context) error {
	for {
		p.mu.Lock()
		changed, live, fault := p.changed, len(p.live), p.fault
		p.mu.Unlock()
		if live > 0 {
			return nil
		}
		if fault != nil {
			return fmt.Errorf("%w: %w", ErrNoWorker, fault)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// PIDs lists the children that are ready to serve.
func (p *Pool) PIDs() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	var pids []int
	for _, c := range p.live {
		pids = append(pids, c.cmd.Process.Pid)
	}
	return pids
}

// Busy is the number of streams that are open.
func (p *Pool) Busy() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, c := range p.live {
		n += len(c.streams)
	}
	return n
}

// Lag is how long the first in line has waited for a slot; 0 without a line.
func (p *Pool) Lag() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiters) == 0 {
		return 0
	}
	return time.Since(p.waiters[0].since)
}

// takeLocked opens a stream on the least loaded child with a free slot, or nil.
func (p *Pool) takeLocked(h Handler) *Stream {
	var best *process
	for _, c := range p.live {
		if len(c.streams) < p.cfg.Streams && (best == nil || len(c.streams) < len(best.streams)) {
			best = c
		}
	}
	if best == nil {
		return nil
	}
	best.lastID++
	s := &Stream{process: best, id: best.lastID, h: h}
	best.streams[s.id] = s
	return s
}

// serveLocked gives free slots to those who wait.
func (p *Pool) serveLocked() {
	for len(p.waiters) > 0 {
		s := p.takeLocked(p.waiters[0].h)
		if s == nil {
			return
		}
		p.waiters[0].got <- s
		p.waiters = p.waiters[1:]
	}
}

func (p *Pool) announceLocked() {
	close(p.changed)
	p.changed = make(chan struct{})
}
