package mediatest

import (
	"testing"
	"testing/synctest"

	"parley/media"
)

// FarEnd is the other party of a Leg under test, as the network sees it: a test's
// own small peer that speaks the leg's protocol. The suite calls it from one
// goroutine, and nothing may wait longer than a write to a socket.
type FarEnd interface {
	// Send says 20 ms of audio at the leg's Format().In, at once: the suite
	// keeps the time. It may not keep samples.
	Send(samples []int16)
	// Receive returns the audio at Format().Out that the far end has played
	// since the last call. A far end that drops audio leaves out what
	// it had not played by then; one without a buffer plays what arrives.
	Receive() []int16
	// Digit presses a key, or returns false when this far end has none.
	Digit(d byte) bool
	// Hangup ends the call in the ordinary way, or returns false when this far
	// end has no word for that.
	Hangup() bool
}

// LegPair is a Leg that does not Run yet, and its far end, joined by a network
// that delivers everything in order and within 5 ms. What has to be closed in the
// end besides the leg is the business of t.Cleanup.
type LegPair struct {
	Leg media.Leg
	Far FarEnd
}

// TestLeg checks that a leg keeps the contract of media.Leg. Each check, a subtest
// of its own that takes 1 to 4 s beside the others, asks newPair for a fresh pair.
// Time is real, so a machine that stands still for more than 100 ms can break a
// tone: prefer TestLegSimulated where the network can be in memory.
func TestLeg(t *testing.T, newPair func(t *testing.T) LegPair) {
	for _, c := range legChecks {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			conduct(t, newPair(t), false, c.check)
		})
	}
}

// TestLegSimulated is TestLeg in simulated time: newPair and the check run in a
// synctest bubble, so the network must be in memory (see Pipe) and the far end
// made in newPair. It takes milliseconds, is exact, and also finds methods that
// wait.
func TestLegSimulated(t *testing.T, newPair func(t *testing.T) LegPair) {
	for _, c := range legChecks {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conduct(t, newPair(t), true, c.check)
			})
		})
	}
}
