// Package workertest builds the worker program for tests, and runs engines that work in it.
package workertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"parley/inference/worker"
)

// Main is the body of a TestMain: it builds the worker program once, stores its
// path in program, runs the tests and ends the process.
func Main(m interface{ Run() int }, program *string) {
	os.Exit(run(m, program))
}

func run(m interface{ Run() int }, program *string) int {
	dir, err := os.MkdirTemp("", "parley-worker-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	*program = filepath.Join(dir, worker.Program)
	build := exec.Command("go", "build", "-o", *program, "parley/cmd/parley-speech")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "the worker program does not build (libespeak-ng-dev, libpocketsphinx-dev?):", err)
		return 1
	}
	return m.Run()
}

// Engine works in processes of its own.
type Engine interface {
	Run(ctx context.Context) error
	Ready(ctx context.Context) error
}

// Run runs an engine until the test ends, and ends the test where it is not ready within a minute.
func Run[E Engine](t testing.TB, e E) E {
	t.Helper()
	if err := Try(t, e); err != nil {
		t.Fatal(err)
	}
	return e
}

// Try is Run of an engine that may not get ready: the error says why.
func Try(t testing.TB, e Engine) error {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = e.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	ready, done := context.WithTimeout(ctx, time.Minute)
	defer done()
	return e.Ready(ready)
}
