package callcenter_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"parley/api"
	"parley/api/apitest"
	"parley/api/callcenter"
	"parley/api/export"
	"parley/api/ticket"
	"parley/api/wire"
	"parley/billing"
	"parley/billing/destination"
	"parley/store"
	"parley/store/campaign"
)

// fakeBatches check as a node would: one number may call, and one agent speak.
type fakeBatches struct {
	from, agent string
	woken       int
	asked       int    // how often all rows of a batch were checked
	queued      func() // nil: nobody asks
}

func (f *fakeBatches) Wake() {
	f.woken++
	if f.queued != nil {
		f.queued()
	}
}

func (f *fakeBatches) Check(_ context.Context, _ string, orders []callcenter.Order) (int, error) {
	for i := range orders {
		to, err := destination.Classify(orders[i].To)
		switch {
		case orders[i].From != f.from:
			return i, api.ErrFrom
		case orders[i].Agent != f.agent:
			return i, api.ErrNoAgent
		case err != nil:
			return i, api.Detail(api.ErrDestination, "not there")
		}
		orders[i].To = to.E164
	}
	return 0, nil
}

func (f *fakeBatches) CheckEach(ctx context.Context, account string, orders []callcenter.Order) ([]error, error) {
	f.asked++
	refused := make([]error, len(orders))
	for i := range orders {
		_, refused[i] = f.Check(ctx, account, orders[i:i+1])
	}
	return refused, nil
}

// bulkShop is a shop whose server has the routes of batches.
func bulkShop(t *testing.T) (*shop, *fakeBatches) {
	s := open(t)
	s.Server.Close()
	b := &fakeBatches{from: "+34911234567", agent: s.A.Agent}
	a := api.New(ticket.Keys{Signer: s.signer, Store: s.DB, People: s.People})
	prices := func() *billing.RateCard { return card }
	callcenter.MountBulk(a, s.DB, prices, b)
	callcenter.MountBulkTools(a, s.DB, export.New(s.DB), prices, b)
	s.Server = httptest.NewServer(apitest.Judged(t, a, a.Handler(api.Options{})))
	t.Cleanup(s.Server.Close)
	return s, b
}

