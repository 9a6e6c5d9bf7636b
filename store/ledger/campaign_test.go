package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/store"
	"parley/store/aftercall"
	"parley/store/campaign"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/ledger/ledgertest"
)

// wish is a batch of n rows that are due at a time.
func (f *fixture) wish(account string, n int, due time.Time) campaign.Campaign {
	c := campaign.Campaign{Account: account, Name: "spring", Manner: campaign.Manner{Key: "key_1", IP: "203.0.113.7", OnMachine: "hangup"}}
	for i := range n {
		c.Rows = append(c.Rows, campaign.CampaignRow{To: fmt.Sprintf("+346123456%02d", i%100), From: "+34911234567", Agent: "ag_1", DueAt: due})
	}
	return c
}

func (f *fixture) batch(account string, n int, due time.Time) string {
	f.T.Helper()
	id, err := f.CreateCampaign(f.Context(), f.wish(account, n, due), card, nil)
	f.OK(err)
	return id
}

func (f *fixture) claimRows(n store.Node, at time.Time) []campaign.ClaimedRow {
	f.T.Helper()
	rows, err := f.ClaimRows(f.At(at), n, card.Wallet(), 50)
	f.OK(err)
	return rows
}

// dialRow starts the session of a claimed row.
func (f *fixture) dialRow(n store.Node, r campaign.ClaimedRow, at time.Time) (*ledger.Session, error) {
	s := f.Request(r.Account, outboundES)
	s.Node, s.To, s.Row = n, r.To, &r.RowClaim
	s.Consent = &ledger.Consent{Key: r.Manner.Key, IP: r.Manner.IP}
	return f.StartSession(f.At(at), s)
}

// TestRowsAreFound that are due and that no hint has told of; those of batches that do not run are not.
func TestRowsAreFound(t *testing.T) {
	f := setup(t)
	hinted := 0
	f.DB.Hints().On(store.HintRows, func() { hinted++ })
	f.LookForRows()
	asked := func(after time.Duration) int {
		t.Helper()
		hinted = 0
		f.OK(f.DB.Hints().Ask(f.Context(), f.DB.Pool(), t0.Add(after)))
		return hinted
	}
	acc := f.NewAccount(100 * usd)
	id := f.batch(acc, 2, t0.Add(time.Minute))
	if early, due := asked(0), asked(time.Minute); early != 0 || due != 1 {
		t.Errorf("%d hints before the rows are due, %d then", early, due)
	}
	f.OK(f.PauseCampaign(f.Context(), acc, id))
	if n := asked(time.Minute); n != 0 {
		t.Errorf("%d hints of a paused batch", n)
	}
}

func (f *fixture) rows(account, id string) *campaign.Campaign {
	f.T.Helper()
	c, err := f.Campaign(f.Context(), account, id)
	f.OK(err)
	return c
}

// counts are a batch's, and its state.
func (f *fixture) counts(account, id string) string {
	f.T.Helper()
	c := f.rows(account, id)
	return fmt.Sprintf("%s %d/%d/%d/%d", c.State, c.Pending, c.Dialing, c.Sent, c.Failed)
}

func (f *fixture) wantCounts(account, id, want string) {
	f.T.Helper()
	if got := f.counts(account, id); got != want {
		f.T.Errorf("the batch is %s, want %s", got, want)
	}
}

