package worker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"parley/inference/worker"
	"parley/inference/worker/workertest"
)

var program string

// serverRole makes this test binary a server that only runs a pool, for the test
// that kills one.
const serverRole = "PARLEY_WORKER_TEST_SERVER"

func TestMain(m *testing.M) {
	if path := os.Getenv(serverRole); path != "" {
		serve(path)
		return
	}
	workertest.Main(m, &program)
}

func config(processes int) worker.Config {
	return worker.Config{Name: "test", Path: program, Args: []string{"tts"}, Processes: processes, Streams: 1, Waiting: 4, Log: slog.New(slog.DiscardHandler)}
}

// start runs a pool until the test's end, or stop.
func start(t *testing.T, c worker.Config) (p *worker.Pool, stop func()) {
	t.Helper()
	p = worker.NewPool(c)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { p.Run(ctx) })
	stop = func() { cancel(); running.Wait() }
	t.Cleanup(stop)
	return p, stop
}

// await polls until there are n children and returns them.
func await(t *testing.T, p *worker.Pool, n int) []int {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; runtime.Gosched() {
		if pids := p.PIDs(); len(pids) == n {
			return pids
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d children, want %d", len(p.PIDs()), n)
		}
	}
}

// gone waits until a process is no more.
func gone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || bytes.Contains(stat, []byte(") Z ")) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %d still runs", pid)
		}
	}
}

// listener is a Handler that keeps what it hears.
type listener struct {
	mu    sync.Mutex
	kinds map[worker.Kind]int
	ended chan string // capacity 2, so that a wrong second end is seen
}

func newListener() *listener {
	return &listener{kinds: map[worker.Kind]int{}, ended: make(chan string, 2)}
}

func (l *listener) Receive(kind worker.Kind, _ []byte) {
	l.mu.Lock()
	l.kinds[kind]++
	l.mu.Unlock()
	if kind == worker.Done || kind == worker.Failed {
		l.ended <- "answered"
	}
}

func (l *listener) Lost() { l.ended <- "lost" }

const hello = `{"voice":"en-us","rate":175,"pitch":50,"range":50,"text":"hello"}`

