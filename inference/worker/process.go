package worker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"parley/media/isolate"
	"parley/media/sandbox"
)

const (
	// defaultHungAfter is how long a child may stay silent although it is pinged:
	// ten seconds is a stopped process, not a busy machine.
	defaultHungAfter = 10 * time.Second
	// stuckAfter bounds a write to a child that does not read its pipe.
	stuckAfter = 5 * time.Second
	// graceful is how long a child may take to end after its input was closed.
	graceful  = time.Second
	pipeBytes = 64 << 10
	// niceness keeps engines from delaying audio that is due: with the priority of the server,
	// 50 talking callers made gaps of 200 ms in each other's sound on two cores. At 15 a machine
	// that other programs keep busy starves the recogniser, and callers are misheard.
	niceness = 5
)

// limits bound a child: decoders with the general model take 93 MB each, those with a
// call's own 8 MB. Its files are the memory files that hold a call's language model.
var limits = sandbox.Limits{Memory: 4 << 30, FileSize: 64 << 20, Files: 1024}

// process is one child from its start to its end. The pool's lock guards streams
// and lastID.
type process struct {
	pool    *Pool
	cmd     *exec.Cmd
	stdin   *os.File
	out     *Writer
	heard   atomic.Int64 // when it last said something, Unix nanoseconds
	streams map[uint32]*Stream
	lastID  uint32
	words   string // the latest line of its standard error; read after its end
}

// runProcess starts a child, serves it until it ends and says why it ended.
//
// It stays on one system thread: the kernel sends the parent-death signal when
// the thread that forked ends, not when the process does, and the Go runtime is
// free to end threads that nobody has locked.
func (p *Pool) runProcess(ctx context.Context) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c, stdout, stderr, err := p.start()
	if err != nil {
		return err
	}
	var readers sync.WaitGroup
	readers.Add(3)
	ended := make(chan struct{})
	broke := func(error) { c.kill() } // another child takes its place
	isolate.Go("inference/worker/output", broke, func() { c.read(stdout) }, func() { stdout.Close() }, c.lose, readers.Done)
	isolate.Go("inference/worker/complaints", broke, func() { c.log(stderr) }, func() { stderr.Close() }, readers.Done)
	isolate.Go("inference/worker/watch", broke, func() { c.watch(ctx, ended) }, readers.Done)
	err = c.cmd.Wait()
	close(ended)
	readers.Wait()
	c.stdin.Close()
	if err == nil {
		err = errors.New("exit status 0")
	}
	if c.words != "" {
		err = fmt.Errorf("%w: %s", err, c.words)
	}
	return err
}