// One line stays free for those who call in, whatever else is in progress, and lines
// that are about to be used count.
func TestRowsLeaveALine(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(100 * usd)
	id := f.batch(acc, 30, t0)
	f.Start(acc, web)
	first := f.claimRows(f.Node, t0)
	if len(first) != 8 || len(f.claimRows(f.Node, t0)) != 0 { // of ten, one for callers, one that talks
		t.Fatalf("%d rows were claimed, want 8 and no more", len(first))
	}
	for i, r := range first {
		if r.To != fmt.Sprintf("+346123456%02d", i) || r.Manner.Key != "key_1" || r.Manner.OnMachine != "hangup" {
			t.Errorf("row %d is %+v", i, r)
		}
	}
	var calls []*ledger.Session
	for _, r := range first {
		s, err := f.dialRow(f.Node, r, t0)
		f.OK(err)
		calls = append(calls, s)
	}
	f.wantCounts(acc, id, "running 22/8/0/0")
	f.Start(acc, inboundES) // the line that was left
	if got := f.claimRows(f.Node, t0); len(got) != 0 {
		t.Errorf("%d rows were claimed without a line", len(got))
	}
	for _, s := range calls[:2] {
		f.CloseWith(s, billing.Usage{billing.LineTime: 1000, billing.AgentTime: 1000})
	}
	more := f.claimRows(f.Node, t0)
	if len(more) != 1 { // two lines are free, one of them for callers
		t.Fatalf("%d rows were claimed, want 1", len(more))
	}
	f.Start(acc, web) // who was faster
	if _, err := f.dialRow(f.Node, more[0], t0); !errors.Is(err, store.ErrConcurrency) {
		t.Errorf("a row took the last line: %v", err)
	}
	f.OK(f.ReturnRow(f.Context(), &more[0], t0.Add(time.Second), "limit.concurrency", "busy"))
	f.wantCounts(acc, id, "running 22/6/2/0")
	one := 1
	lonely := f.NewAccount(10 * usd)
	f.OK(f.ChangeAccount(f.Context(), lonely, ledger.AccountChange{Concurrency: &one}))
	f.batch(lonely, 3, t0)
	if got := f.claimRows(f.Node, t0); len(got) != 1 {
		t.Errorf("an account with one line gets %d rows, want 1", len(got))
	}
	f.Verified()
}

// Rows come when they are due, the one that has waited longest first, and each once,
// whoever asks.
func TestRowsAreClaimedOnce(t *testing.T) {
	f := setup(t)
	other := f.Register("node-b")
	many := 1000
	seen := map[string]int{}
	var ids []string
	for range 3 {
		acc := f.NewAccount(100 * usd)
		f.OK(f.ChangeAccount(f.Context(), acc, ledger.AccountChange{Concurrency: &many}))
		c := f.wish(acc, 40, t0)
		for i := range c.Rows[20:] {
			c.Rows[20+i].DueAt = t0.Add(time.Hour)
		}
		id, err := f.CreateCampaign(f.Context(), c, card, nil)
		f.OK(err)
		ids = append(ids, acc, id)
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	var dialled atomic.Int64
	for _, at := range []time.Time{t0, t0.Add(time.Hour)} {
		for w := range 6 {
			all.Go(func() {
				n := []store.Node{f.Node, other}[w%2]
				for {
					got, err := f.ClaimRows(f.At(at), n, card.Wallet(), 7)
					if err != nil {
						t.Error(err)
						return
					}
					if len(got) == 0 {
						return
					}
					for _, r := range got {
						mu.Lock()
						seen[r.ID]++
						mu.Unlock()
						if _, err := f.dialRow(n, r, at); err == nil {
							dialled.Add(1)
						} else {
							t.Error(err)
						}
					}
				}
			})
		}
		all.Wait()
		if at == t0 && len(seen) != 60 {
			t.Errorf("%d rows were claimed, 60 are due", len(seen))
		}
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("row %s was claimed %d times", id, n)
		}
	}
	if len(seen) != 120 || dialled.Load() != 120 {
		t.Errorf("%d rows were claimed and %d dialled, want 120", len(seen), dialled.Load())
	}
	for i := 0; i < len(ids); i += 2 {
		f.wantCounts(ids[i], ids[i+1], "running 0/40/0/0")
	}
	f.Verified()
}