func TestPoolServesAndRestarts(t *testing.T) {
	p, _ := start(t, config(2))
	for range 3 {
		pids := await(t, p, 2)
		l := newListener()
		s, err := p.Open(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Send(worker.Speak, []byte(hello)); err != nil {
			t.Fatal(err)
		}
		if end := <-l.ended; end != "answered" || l.kinds[worker.Audio] == 0 || l.kinds[worker.Marks] == 0 {
			t.Fatalf("%s with %v", end, l.kinds)
		}
		for _, pid := range pids {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		if end := <-l.ended; end != "lost" {
			t.Fatalf("after the kill: %s", end)
		}
		s.Close()
		for _, pid := range pids {
			gone(t, pid)
		}
	}
}

func TestPoolEndsItsChildren(t *testing.T) {
	p, stop := start(t, config(2))
	pids := await(t, p, 2)
	l := newListener()
	if _, err := p.Open(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	syscall.Kill(pids[0], syscall.SIGSTOP) // one of them cannot end by itself
	stop()
	for _, pid := range pids {
		if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
			t.Errorf("child %d: %v", pid, err)
		}
	}
	if end := <-l.ended; end != "lost" {
		t.Error(end)
	}
}

func TestLineForASlot(t *testing.T) {
	c := config(1)
	p, _ := start(t, c)
	await(t, p, 1)
	first, err := p.Open(t.Context(), newListener())
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancelCause(t.Context())
	results := make(chan error, c.Waiting+1)
	for range c.Waiting + 1 {
		go func() {
			s, err := p.Open(ctx, newListener())
			if err == nil {
				s.Close()
			}
			results <- err
		}()
	}
	if err := <-results; err != worker.ErrBusy {
		t.Errorf("beyond the line: %v", err)
	}
	why := errors.New("hang-up")
	leave(why)
	for range c.Waiting {
		if err := <-results; err != why {
			t.Errorf("in the line: %v", err)
		}
	}
	first.Close()
	first.Close() // harmless
	s, err := p.Open(t.Context(), newListener())
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if n := p.Busy(); n != 0 {
		t.Errorf("%d slots taken", n)
	}
}

func TestAbandonedWorkerIsReplaced(t *testing.T) {
	p, _ := start(t, config(1))
	old := await(t, p, 1)[0]
	syscall.Kill(old, syscall.SIGSTOP)
	l := newListener()
	s, err := p.Open(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	s.Abandon()
	<-l.ended
	gone(t, old)
	s, err = p.Open(t.Context(), newListener())
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
}

// A child that hangs is found out by its silence, and replaced.
func TestHungWorkerIsReplaced(t *testing.T) {
	c := config(1)
	c.HungAfter = 500 * time.Millisecond
	p, _ := start(t, c)
	old := await(t, p, 1)[0]
	syscall.Kill(old, syscall.SIGSTOP)
	gone(t, old)
	s, err := p.Open(t.Context(), newListener())
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
}

// What a child complains of is logged and says why it cannot be had.
func TestChildThatFails(t *testing.T) {
	var logged syncBuffer
	c := config(1)
	c.Args, c.Log = []string{"-model", "/nonexistent", "asr"}, slog.New(slog.NewTextHandler(&logged, nil))
	p, stop := start(t, c)
	err := p.Ready(t.Context())
	if !errors.Is(err, worker.ErrNoWorker) || !strings.Contains(err.Error(), "/nonexistent") {
		t.Errorf("ready: %v", err)
	}
	if _, err := p.Open(t.Context(), newListener()); !errors.Is(err, worker.ErrNoWorker) {
		t.Errorf("open: %v", err)
	}
	stop()
	if !strings.Contains(logged.String(), "/nonexistent") {
		t.Errorf("logged: %s", logged.String())
	}
}

// syncBuffer is a buffer for several goroutines.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// A server that is killed leaves no orphan, not even one that is stopped and so
// cannot notice that its standard input has closed.
func TestNoOrphanAfterKill(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the parent-death signal is Linux's")
	}
	server := exec.Command(os.Args[0])
	server.Env = append(os.Environ(), serverRole+"="+program)
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []int
	var line strings.Builder
	for b := make([]byte, 1); !strings.HasSuffix(line.String(), "\n"); {
		if _, err := io.ReadFull(out, b); err != nil {
			t.Fatal(err)
		}
		line.Write(b)
	}
	for f := range strings.FieldsSeq(line.String()) {
		pid, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	for _, pid := range pids {
		syscall.Kill(pid, syscall.SIGSTOP)
	}
	server.Process.Kill()
	server.Wait()
	for _, pid := range pids {
		gone(t, pid)
	}
}

// serve runs a pool and prints its children, while the runtime is given every
// reason to end the threads it can do without.
func serve(path string) {
	p := worker.NewPool(worker.Config{Name: "test", Path: path, Args: []string{"tts"}, Processes: 3})
	go p.Run(context.Background())
	for len(p.PIDs()) < 3 {
		runtime.Gosched()
	}
	for range 20 {
		done := make(chan struct{})
		go func() { // a locked goroutine that ends takes its thread along
			runtime.LockOSThread()
			close(done)
		}()
		<-done
	}
	fmt.Println(strings.Trim(fmt.Sprint(p.PIDs()), "[]"))
	select {}
}

func TestLocate(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if path, err := worker.Locate(); err == nil {
		t.Errorf("found %s", path)
	}
	t.Setenv("PATH", filepath.Dir(program))
	if path, err := worker.Locate(); err != nil || path != program {
		t.Errorf("%s, %v", path, err)
	}
}

// TestChildrenAreConfined: a worker knows nothing of the server's environment and has no
// more rights than its pipes need.
func TestChildrenAreConfined(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("confinement is the Linux kernel's")
	}
	t.Setenv("PARLEY_SECRET", "not for workers")
	p, _ := start(t, config(1))
	pid := await(t, p, 1)[0]
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil || bytes.Contains(environ, []byte("PARLEY_")) {
		t.Errorf("environment %q, %v", environ, err)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"NoNewPrivs:\t1\n", "Seccomp:\t2\n", "CapEff:\t0000000000000000\n"} {
		if !bytes.Contains(status, []byte(line)) {
			t.Errorf("not %q in\n%s", line, status)
		}
	}
	if bytes.Contains(status, []byte("Uid:\t0\t")) {
		t.Error("the worker is root")
	}
}

// TestChildrenYieldToAudio: workers run at a lower priority than the server, which sends the
// audio of calls, with all their threads.
func TestChildrenYieldToAudio(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("priorities are read from /proc")
	}
	nice := func(file string) int {
		stat, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // from the third on (proc_pid_stat(5))
		n, err := strconv.Atoi(fields[19-3])
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	p, _ := start(t, config(1))
	pid := await(t, p, 1)[0]
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(threads) == 0 {
		t.Fatal("no threads: ", err)
	}
	ours := nice("/proc/self/stat")
	for _, thread := range threads {
		if got := nice(thread); got != max(ours, 5) { // it keeps a lower priority that the server has
			t.Errorf("%s: a nice value of %d, and the server's is %d", thread, got, ours)
		}
	}
}
