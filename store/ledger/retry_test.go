package ledger_test

import (
	"sync"
	"testing"
	"time"

	"parley/billing"
	"parley/store/campaign"
	"parley/store/ledger"
)

// retrying is a batch of n rows with rules for who is called again.
func (f *fixture) retrying(account string, n int, rules ...campaign.Retry) string {
	f.T.Helper()
	c := f.wish(account, n, t0)
	c.Retries = rules
	for i := range c.Rows {
		c.Rows[i].Variables, c.Rows[i].Headers = map[string]string{"name": "Ana"}, map[string]string{"X-Order": "42"}
	}
	id, err := f.CreateCampaign(f.Context(), c, card, nil)
	f.OK(err)
	return id
}

// endsFor dials a claimed row and ends its call for a reason; answered calls last ten seconds.
func (f *fixture) endsFor(r campaign.ClaimedRow, at time.Time, reason, detail string) {
	f.T.Helper()
	s, err := f.dialRow(f.Node, r, at)
	f.OK(err)
	c := ledger.Closing{Reason: reason, Detail: detail}
	if reason == "voicemail" || reason == "user_hangup" {
		c.StartedAt, c.Usage = at, billing.Usage{billing.LineTime: 10_000, billing.AgentTime: 10_000}
	}
	for range 2 { // the second changes nothing
		_, err = f.CloseSession(f.At(at), s, c)
		f.OK(err)
	}
}

// TestCalledAgain: who is busy is called again after the wait, by the same row but for its place, until there were enough
// calls; what ends without a rule, in a conversation, or at a number that does not exist is left.
func TestCalledAgain(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(100 * usd)
	id := f.retrying(acc, 4, campaign.Retry{On: "busy", Attempts: 3, After: 600}, campaign.Retry{On: "voicemail", Attempts: 2, After: 60}, campaign.Retry{On: "failed", Attempts: 9, After: 60},
		campaign.Retry{On: "user_hangup", Attempts: 9, After: 60})
	rows := f.claimRows(f.Node, t0)
	f.endsFor(rows[0], t0, "busy", "")
	f.endsFor(rows[1], t0, "user_hangup", "")
	f.endsFor(rows[2], t0, "voicemail", "")
	f.endsFor(rows[3], t0, "failed", "invalid_number")
	f.wantCounts(acc, id, "running 2/0/4/0")
	c := f.rows(acc, id)
	if len(c.Retries) != 4 || c.Retries[0] != (campaign.Retry{On: "busy", Attempts: 3, After: 600}) {
		t.Errorf("the rules are %+v", c.Retries)
	}
	for i, want := range map[int]struct {
		of  int
		due time.Duration
	}{4: {0, 10 * time.Minute}, 5: {2, time.Minute}} {
		first, again := c.Rows[want.of], c.Rows[i]
		if again.RetryOf == nil || *again.RetryOf != first.ID || again.Attempt != 2 || first.Attempt != 1 || first.RetryOf != nil || again.To != first.To || again.From != first.From ||
			again.Agent != first.Agent || again.Variables["name"] != "Ana" || again.Headers["X-Order"] != "42" || !again.DueAt.Equal(t0.Add(want.due)) || again.ScheduledAt == nil {
			t.Errorf("row %d is %+v, after %+v", i, again, first)
		}
	}
	if got := f.claimRows(f.Node, t0.Add(59*time.Second)); len(got) != 0 {
		t.Errorf("%d rows were claimed before their time", len(got))
	}
	second := f.claimRows(f.Node, t0.Add(time.Minute))
	if len(second) != 1 || second[0].ID != c.Rows[5].ID {
		t.Fatalf("%+v was claimed", second)
	}
	f.endsFor(second[0], t0.Add(time.Minute), "voicemail", "") // two were enough
	at := t0.Add(10 * time.Minute)
	for _, left := range []int{1, 0} {
		busy := f.claimRows(f.Node, at)
		if len(busy) != 1 || busy[0].To != rows[0].To {
			t.Fatalf("%+v was claimed", busy)
		}
		f.endsFor(busy[0], at, "busy", "")
		at = at.Add(10 * time.Minute)
		if c := f.rows(acc, id); c.Pending != left {
			t.Errorf("%d calls are left, want %d", c.Pending, left)
		}
	}
	f.wantCounts(acc, id, "done 0/0/7/0")
	f.Verified()
}

// TestCalledAgainAfterACrash: the call of a node that died before anybody answered is one that failed.
func TestCalledAgainAfterACrash(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(100 * usd)
	id := f.retrying(acc, 1, campaign.Retry{On: "failed", Attempts: 2, After: 60})
	_, err := f.dialRow(f.Node, f.claimRows(f.Node, t0)[0], t0)
	f.OK(err)
	reborn, _, err := f.RegisterNode(f.Context(), "node-a", "127.0.0.1:1")
	f.OK(err)
	f.wantCounts(acc, id, "running 1/0/0/1")
	if got := f.claimRows(reborn, t0.Add(time.Hour)); len(got) != 1 {
		t.Errorf("%d rows were claimed", len(got))
	}
	f.Verified()
}

// TestNobodyIsCalledAgain of a batch that was cancelled, also when that comes together with the ends of its calls; of one that
// is paused only when it goes on.
func TestNobodyIsCalledAgain(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(100 * usd)
	again := campaign.Retry{On: "busy", Attempts: 9, After: 60}
	paused := f.retrying(acc, 1, again)
	r := f.claimRows(f.Node, t0)[0]
	s, err := f.dialRow(f.Node, r, t0)
	f.OK(err)
	f.OK(f.PauseCampaign(f.Context(), acc, paused))
	_, err = f.CloseSession(f.Context(), s, ledger.Closing{Reason: "busy"})
	f.OK(err)
	f.wantCounts(acc, paused, "paused 1/0/1/0")
	if got := f.claimRows(f.Node, t0.Add(time.Hour)); len(got) != 0 {
		t.Errorf("%d rows of a paused batch were claimed", len(got))
	}
	f.OK(f.CancelCampaign(f.Context(), acc, paused, "callcenter.batch_cancelled", "x"))
	for range 10 {
		id := f.retrying(acc, 4, again)
		var calls []*ledger.Session
		for _, r := range f.claimRows(f.Node, t0) {
			s, err := f.dialRow(f.Node, r, t0)
			f.OK(err)
			calls = append(calls, s)
		}
		var all sync.WaitGroup
		for _, s := range calls {
			all.Go(func() {
				if _, err := f.CloseSession(f.Context(), s, ledger.Closing{Reason: "busy"}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Go(func() {
			if err := f.CancelCampaign(f.Context(), acc, id, "callcenter.batch_cancelled", "x"); err != nil {
				t.Error(err)
			}
		})
		all.Wait()
		if c := f.rows(acc, id); c.Pending != 0 || c.State == campaign.CampaignRunning {
			t.Errorf("the batch is %s, and %d calls are left", c.State, c.Pending)
		}
	}
	f.Verified()
}