// A node that dies before it dials leaves its rows to others; one that dies after it
// leaves them to the books. Nobody dials twice.
func TestRowsOfDeadNodes(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(100 * usd)
	id := f.batch(acc, 3, t0)
	rows := f.claimRows(f.Node, t0)
	if len(rows) != 3 {
		t.Fatalf("%d rows", len(rows))
	}
	_, err := f.dialRow(f.Node, rows[0], t0)
	f.OK(err)
	answered, err := f.dialRow(f.Node, rows[1], t0)
	f.OK(err)
	f.MustCheckpoint(answered, 1, billing.Usage{billing.LineTime: 2000, billing.AgentTime: 2000})
	f.wantCounts(acc, id, "running 1/1/1/0") // answered is placed
	reborn, lost, err := f.RegisterNode(f.Context(), "node-a", "127.0.0.1:1")
	f.OK(err)
	if len(lost) != 2 {
		t.Errorf("%d sessions were closed", len(lost))
	}
	again := f.claimRows(reborn, t0) // at once: who had it is dead
	if len(again) != 1 || again[0].ID != rows[2].ID {
		t.Fatalf("%+v was claimed", again)
	}
	if _, err := f.dialRow(f.Node, rows[2], t0); !errors.Is(err, store.ErrFenced) && !errors.Is(err, store.ErrClaimLost) {
		t.Errorf("a dead node dialled: %v", err)
	}
	if _, err := f.ClaimRows(f.Context(), f.Node, card.Wallet(), 9); !errors.Is(err, store.ErrFenced) {
		t.Errorf("a dead node claimed: %v", err)
	}
	// A living one that is slow is overtaken, and knows.
	other := f.Register("node-b")
	late := f.claimRows(other, t0.Add(2*time.Minute))
	if len(late) != 1 {
		t.Fatalf("%d rows of a slow node were claimed", len(late))
	}
	if _, err := f.dialRow(reborn, again[0], t0); !errors.Is(err, store.ErrClaimLost) {
		t.Errorf("a row was dialled that another has: %v", err)
	}
	f.OK(f.FailRow(f.Context(), &again[0], "x", "x"))
	f.OK(f.ReturnRow(f.Context(), &again[0], t0.Add(time.Hour), "x", "x"))
	s, err := f.dialRow(other, late[0], t0)
	f.OK(err)
	if _, err := f.dialRow(other, late[0], t0); !errors.Is(err, store.ErrClaimLost) {
		t.Errorf("a row was dialled twice: %v", err)
	}
	_, err = f.CloseSession(f.Context(), s, ledger.Closing{Reason: "busy"})
	f.OK(err)
	f.wantCounts(acc, id, "done 0/0/2/1")
	c := f.rows(acc, id)
	if r := c.Rows[0]; r.Status != campaign.RowFailed || r.ErrorCode != ledger.NotPlaced || r.Call == nil || r.Call.EndDetail != "node_lost" {
		t.Errorf("the row of an unknown fate is %+v", r)
	}
	if r := c.Rows[1]; r.Status != campaign.RowSent || r.Call.EndReason != "failed" || r.Call.Cost == 0 {
		t.Errorf("the row of a lost call is %+v, %+v", r, r.Call)
	}
	if r := c.Rows[2]; r.Status != campaign.RowSent || r.Call.EndReason != "busy" || r.Call.Cost != 0 || r.ErrorCode != "" {
		t.Errorf("the row of a busy callee is %+v, %+v", r, r.Call)
	}
	records, err := f.Consents(f.Context(), acc, 0, 10)
	f.OK(err)
	if len(records) != 3 || records[0].Key != "key_1" || records[0].IP != "203.0.113.7" {
		t.Errorf("the evidence is %+v", records)
	}
	f.Verified()
}

// A row that cannot be dialled is tried for a day from its time; a pause does not count.
func TestRowsExpire(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(100 * usd)
	id := f.batch(acc, 2, t0.Add(time.Hour))
	expire := func(at time.Time) int64 {
		t.Helper()
		n, err := f.ExpireRows(f.At(at), "limit.concurrency", "No line was free.")
		f.OK(err)
		return n
	}
	if got := f.claimRows(f.Node, t0.Add(59*time.Minute)); len(got) != 0 {
		t.Errorf("%d rows were claimed before their time", len(got))
	}
	rows := f.claimRows(f.Node, t0.Add(time.Hour))
	if len(rows) != 2 {
		t.Fatalf("%d rows", len(rows))
	}
	f.OK(f.ReturnRow(f.Context(), &rows[0], t0.Add(time.Hour+time.Minute), "billing.insufficient_balance", "The balance is too low."))
	if got := f.claimRows(f.Node, t0.Add(time.Hour+59*time.Second)); len(got) != 0 {
		t.Errorf("%d rows were claimed within the minute", len(got))
	}
	f.OK(f.PauseCampaign(f.Context(), acc, id))
	if n := expire(t0.Add(48 * time.Hour)); n != 0 {
		t.Errorf("%d rows expired in a pause", n)
	}
	f.OK(f.ResumeCampaign(f.At(t0.Add(48*time.Hour)), acc, id))
	if n := expire(t0.Add(72*time.Hour - time.Second)); n != 0 {
		t.Errorf("%d rows expired before their day was over", n)
	}
	if n := expire(t0.Add(72 * time.Hour)); n != 2 {
		t.Errorf("%d rows expired, want 2", n)
	}
	c := f.rows(acc, id)
	if c.Rows[0].ErrorCode != "billing.insufficient_balance" || c.Rows[1].ErrorCode != "limit.concurrency" || c.State != campaign.CampaignDone {
		t.Errorf("the rows are %+v", c.Rows)
	}
	f.Verified()
}

