//go:build !cgo

// Command parley-speech hosts the native speech engines of Parley; see main.go.
// This build is without cgo and therefore without engines.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "parley-speech was built without cgo and has no speech engines: build it again with CGO_ENABLED=1, a C compiler, libespeak-ng-dev and libpocketsphinx-dev")
	os.Exit(1)
}
