package session_test

import (
	"testing"
	"testing/synctest"
	"time"

	"parley/pipeline/session/sessiontest"
)

// TestAskedToDrain: the function of OnDrain is called once, at the first heartbeat after the request.
func TestAskedToDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []time.Duration
		begun := time.Now()
		(&sessiontest.FakeLedger{Drained: func(at time.Duration) bool { return at > 5*time.Second }, OnDrain: func() { asked = append(asked, time.Since(begun)) }}).Open(t, 0)
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if len(asked) != 1 || asked[0] != 6*time.Second {
			t.Errorf("asked at %v", asked)
		}
	})
}