// Once a pause or a cancellation has returned, no call begins, however many were about
// to; and no row is lost or dialled twice by it.
func TestTurningABatchRacesWithDialling(t *testing.T) {
	f := setup(t)
	many := 1000
	for round, turn := range []func(acc, id string) error{
		func(acc, id string) error { return f.PauseCampaign(f.Context(), acc, id) },
		func(acc, id string) error {
			return f.CancelCampaign(f.Context(), acc, id, "callcenter.batch_cancelled", "x")
		},
	} {
		acc := f.NewAccount(100 * usd)
		f.OK(f.ChangeAccount(f.Context(), acc, ledger.AccountChange{Concurrency: &many}))
		id := f.batch(acc, 40, t0)
		rows := f.claimRows(f.Node, t0)
		var all sync.WaitGroup
		var begun, late atomic.Int64
		var over atomic.Bool
		for w := range 4 {
			all.Go(func() {
				for i := w; i < len(rows); i += 4 {
					before := over.Load()
					_, err := f.dialRow(f.Node, rows[i], t0)
					for errors.Is(err, store.ErrUnavailable) { // the account is locked for longer than a call waits
						before = over.Load()
						_, err = f.dialRow(f.Node, rows[i], t0)
					}
					switch {
					case err == nil && before:
						late.Add(1)
					case err == nil:
						begun.Add(1)
					case !errors.Is(err, store.ErrClaimLost):
						t.Error(err)
					}
				}
			})
		}
		for begun.Load() < 5 {
			time.Sleep(time.Millisecond)
		}
		f.OK(turn(acc, id))
		over.Store(true)
		all.Wait()
		if late.Load() != 0 {
			t.Errorf("%d calls began afterwards", late.Load())
		}
		dialled := int(begun.Load())
		if round == 0 {
			f.wantCounts(acc, id, fmt.Sprintf("paused %d/%d/0/0", 40-dialled, dialled))
			if got := f.claimRows(f.Node, t0.Add(time.Hour)); len(got) != 0 {
				t.Errorf("%d rows of a paused batch were claimed", len(got))
			}
			f.OK(f.ResumeCampaign(f.Context(), acc, id))
			if got := f.claimRows(f.Node, t0.Add(time.Hour)); len(got) != 40-dialled {
				t.Errorf("%d rows were claimed after the pause, want %d", len(got), 40-dialled)
			}
		}
		for range 2 { // and again
			f.OK(f.CancelCampaign(f.Context(), acc, id, "callcenter.batch_cancelled", "The batch was cancelled."))
			f.OK(f.ResumeCampaign(f.Context(), acc, id))
			f.OK(f.PauseCampaign(f.Context(), acc, id))
			f.wantCounts(acc, id, fmt.Sprintf("cancelled 0/%d/0/%d", dialled, 40-dialled))
		}
		f.Verified()
	}
}

