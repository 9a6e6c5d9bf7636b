package private

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Times of the child's life.
const (
	// leftoverPatience is how long a start waits for what a killed server left
	// behind (its processes notice within moments and give up the lock file),
	// and how long a server that ran and died is tried again.
	leftoverPatience = 10 * time.Second
	// The pause before the next try doubles, so that a long wait is a short log.
	firstPause   = 100 * time.Millisecond
	longestPause = time.Second
	pollEvery    = 5 * time.Millisecond
	// stopPatience is for the last checkpoint of an orderly stop; after that the
	// next start recovers from the log instead.
	stopPatience = 30 * time.Second
	killPatience = 5 * time.Second
)

// supervise starts the server again and again until ctx ends, and closes ready
// when it answers for the first time.
//
// It keeps its thread: the kernel ties the child's death signal to the thread
// that forked it, not to our process.
func (c *Cluster) supervise(ctx context.Context, ready chan struct{}) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(c.done)
	defer c.release()
	giveUp := time.Now().Add(c.opts.patience)
	pause := firstPause
	first := true
	for {
		p, err := c.spawn()
		if err != nil {
			c.err = fmt.Errorf("start PostgreSQL: %w", err)
			return
		}
		if c.await(ctx, p) {
			if first {
				close(ready)
			} else {
				c.log.Warn("the database is back")
			}
			first = false
			select {
			case <-p.exited:
			case <-ctx.Done():
			}
			giveUp = time.Now().Add(c.opts.patience)
			pause = firstPause
		}
		if ctx.Err() != nil {
			p.stop()
			return
		}
		reason := p.log.lastFatal()
		if time.Now().After(giveUp) || first && !leftover(reason) {
			c.err = diagnose(p.err, reason)
			return
		}
		if !first {
			c.log.Warn("the database's process ended; starting it again", "err", p.err, "reason", reason)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
		pause = min(2*pause, longestPause)
	}
}

// leftover recognises what a start meets right after a kill: the old lock file,
// or shared memory that old processes have not let go of yet.
func leftover(reason string) bool {
	return strings.Contains(reason, "lock file") || strings.Contains(reason, "still in use")
}

func diagnose(exit error, reason string) error {
	if leftover(reason) {
		return fmt.Errorf("%w: %s", ErrInUse, reason)
	}
	return fmt.Errorf("PostgreSQL ended: %v: %s", exit, reason)
}

// process is one run of the server.
type process struct {
	cmd    *exec.Cmd
	log    *lineLog
	exited chan struct{}
	err    error // set before exited is closed
}

func (c *Cluster) spawn() (*process, error) {
	if err := c.removeStaleLocks(); err != nil {
		return nil, err
	}
	p := &process{log: &lineLog{log: c.log}, exited: make(chan struct{})}
	p.cmd = exec.Command(filepath.Join(c.bin, "postgres"), c.arguments()...)
	p.cmd.Dir = c.data
	p.cmd.Env = environment
	p.cmd.Stderr = p.log
	// Orphans of a killed server may hold its standard error a little longer.
	p.cmd.WaitDelay = time.Second
	p.cmd.SysProcAttr = &syscall.SysProcAttr{
		Credential: c.run.drop,
		Setpgid:    true, // a Ctrl-C on our terminal is not for the database
	}
	EndWithParent(p.cmd.SysProcAttr, syscall.SIGINT) // PostgreSQL's word for a fast, orderly stop
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { // not isolated: there is nothing of ours in it
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	return p, nil
}

func (c *Cluster) arguments() []string {
	set := []string{
		"listen_addresses=",
		"port=5432",
		"unix_socket_directories=" + c.socket,
		"unix_socket_permissions=0700",
		"timezone=UTC",
		"log_timezone=UTC",
		"cluster_name=parley",
		"logging_collector=off",
		"log_destination=stderr",
		"log_line_prefix=",
		// Failing statements are reported to their sender; their text and
		// values have no place in a log.
		"log_min_messages=log",
		"log_min_error_statement=panic",
		"log_error_verbosity=terse",
		"log_checkpoints=off",
	}
	if c.opts.Volatile {
		set = append(set, "fsync=off", "full_page_writes=off", "synchronous_commit=off", "autovacuum=off", "jit=off", "max_wal_size=64MB", "min_wal_size=32MB")
	}
	args := []string{"-D", c.data}
	for _, s := range set {
		args = append(args, "-c", s)
	}
	return args
}

// await polls until the server answers, which a recovery may put off for long,
// and says whether it does; false when it died or ctx ended first.
func (c *Cluster) await(ctx context.Context, p *process) bool {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-p.exited:
			return false
		case <-ctx.Done():
			return false
		case <-tick.C:
			// A leftover of a killed server may still answer; ask only when the
			// lock file is ours.
			if p.owns(c.data) && answers(ctx, c.socket) {
				return true
			}
		}
	}
}

// stop ends the process: in good order, then without a checkpoint, then by force.
func (p *process) stop() {
	for _, s := range []struct {
		signal   syscall.Signal
		patience time.Duration
	}{{syscall.SIGINT, stopPatience}, {syscall.SIGQUIT, killPatience}, {syscall.SIGKILL, killPatience}} {
		if err := p.cmd.Process.Signal(s.signal); err != nil {
			break // it has ended
		}
		select {
		case <-p.exited:
			return
		case <-time.After(s.patience):
		}
	}
	<-p.exited
}

// lineLog passes PostgreSQL's lines to our log and remembers the last fatal one.
type lineLog struct {
	log *slog.Logger

	mu      sync.Mutex
	partial []byte
	fatal   string
}

func (l *lineLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.partial = append(l.partial, b...)
	for {
		line, rest, ok := bytes.Cut(l.partial, []byte("\n"))
		if !ok {
			return len(b), nil
		}
		l.lineLocked(string(line))
		l.partial = rest
	}
}

func (l *lineLog) lineLocked(line string) {
	severity, text, ok := strings.Cut(line, ":")
	text = strings.TrimSpace(text)
	level := slog.LevelDebug
	if ok && (severity == "FATAL" || severity == "PANIC") && !errorsOfPolling(text) {
		l.fatal = text
		level = slog.LevelWarn
	} else if !ok || severity != "LOG" {
		text = line
	}
	l.log.Log(context.Background(), level, "postgres: "+text)
}

// errorsOfPolling are refusals of connections that say nothing new: the server
// starts, stops or drops everyone.
func errorsOfPolling(text string) bool {
	return strings.HasPrefix(text, "the database system is") || strings.HasPrefix(text, "terminating connection")
}

func (l *lineLog) lastFatal() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fatal == "" {
		return "it gave no reason"
	}
	return l.fatal
}

// owns says whether the lock file in data names this process.
func (p *process) owns(data string) bool {
	l, err := readLockFile(data)
	return err == nil && l.pid == p.cmd.Process.Pid
}