// TestBatchIsChecked: every row is told, nothing is queued.
func TestBatchIsChecked(t *testing.T) {
	s, b := bulkShop(t)
	_, _, err := s.DB.AddDoNotCall(t.Context(), s.A.Account, store.DoNotCall{Number: "+34912345678", Source: store.ListedByAPI})
	s.OK(err)
	check := func(body string) (c wire.BatchCheck) {
		t.Helper()
		r := s.As(s.A, "POST", "/callcenter/bulk-dial/check", body)
		s.Want("check", r, 200, "")
		s.OK(json.Unmarshal(r.Body, &c))
		return c
	}
	const from = `"from":"+34911234567"`
	later := time.Now().Add(48 * time.Hour).UTC().Format(time.RFC3339)
	c := check(`{` + from + `,"agent_id":"` + s.A.Agent + `","rows":[
		{"to":"+34 913 456 789"},{"to":"+34913456789","scheduled_at":"` + later + `"},{"to":"+34912345678"},{"to":"nobody"},{"to":""},
		{"to":"+34913456780","scheduled_at":"tomorrow"},{"to":"+34913456781","from":"+34911111111"},{"to":"+34913456782","agent_id":"` + s.B.Agent + `"}]}`)
	if b.asked != 1 {
		t.Errorf("the rows of one batch were checked %d times", b.asked)
	}
	var got []string
	for _, r := range c.Rows {
		line := fmt.Sprint(r.Row, " ", r.To, " ", r.OK)
		if r.Error != nil {
			line += " " + r.Error.Code + " " + r.Error.Detail
		}
		if r.DuplicateOf != nil {
			line += fmt.Sprint(" again ", *r.DuplicateOf)
		}
		got = append(got, strings.TrimSpace(line))
		if (r.DueAt != nil) != r.OK || (r.PerMinute != nil) != r.OK {
			t.Errorf("row %d: due %v, price %v", r.Row, r.DueAt, r.PerMinute)
		}
	}
	want := []string{"0 +34913456789 true", "1 +34913456789 true again 0", "2 +34912345678 false callcenter.do_not_call",
		"3 nobody false callcenter.destination_not_allowed not there",
		"4  false validation.invalid_request_format to: say whom to call",
		"5 +34913456780 false validation.invalid_request_format scheduled_at: a time with its zone, such as 2026-11-23T10:00:00+01:00",
		"6 +34913456781 false callcenter.from_not_owned", "7 +34913456782 false agent.not_found"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("rows:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	tariff, err := card.Tariff(billing.Terms{Kind: billing.Outbound, Country: "ES"})
	s.OK(err)
	bill, err := tariff.Price(billing.Usage{billing.AgentTime: 60_000, billing.LineTime: 60_000})
	s.OK(err)
	if c.Good != 2 || c.Wrong != 6 || billing.Money(c.PerMinute) != 2*bill.Total() || billing.Money(*c.Rows[0].PerMinute) != bill.Total() || bill.Total() <= tariff.LineMinute() {
		t.Errorf("%d good, %d wrong, %v a minute, a call %v", c.Good, c.Wrong, c.PerMinute, bill.Total())
	}
	if now := s.DB.Now(); c.Rows[1].DueAt.Sub(now) < 47*time.Hour || c.Rows[0].DueAt.After(now) {
		t.Errorf("due %v and %v", c.Rows[0].DueAt, c.Rows[1].DueAt)
	}
	for what, body := range map[string]string{"no rows": `{}`, "a window of no hours": `{"rows":[{"to":"x"}],"call_window":{"start":"9","end":"20","timezone":"destination"}}`,
		"a message without a reason": `{"rows":[{"to":"x"}],"message":"Hi"}`} {
		s.Want(what, s.As(s.A, "POST", "/callcenter/bulk-dial/check", body), 400, "validation.invalid_request_format")
	}
	s.Want("a stranger's numbers", s.As(s.B, "POST", "/callcenter/bulk-dial/check", `{"rows":[{"to":"+34912345678"}]}`), 200, "")
	if list := s.As(s.A, "GET", "/callcenter/bulk-dial", ""); string(list.Body) != "{\"batches\":[]}\n" || b.woken != 0 {
		t.Errorf("queued: %s, woken %d times", list.Body, b.woken)
	}
}

// TestResultsAsAFile: a line for each call, for the batch's owner.
func TestResultsAsAFile(t *testing.T) {
	s, _ := bulkShop(t)
	r := s.As(s.A, "POST", "/callcenter/bulk-dial", `{"from":"+34911234567","agent_id":"`+s.A.Agent+`","consent_confirmed":true,"rows":[{"to":"+34913456789"},{"to":"+34913456780"}]}`)
	s.Want("queue", r, 200, "")
	var batch wire.BatchDetail
	s.OK(json.Unmarshal(r.Body, &batch))
	s.Want("cancel", s.As(s.A, "POST", "/callcenter/bulk-dial/"+batch.ID+"/cancel", ""), 200, "")
	file := s.As(s.A, "GET", "/callcenter/bulk-dial/"+batch.ID+"/results.csv", "")
	s.Want("the file", file, 200, "")
	rows, err := csv.NewReader(strings.NewReader(string(file.Body))).ReadAll()
	s.OK(err)
	if len(rows) != 3 || len(rows[0]) != 17 || rows[1][0] != "+34913456789" || rows[2][0] != "+34913456780" || rows[1][4] != "failed" || !strings.HasPrefix(rows[1][15], "callcenter.batch_cancelled: ") || rows[1][16] != "1" {
		t.Errorf("%q", rows)
	}
	s.Want("somebody else's", s.As(s.B, "GET", "/callcenter/bulk-dial/"+batch.ID+"/results.csv", ""), 404, "request.not_found")
	s.Want("nobody's", s.As(s.A, "GET", "/callcenter/bulk-dial/bulk_0/results.csv", ""), 404, "request.not_found")
}

// TestBatchOfAClientThatGoesAway: the batch is queued when its client gives up. Sent again
// with its key, the request is answered with the same batch, and nobody is called twice.
func TestBatchOfAClientThatGoesAway(t *testing.T) {
	s, b := bulkShop(t)
	body := `{"from":"+34911234567","agent_id":"` + s.A.Agent + `","consent_confirmed":true,"rows":[{"to":"+34913456789"}]}`
	ctx, goes := context.WithCancel(t.Context())
	b.queued = goes
	r := httptest.NewRequestWithContext(ctx, "POST", "/callcenter/bulk-dial", strings.NewReader(body))
	for name, value := range map[string]string{"Content-Type": "application/json", "X-API-Key": s.A.Key, "Idempotency-Key": "k"} {
		r.Header.Set(name, value)
	}
	s.Server.Config.Handler.ServeHTTP(httptest.NewRecorder(), r)
	b.queued = nil
	again := s.As(s.A, "POST", "/callcenter/bulk-dial", body, "Idempotency-Key", "k")
	s.Want("again", again, 200, "")
	list, err := campaign.New(s.DB).Campaigns(t.Context(), s.A.Account, store.Page{})
	s.OK(err)
	if len(list) != 1 || b.woken != 1 {
		t.Errorf("%d batches are queued, want 1", len(list))
	}
}
