// Package workertest builds the worker program for tests of what needs it.
package workertest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

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