// A batch is taken on by those who may dial, and seen by nobody else.
func TestCampaignsAreTheAccounts(t *testing.T) {
	f := setup(t)
	mine, theirs, fresh, disputed := f.NewAccount(10*usd), f.NewAccount(10*usd), f.NewAccount(0), f.NewAccount(10*usd)
	f.OK(f.OpenDispute(f.Context(), disputed, "pi_1"))
	poor := f.NewAccount(10 * usd)
	f.Adjust(poor, 5*usd+20*billing.Cent)
	for acc, want := range map[string]error{fresh: store.ErrTopupRequired, disputed: store.ErrDisputed, poor: store.ErrInsufficientBalance} {
		if _, err := f.CreateCampaign(f.Context(), f.wish(acc, 1, t0), card, nil); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	for _, n := range []int{0, campaign.MaxCampaignRows + 1} {
		if _, err := f.CreateCampaign(f.Context(), f.wish(mine, n, t0), card, nil); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%d rows: %v", n, err)
		}
	}
	id, second := f.batch(theirs, campaign.MaxCampaignRows, t0), f.batch(theirs, 1, t0)
	if all, err := f.Campaigns(f.Context(), theirs, store.Page{}); err != nil || len(all) != 2 || !slices.ContainsFunc(all, func(c campaign.Campaign) bool {
		return c.ID == id && c.Pending == campaign.MaxCampaignRows && c.Name == "spring" && c.Rows == nil
	}) {
		t.Errorf("the list is %+v, %v", all, err)
	}
	if all, err := f.Campaigns(f.Context(), mine, store.Page{}); err != nil || len(all) != 0 {
		t.Errorf("another's list is %+v, %v", all, err)
	}
	for _, foreign := range []string{id, "bulk_0"} {
		for name, err := range map[string]error{
			"read": func() error { _, err := f.Campaign(f.Context(), mine, foreign); return err }(), "pause": f.PauseCampaign(f.Context(), mine, foreign),
			"resume": f.ResumeCampaign(f.Context(), mine, foreign), "cancel": f.CancelCampaign(f.Context(), mine, foreign, "x", "x"),
		} {
			if !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s %s: %v", name, foreign, err)
			}
		}
	}
	f.wantCounts(theirs, id, "running 500/0/0/0")
	for range campaign.MaxCampaigns - 2 {
		f.batch(theirs, 1, t0)
	}
	if _, err := f.CreateCampaign(f.Context(), f.wish(theirs, 1, t0), card, nil); !errors.Is(err, store.ErrCampaigns) {
		t.Errorf("one too many: %v", err)
	}
	f.OK(f.CancelCampaign(f.Context(), theirs, second, "x", "x"))
	f.batch(theirs, 1, t0)
	f.Verified()
}

// A request that is sent again finds the batch that it has begun.
func TestCampaignOnce(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(10 * usd)
	o := store.IdempotencyKey{Account: acc, Route: "bulk", Key: "k"}
	_, err := f.BeginRequest(f.Context(), &o)
	f.OK(err)
	id, err := f.CreateCampaign(f.Context(), f.wish(acc, 1, t0), card, &o)
	f.OK(err)
	later := store.IdempotencyKey{Account: acc, Route: "bulk", Key: "k"}
	_, err = f.BeginRequest(f.At(t0.Add(2*time.Minute)), &later) // who began it has died
	f.OK(err)
	if later.Subject != id {
		t.Errorf("begun was %q, want %q", later.Subject, id)
	}
}

// A key stays with what was begun under it, although nobody heard of that; and who has
// been taken over begins nothing any more.
func TestAKeyStaysWithWhatWasBegun(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(10 * usd)
	o := store.IdempotencyKey{Account: acc, Route: "bulk", Key: "k"}
	_, err := f.BeginRequest(f.Context(), &o)
	f.OK(err)
	id, err := f.CreateCampaign(f.Context(), f.wish(acc, 1, t0), card, &o)
	f.OK(err)
	o.Subject = "" // the answer to the commit was lost
	f.OK(f.DropRequest(f.Context(), &o))
	again := store.IdempotencyKey{Account: acc, Route: "bulk", Key: "k"}
	_, err = f.BeginRequest(f.At(t0.Add(time.Second)), &again) // at once
	f.OK(err)
	if again.Subject != id {
		t.Errorf("begun was %q, want %q", again.Subject, id)
	}

	slow := store.IdempotencyKey{Account: acc, Route: "bulk", Key: "slow"}
	_, err = f.BeginRequest(f.Context(), &slow)
	f.OK(err)
	heir := store.IdempotencyKey{Account: acc, Route: "bulk", Key: "slow"}
	_, err = f.BeginRequest(f.At(t0.Add(2*time.Minute)), &heir)
	f.OK(err)
	if _, err := f.CreateCampaign(f.Context(), f.wish(acc, 1, t0), card, &slow); !errors.Is(err, store.ErrInProgress) {
		t.Errorf("a request that was taken over: %v", err)
	}
	f.OK(f.DropRequest(f.Context(), &slow)) // it is not its own any more
	_, err = f.CreateCampaign(f.Context(), f.wish(acc, 1, t0), card, &heir)
	f.OK(err)
}