// start forks the child with its three pipes.
func (p *Pool) start() (c *process, stdout, stderr *os.File, err error) {
	path := p.cfg.Path
	if path == "" {
		if path, err = Locate(); err != nil {
			return nil, nil, nil, err
		}
	}
	var files [6]*os.File // reader and writer of stdin, stdout, stderr
	for i := 0; i < len(files); i += 2 {
		if files[i], files[i+1], err = os.Pipe(); err != nil {
			closeAll(files[:i])
			return nil, nil, nil, err
		}
	}
	cmd, err := sandbox.Command(context.Background(), sandbox.Config{Path: path, Args: p.cfg.Args, Read: p.cfg.Read, Files: p.cfg.Files, Nice: niceness, Limits: limits})
	if err != nil {
		closeAll(files[:])
		return nil, nil, nil, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = files[0], files[3], files[5]
	ownGroup(cmd)
	err = cmd.Start()
	closeAll([]*os.File{files[0], files[3], files[5]})
	if err != nil {
		closeAll([]*os.File{files[1], files[2], files[4]})
		return nil, nil, nil, err
	}
	c = &process{pool: p, cmd: cmd, stdin: files[1], streams: map[uint32]*Stream{}}
	c.out = NewWriter(deadlineWriter{files[1]})
	c.heard.Store(time.Now().UnixNano())
	return c, files[2], files[4], nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// deadlineWriter fails a write that a child does not take.
type deadlineWriter struct{ f *os.File }

func (w deadlineWriter) Write(b []byte) (int, error) {
	if err := w.f.SetWriteDeadline(time.Now().Add(stuckAfter)); err != nil {
		return 0, err
	}
	return w.f.Write(b)
}

// read hands the child's messages out until its output ends.
func (c *process) read(stdout *os.File) {
	r := NewReader(bufio.NewReaderSize(stdout, pipeBytes))
	for {
		m, err := r.Next()
		if err != nil {
			if err != io.EOF {
				c.pool.cfg.Log.Error("speech worker's output", "engine", c.pool.cfg.Name, "err", err)
			}
			break
		}
		c.heard.Store(time.Now().UnixNano())
		if m.Kind == Hello {
			c.join()
			continue
		}
		c.pool.mu.Lock()
		s := c.streams[m.Stream]
		c.pool.mu.Unlock()
		if s != nil {
			s.h.Receive(m.Kind, m.Payload)
		}
	}
}

// lose ends a child whose output is not read any more: whatever it still does, nobody hears it.
func (c *process) lose() {
	c.kill()
	for _, s := range c.part() {
		s.h.Lost()
	}
}

// log passes the child's complaints on, line by line.
func (c *process) log(stderr *os.File) {
	r := bufio.NewReaderSize(stderr, 4096)
	for {
		line, long, err := r.ReadLine()
		if err != nil {
			return
		}
		if len(line) > 0 {
			c.words = string(line)
			c.pool.cfg.Log.Warn("speech worker says", "engine", c.pool.cfg.Name, "pid", c.cmd.Process.Pid, "line", c.words)
		}
		for long && err == nil {
			_, long, err = r.ReadLine()
		}
	}
}

// watch pings the child, kills it when it hangs and ends it with ctx.
func (c *process) watch(ctx context.Context, ended <-chan struct{}) {
	hungAfter := c.pool.cfg.HungAfter
	ping := time.NewTicker(hungAfter / 5)
	defer ping.Stop()
	for {
		select {
		case <-ended:
			return
		case <-ctx.Done():
			c.stdin.Close()
			select {
			case <-ended:
			case <-time.After(graceful):
				c.kill()
			}
			return
		case <-ping.C:
			silent := time.Since(time.Unix(0, c.heard.Load()))
			if silent > hungAfter || c.out.Send(Ping, 0, nil) != nil {
				c.kill()
			}
		}
	}
}

func (c *process) kill() { c.cmd.Process.Kill() }

// join makes the child available.
func (c *process) join() {
	p := c.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if slices.Contains(p.live, c) {
		return
	}
	p.live = append(p.live, c)
	p.announceLocked()
	p.serveLocked()
}

// part takes the child away and returns the streams it had.
func (c *process) part() []*Stream {
	p := c.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live = slices.DeleteFunc(p.live, func(o *process) bool { return o == c })
	var orphans []*Stream
	for _, s := range c.streams {
		orphans = append(orphans, s)
	}
	clear(c.streams)
	p.announceLocked()
	return orphans
}

// Stream is one slot of a child.
type Stream struct {
	process *process
	id      uint32
	h       Handler
}

// Send writes a message to the child, blocking at most some seconds. It fails
// with ErrFormat for a payload that is too large; after any other error the
// child is being killed and Handler.Lost follows.
func (s *Stream) Send(kind Kind, payload []byte) error {
	err := s.process.out.Send(kind, s.id, payload)
	if errors.Is(err, ErrFormat) { // nothing was written
		return err
	}
	if err != nil {
		s.process.kill()
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	return nil
}

// Close gives the slot back. Closing twice, or after Lost, does nothing.
func (s *Stream) Close() {
	p := s.process.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(s.process.streams, s.id)
	p.serveLocked()
}

// Abandon kills the child, which does not answer; Handler.Lost follows.
func (s *Stream) Abandon() { s.process.kill() }
