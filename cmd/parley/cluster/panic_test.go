package cluster

import (
	"context"
	"testing"
	"time"

	"parley/media"
	"parley/media/isolate/isolatetest"
	"parley/store/bus"
	"parley/store/storetest"
)

// TestPanicEndsNoCall: what nodes do beside calls has a fault, and all calls go on; the nodes
// still hear each other.
func TestPanicEndsNoCall(t *testing.T) {
	isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
		fired := isolatetest.Inject(t, site.Name)
		if site.Name == "cmd/parley/cluster/watched" {
			watchAgain(t, fired)
		} else {
			tellOthers(t)
		}
		<-fired
	})
}

// watchAgain: a node that was not watched any more because of a fault is watched again, and its death noticed.
func watchAgain(t *testing.T, fired <-chan struct{}) {
	url := storetest.URL(t)
	one, other := newStanding(t, url, "one", ""), newStanding(t, url, "other", "")
	one.watches()
	one.finds(other)
	await(t, "the fault", fired)
	other.kill()
	eventually(t, "the dead node is fenced off", func() bool { return one.fencedOff(other) })
}

// tellOthers: nodes hear each other: commands, news, goodbyes, hints and heartbeats.
func tellOthers(t *testing.T) {
	r := newRing(t)
	beside := r.call(1, r.decoy)
	gone := r.call(1, r.account)
	news, err := r.nodes[1].bus.Subscribe(t.Context(), bus.Heartbeats())
	r.ok(err)
	defer news.Close()
	r.nodes[0].Alive()
	hinted := make(chan struct{}, 1)
	r.nodes[1].db.Hints().On("a test", func() {
		select {
		case hinted <- struct{}{}:
		default:
		}
	})
	eventually(t, "a node hears what there is to do because of another", func() bool {
		r.nodes[0].db.Hints().Give("a test")
		select {
		case <-hinted:
			return true
		case <-time.After(patience / 100):
			return false
		}
	})
	eventually(t, "a node says that it lives", func() bool {
		r.nodes[0].Alive()
		ctx, cancel := context.WithTimeout(t.Context(), patience/100)
		defer cancel()
		_, err := news.Next(ctx)
		return err == nil
	})
	r.ok(r.nodes[0].Hangup(t.Context(), r.account, gone.ID()))
	r.wantEnd(gone, media.APIHangup)
	broke := r.call(2, r.account)
	r.empty(r.account)
	eventually(t, "a node hears that an account may not go on", func() bool {
		r.nodes[0].Goodbye(r.account)
		_, over := r.state(broke)
		return over
	})
	r.wantEnd(broke, media.BalanceExhausted)
	r.wantLive(beside)
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(3 * patience); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not within a minute: ", what)
		}
	}
}
