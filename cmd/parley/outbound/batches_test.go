package outbound

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/api"
	"parley/api/callcenter"
	"parley/billing"
	"parley/billing/destination"
	"parley/store/campaign"
	"parley/store/ledger"
	"parley/store/numbers"
	"parley/store/storetest"
)

// batch queues two calls, with hours or at any time.
func (d *desk) batch(hours *destination.Hours, due time.Time) (id string) {
	d.Helper()
	c := campaign.Campaign{Account: d.account, Name: "Spring", Manner: campaign.Manner{Key: d.key, Hours: hours, Zone: "Etc/UTC"}}
	for _, to := range []string{"+12025550101", "+12025550109"} {
		c.Rows = append(c.Rows, campaign.CampaignRow{To: to, From: number, Agent: d.agent, Zones: []string{"Etc/UTC"}, DueAt: due})
	}
	id, err := campaign.New(d.db).CreateCampaign(d.Context(), c, d.db.RateCard(), nil)
	d.ok(err)
	return id
}

// rows are those of a batch, and its state.
func (d *desk) rows(id string) ([]campaign.CampaignRow, campaign.CampaignState) {
	d.Helper()
	c, err := campaign.New(d.db).Campaign(d.Context(), d.account, id)
	d.ok(err)
	return c.Rows, c.State
}

// TestBatchWaitsForBalance: rows that the account cannot pay for are pending, and are dialled
// when there is balance again; in a dispute they fail.
func TestBatchWaitsForBalance(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	now := d.db.Now()
	id := d.batch(nil, now)
	_, _, err := ledger.New(d.db).Credit(t.Context(), ledger.Credit{Account: d.account, Kind: ledger.Adjustment, Amount: -20 * billing.USD, Key: "gone"})
	d.ok(err)
	for _, line := range d.batches.due(t.Context()) {
		d.batches.dialAll(t.Context(), &line)
	}
	for _, r := range first(d.rows(id)) {
		if r.Status != campaign.RowPending || r.ErrorCode != "" {
			t.Errorf("without balance it is %+v", r)
		}
	}
	if early := d.batches.due(storetest.At(t.Context(), now.Add(50*time.Second))); len(early) != 0 {
		t.Error("rows are tried again within the minute")
	}
	d.ok(ledger.New(d.db).OpenDispute(t.Context(), d.account, "pi_1"))
	for _, line := range d.batches.due(storetest.At(t.Context(), now.Add(2*time.Minute))) {
		d.batches.dialAll(t.Context(), &line)
	}
	list, state := d.rows(id)
	for _, r := range list {
		if r.Status != campaign.RowFailed || r.ErrorCode != "billing.account_disputed" || state != campaign.CampaignDone {
			t.Errorf("in a dispute it is %+v, the batch %s", r, state)
		}
	}
	d.verified()
}

func first[A, B any](a A, _ B) A { return a }

// TestBatchKeepsHours: what is claimed outside of its hours is put off to their beginning.
func TestBatchKeepsHours(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	closed := d.db.Now().Add(2 * time.Hour).UTC() // the hours begin then
	hour := func(t time.Time) string { return fmt.Sprintf("%02d:%02d", t.Hour(), t.Minute()) }
	hours, err := destination.ParseHours(hour(closed), hour(closed.Add(time.Hour)))
	d.ok(err)
	begins := closed.Truncate(time.Minute)
	id := d.batch(&hours, begins)
	if early := d.batches.due(storetest.At(t.Context(), begins.Add(-time.Second))); len(early) != 0 {
		t.Error("rows are claimed before their hours")
	}
	late := d.batches.due(storetest.At(t.Context(), begins))
	if len(late) != 1 || len(late[0]) != 2 {
		t.Fatalf("claimed were %+v", late)
	}
	d.batches.dialAll(t.Context(), &late[0]) // by the clock it is too early still
	if r := first(d.rows(id))[0]; r.Status != campaign.RowPending || !r.DueAt.Equal(begins) {
		t.Errorf("the row is %+v, due %s, want %s", r, r.DueAt, begins)
	}
}