// The summary of a call is kept and charged once, by the call's own rate card, however
// often it is made; the end of the call asks for it, and only where somebody answered.
func TestSummaryIsChargedOnce(t *testing.T) {
	f := setup(t)
	var asked []string
	ledgertest.Enqueue(f.DB, store.SummarizeCall, func(_ context.Context, _ pgx.Tx, account, session string) error {
		asked = append(asked, account+" "+session)
		return nil
	})
	acc := f.NewAccount(100 * usd)
	id := f.batch(acc, 2, t0)
	rows := f.claimRows(f.Node, t0)
	s, err := f.dialRow(f.Node, rows[0], t0)
	f.OK(err)
	missed, err := f.dialRow(f.Node, rows[1], t0)
	f.OK(err)
	_, err = f.CloseSession(f.Context(), missed, ledger.Closing{Reason: "no_answer"})
	f.OK(err)
	plain := f.Start(acc, outboundES)
	f.CloseWith(plain, billing.Usage{billing.LineTime: 1000, billing.AgentTime: 1000})
	const text = "They\x00 agreed."
	sum := aftercall.Completion{Generation: store.Generation{Outcome: "committed", InTokens: 1000, OutTokens: 100, Source: "provider"}}
	if _, err := f.SaveSummary(f.Context(), acc, s.ID, text, sum); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a summary of a call that lasts: %v", err)
	}
	used := billing.Usage{billing.LineTime: 30_000, billing.AgentTime: 30_000, billing.ReplyIn: 10}
	f.CloseWith(s, used)
	if len(asked) != 1 || asked[0] != acc+" "+s.ID {
		t.Errorf("summaries were asked for: %v", asked)
	}
	before := f.Show(acc).Pots
	var saved atomic.Int64
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			ok, err := f.SaveSummary(f.At(t0.Add(time.Minute)), acc, s.ID, text, sum)
			if err != nil {
				t.Error(err)
			}
			if ok {
				saved.Add(1)
			}
		})
	}
	all.Wait()
	for _, x := range []*ledger.Session{plain, missed} {
		if ok, err := f.SaveSummary(f.Context(), acc, x.ID, text, sum); ok || err != nil {
			t.Errorf("a call of no row, or that nobody answered, has a summary: %v, %v", ok, err)
		}
	}
	cost := price(t, outboundES, billing.Usage{billing.SummaryIn: 1000, billing.SummaryOut: 100})
	before.Paid -= cost
	f.Want(acc, before)
	r := f.rows(acc, id).Rows[0]
	if saved.Load() != 1 || r.Summary == nil || *r.Summary != "They agreed." {
		t.Errorf("saved %d times, the row is %+v", saved.Load(), r)
	}
	used[billing.SummaryIn], used[billing.SummaryOut] = 1000, 100
	if want := price(t, outboundES, used); r.Call.Cost != want {
		t.Errorf("the call costs %s, want %s", r.Call.Cost, want)
	}
	if again := f.CloseWith(s, billing.Usage{billing.LineTime: 90_000}); again != r.Call.Cost {
		t.Errorf("closing again says %s", again)
	}
	call, err := history.New(f.DB).Call(f.Context(), acc, s.ID)
	f.OK(err)
	if n := len(call.Generations); n != 1 || call.Generations[0].Kind != "summary" {
		t.Errorf("the call's generations are %+v", call.Generations)
	}
	f.Verified()
}
