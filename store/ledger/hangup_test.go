package ledger_test

import (
	"errors"
	"testing"
	"time"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
)

// TestHangupRequest: the owner's next checkpoint says so, and no other session's.
func TestHangupRequest(t *testing.T) {
	f := setup(t)
	account, stranger := f.account(10*usd), f.account(10*usd)
	asked, other := f.start(account, web), f.start(account, web)
	reports := func(seq int64) []ledger.CheckpointResult {
		t.Helper()
		rs, err := f.Checkpoints(f.ctx(), []ledger.Checkpoint{
			{Session: other, Seq: seq, StartedAt: t0, Usage: billing.Usage{billing.AgentTime: seq}},
			{Session: asked, Seq: seq, StartedAt: t0, Usage: billing.Usage{billing.AgentTime: seq}},
		})
		f.ok(err)
		return rs
	}
	if rs := reports(1); rs[0].Hangup || rs[1].Hangup {
		t.Error("hung up unasked")
	}
	for _, id := range []string{asked.ID, "cs_none"} {
		if _, err := f.RequestHangup(f.ctx(), stranger, id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("somebody else's %s: %v", id, err)
		}
	}
	if rs := reports(2); rs[1].Hangup {
		t.Error("a stranger's request counts")
	}
	for range 2 { // again changes nothing
		owner, err := f.RequestHangup(f.at(t0.Add(time.Second)), account, asked.ID)
		if err != nil || owner != f.node {
			t.Errorf("owner %v, %v", owner, err)
		}
	}
	if rs := reports(2); rs[0].Hangup || !rs[1].Hangup || rs[1].Err != nil { // late, and told all the same
		t.Errorf("asked: %+v, other: %+v", rs[1], rs[0])
	}
	f.closeWith(asked, billing.Usage{billing.AgentTime: 5})
	if owner, err := f.RequestHangup(f.ctx(), account, asked.ID); err != nil || owner != (store.Node{}) {
		t.Errorf("ended: owner %v, %v", owner, err)
	}
	f.verified()
}

// TestHangupOfWork: work without a call is not hung up.
func TestHangupOfWork(t *testing.T) {
	f := setup(t)
	account := f.account(10 * usd)
	s := f.start(account, billing.Terms{Kind: billing.TTS})
	if _, err := f.RequestHangup(f.ctx(), account, s.ID); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
}