// TestBatchKeepsPace: rows wait until their number may call again, and a single call from it is refused.
func TestBatchKeepsPace(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	numbered := numbers.New(d.db)
	n, err := numbered.ByE164(t.Context(), d.account, number)
	d.ok(err)
	one := 1
	d.ok(numbered.Assign(t.Context(), d.account, n.ID, numbers.Assignment{CallsPerHour: &one}))
	now := d.db.Now()
	begins := now.Add(-20 * time.Minute)
	_, err = ledger.New(d.db).StartSession(storetest.At(t.Context(), begins), ledger.Start{Node: d.life, Account: d.account, Card: d.db.RateCard(), From: number, To: "+12025550101",
		Terms: billing.Terms{Kind: billing.Outbound, Country: "US"}})
	d.ok(err)
	id := d.batch(nil, now)
	for _, line := range d.batches.due(t.Context()) {
		d.batches.dialAll(t.Context(), &line)
	}
	again := begins.Add(time.Hour)
	for _, r := range first(d.rows(id)) {
		if r.Status != campaign.RowPending || r.DueAt.Sub(again).Abs() > time.Millisecond {
			t.Errorf("it is %+v, due %s; want it due %s", r, r.DueAt, again)
		}
	}
	_, err = d.batches.dialler.Dial(t.Context(), api.Principal{Account: d.account, Key: d.key}, callcenter.Order{From: number, To: "+12025550101", Agent: d.agent})
	if p := api.ProblemOf(err); p.Code != "callcenter.number_paced" || p.Detail != "The next may begin at "+again.UTC().Format(time.RFC3339)+"." {
		t.Errorf("a single call: %+v", p)
	}
	d.verified()
}

// TestQuietBatchesHearOfRows: a node that has found nothing to dial hears of rows that are there, and does not ask for them meanwhile.
func TestQuietBatchesHearOfRows(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	address, counter := storetest.Counted(t, d.db.Pool().Config().ConnString())
	batches := campaign.New(storetest.Open(t, address))
	d.batches.rows, d.batches.quiet = batches, time.Hour
	id := d.batch(nil, d.db.Now())
	d.ok(batches.PauseCampaign(t.Context(), d.account, id))
	d.ok(ledger.New(d.db).OpenDispute(t.Context(), d.account, "pi_1")) // rows that are dialled fail
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- d.batches.Run(ctx) }()
	until := func(what string, holds func() bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("not within a minute: ", what)
			}
		}
	}
	looks := 0
	until("it has looked", func() bool {
		for sql, n := range counter.Take() {
			if strings.HasPrefix(sql, "select exists (select from campaign_rows") {
				looks += n
			}
		}
		return looks > 0
	})
	d.ok(batches.ResumeCampaign(t.Context(), d.account, id))
	until("the rows are dialled", func() bool {
		list := first(d.rows(id))
		return !slices.ContainsFunc(list, func(r campaign.CampaignRow) bool { return r.Status == campaign.RowPending })
	})
	stop()
	d.ok(<-done)
}

// TestADrainingNodeClaimsNoRows: they are left to nodes that stay.
func TestADrainingNodeClaimsNoRows(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.ok(d.manager.Drain(t.Context()))
	id := d.batch(nil, d.db.Now())
	if rows := d.batches.due(t.Context()); len(rows) != 0 {
		t.Errorf("it claims %+v", rows)
	}
	rows, err := campaign.New(d.db).ClaimRows(t.Context(), d.life, d.db.RateCard().Wallet(), maxClaims)
	d.ok(err)
	if len(rows) != 2 || rows[0].Campaign != id {
		t.Errorf("for others there is %+v", rows)
	}
}

// TestEachOrderIsChecked: every order has the refusal that it would have alone.
func TestEachOrderIsChecked(t *testing.T) {
	d := newDesk(t)
	b := d.batches
	good := callcenter.Order{From: number, To: "+1 202 555 0106", Agent: d.agent}
	orders := []callcenter.Order{good, good, good, good, good}
	orders[1].From, orders[2].Agent, orders[3].To = "+34911111111", "ag_nobody", "112"
	refused, err := b.CheckEach(t.Context(), d.account, orders)
	d.ok(err)
	for i, want := range []error{nil, api.ErrFrom, api.ErrNoAgent, api.ErrEmergency, nil} {
		if !errors.Is(refused[i], want) {
			t.Errorf("order %d: %v, want %v", i, refused[i], want)
		}
	}
	if orders[0].To != "+12025550106" || orders[4].To != orders[0].To {
		t.Errorf("%+v", orders)
	}
}
