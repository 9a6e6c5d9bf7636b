package loopbacktest

import (
	"testing"
	"time"
)

// Await waits until a server has noticed something, and fails the test when that takes 5 s. It is for what a server does
// after its client has heard the last of it.
func Await(t testing.TB, what string, noticed func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); !noticed(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s did not happen", what)
		}
	}
}
