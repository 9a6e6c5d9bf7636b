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
	account, stranger := f.NewAccount(10*usd), f.NewAccount(10*usd)
	asked, other := f.Start(account, web), f.Start(account, web)
	reports := func(seq int64) []ledger.CheckpointResult {
		t.Helper()
		rs, err := f.Checkpoints(f.Context(), []ledger.Checkpoint{
			{Session: other, Seq: seq, StartedAt: t0, Usage: billing.Usage{billing.AgentTime: seq}},
			{Session: asked, Seq: seq, StartedAt: t0, Usage: billing.Usage{billing.AgentTime: seq}},
		})
		f.OK(err)
		return rs
	}
	if rs := reports(1); rs[0].Hangup || rs[1].Hangup {
		t.Error("hung up unasked")
	}
	for _, id := range []string{asked.ID, "cs_none"} {
		if _, err := f.RequestHangup(f.Context(), stranger, id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("somebody else's %s: %v", id, err)
		}
	}
	if rs := reports(2); rs[1].Hangup {
		t.Error("a stranger's request counts")
	}
	for range 2 { // again changes nothing
		owner, err := f.RequestHangup(f.At(t0.Add(time.Second)), account, asked.ID)
		if err != nil || owner != f.Node {
			t.Errorf("owner %v, %v", owner, err)
		}
	}
	if rs := reports(2); rs[0].Hangup || !rs[1].Hangup || rs[1].Err != nil { // late, and told all the same
		t.Errorf("asked: %+v, other: %+v", rs[1], rs[0])
	}
	f.CloseWith(asked, billing.Usage{billing.AgentTime: 5})
	if owner, err := f.RequestHangup(f.Context(), account, asked.ID); err != nil || owner != (store.Node{}) {
		t.Errorf("ended: owner %v, %v", owner, err)
	}
	f.Verified()
}

// TestHangupOfWork: work without a call is not hung up.
func TestHangupOfWork(t *testing.T) {
	f := setup(t)
	account := f.NewAccount(10 * usd)
	s := f.Start(account, billing.Terms{Kind: billing.TTS})
	if _, err := f.RequestHangup(f.Context(), account, s.ID); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
}
