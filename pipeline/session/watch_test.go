package session_test

import (
	"testing"
	"testing/synctest"
	"time"

	"parley/pipeline/session/sessiontest"
)

// TestSnapshotHasTheTimesOfTheDatabase: what a node shows of a call is by the clock that all
// nodes have in common, as are the call's books.
func TestSnapshotHasTheTimesOfTheDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := (&sessiontest.FakeLedger{Ahead: time.Hour}).Open(t, 0)
		answered := o.Ledger.Now()
		s := o.Call(web, until(20*time.Second))
		time.Sleep(10 * time.Second)
		got, here := o.Snapshot("a", s.ID())
		if !here || !got.StartedAt.Equal(answered) || got.Duration(o.Ledger.Now()) != 10*time.Second {
			t.Errorf("here %v, started at %v, want %v; it has lasted %v", here, got.StartedAt, answered, got.Duration(o.Ledger.Now()))
		}
		o.Wait()
	})
}
