package topup_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/api/apitest"
	"parley/billing"
	"parley/billing/payment"
	"parley/store"
	"parley/store/ledger"
	"parley/store/ledger/statement"
	"parley/store/payments"
)

// TestBehaviours plays everything that a provider may do to a payment.
func TestBehaviours(t *testing.T) {
	const end = 70 * time.Second
	for _, c := range []struct {
		name, amount string
		after        time.Duration // at the provider
		state        string        // before anybody looks
		paid         billing.Money // in the balance
		disputes     int
	}{
		{"at once", "20", 0, "succeeded", 20 * usd, 0},
		{"declined", "20.01", end, "pending", 0, 0},
		{"insufficient funds", "20.02", end, "pending", 0, 0},
		{"authentication, with somebody present", "20.03", 0, "succeeded", 20*usd + 3*billing.Cent, 0},
		{"timeout after success", "20.04", 0, "succeeded", 20*usd + 4*billing.Cent, 0},
		{"late, before", "20.05", 59 * time.Second, "pending", 0, 0},
		{"late", "20.05", 61 * time.Second, "succeeded", 20*usd + 5*billing.Cent, 0},
		{"twice", "20.06", end, "succeeded", 20*usd + 6*billing.Cent, 0},
		{"out of order", "20.07", end, "succeeded", 20*usd + 7*billing.Cent, 0},
		{"never", "20.08", end, "pending", 0, 0},
		{"dispute opened", "20.09", 2500 * time.Millisecond, "succeeded", 20*usd + 9*billing.Cent, 1},
		{"dispute, funds withdrawn", "20.09", end, "succeeded", 0, 1},
		{"dispute won", "20.10", end, "succeeded", 20*usd + 10*billing.Cent, 0},
		{"dispute lost", "20.11", end, "succeeded", 0, 1},
		{"refunded", "20.12", end, "succeeded", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := open(t) // and a clock of its own: what is too far from ours is refused
			v := o.begin(o.A, c.amount)
			if asked, err := billing.ParseMoney(c.amount); err != nil || v.State != "pending" || !strings.HasPrefix(v.URL, o.Server.URL+"/simulated/pay/") || v.Amount != asked {
				t.Errorf("begun as %+v", v)
			}
			o.press(v, "pay")
			o.pass(0)
			o.pass(c.after)
			stored, err := payments.New(o.DB).TopUp(t.Context(), o.A.Account, v.ID)
			o.OK(err)
			a := o.show(o.A)
			if string(stored.State) != c.state || a.Pots.Paid != c.paid || a.OpenDisputes != c.disputes || (a.FirstTopupAt != nil) != (c.state == "succeeded") {
				t.Errorf("%s, %v paid, %d disputes, first %v", stored.State, a.Pots.Paid, a.OpenDisputes, a.FirstTopupAt)
			}
			// Whoever reads an open top-up has it looked up, so nothing that was paid is missed.
			got := o.get(o.A, v.ID)
			refused := c.name == "declined" || c.name == "insufficient funds"
			if (got.State == "succeeded") == refused || got.Paid != v.Amount && !refused {
				t.Errorf("read as %+v", got)
			}
			if paid := o.show(o.A).Pots.Paid; c.state == "pending" && !refused && paid != v.Amount {
				t.Errorf("%v after reading", paid)
			}
			o.pass(end) // late news change nothing
			if paid := o.show(o.A).Pots.Paid; c.state == "pending" && !refused && paid != v.Amount {
				t.Errorf("%v in the end", paid)
			}
		})
	}
}

// A declined card can be tried again, and a page can be given up.
func TestDeclinedAndCanceled(t *testing.T) {
	o := open(t)
	v := o.begin(o.A, "30")
	o.press(v, "decline")
	o.pass(0)
	if got := o.get(o.A, v.ID); got.State != "pending" {
		t.Errorf("declined: %+v", got)
	}
	o.press(v, "pay")
	o.pass(0)
	if got := o.get(o.A, v.ID); got.State != "succeeded" || o.show(o.A).Pots.Paid != 30*usd {
		t.Errorf("another card: %+v", got)
	}
	v = o.begin(o.A, "30")
	o.press(v, "cancel")
	o.pass(0)
	if got := o.get(o.A, v.ID); got.State != "canceled" || o.show(o.A).Pots.Paid != 30*usd {
		t.Errorf("canceled: %+v", got)
	}
}

// The first top-up opens ten sessions at once.
func TestFirstTopUpLiftsConcurrency(t *testing.T) {
	o := open(t)
	node, _, err := o.Ledger.RegisterNode(t.Context(), "node", "127.0.0.1:1")
	o.OK(err)
	start := func() error {
		_, err := o.Ledger.StartSession(t.Context(), ledger.Start{Node: node, Account: o.A.Account, Terms: billing.Terms{Kind: billing.Web}, Card: card})
		return err
	}
	for n, want := range []int{3, 10} {
		if n == 1 {
			o.press(o.begin(o.A, "10"), "pay")
			o.pass(0)
		}
		for o.show(o.A).Live < want {
			o.OK(start())
		}
		if err := start(); !errors.Is(err, store.ErrConcurrency) {
			t.Errorf("session %d: %v", want+1, err)
		}
	}
}

// One webhook fifty times at once counts once.
func TestWebhookFiftyTimes(t *testing.T) {
	o := open(t)
	v := o.begin(o.A, "25")
	o.press(v, "pay")
	o.deaf = true
	o.pass(0)
	if o.show(o.A).Pots.Paid != 0 || len(o.heard) != 1 {
		t.Fatalf("%d webhooks were sent", len(o.heard))
	}
	o.mu.Lock()
	o.deaf = false
	hook := o.heard[0]
	o.mu.Unlock()
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if status := o.post(hook); status != http.StatusNoContent {
				t.Errorf("answered %d", status)
			}
		})
	}
	wg.Wait()
	if paid := o.show(o.A).Pots.Paid; paid != 25*usd {
		t.Errorf("%v paid", paid)
	}
	var ts []ledger.Transfer
	o.OK(o.DB.Statement(t.Context(), o.A.Account, func(s *store.Statement) (err error) {
		ts, err = statement.Entries(t.Context(), s, statement.Page{Limit: 9})
		return err
	}))
	if len(ts) != 2 || ts[0].Kind != ledger.Topup || ts[0].Debit != "sim" {
		t.Errorf("ledger %+v", ts)
	}
}

// What the provider did not sign, or cannot be read, is refused; what is about
// nothing of ours is taken and ignored; a provider that is away is asked again.
func TestWebhooksThatSayNothing(t *testing.T) {
	o := open(t)
	v := o.begin(o.A, "25")
	o.press(v, "pay")
	o.deaf = true
	o.pass(0)
	o.deaf = false
	good := o.heard[0]
	sign := func(body string) heard {
		return heard{http.Header{"Simulated-Signature": {payment.Sign("whsec_for_tests", []byte(body), time.Now())}}, body}
	}
	for _, c := range []struct {
		name string
		hook heard
		want int
	}{
		{"unsigned", heard{http.Header{}, good.body}, 400},
		{"changed", heard{good.header, strings.Replace(good.body, "succeeded", "failed___", 1)}, 400},
		{"old", heard{http.Header{"Simulated-Signature": {payment.Sign("whsec_for_tests", []byte(good.body), time.Now().Add(-time.Hour))}}, good.body}, 400},
		{"by somebody else", heard{http.Header{"Simulated-Signature": {payment.Sign("whsec_x", []byte(good.body), time.Now())}}, good.body}, 400},
		{"no event", sign(`[]`), 400},
		{"too large", sign(strings.Repeat("x", 64<<10+1)), 413},
		{"of no interest", sign(`{"id":"e1","object":"event","type":"invented","payment":"p"}`), 204},
		{"of a payment that is not ours", sign(`{"id":"e2","object":"event","type":"payment_succeeded","payment":"pi_foreign"}`), 204},
	} {
		if got := o.post(c.hook); got != c.want {
			t.Errorf("%s: answered %d, want %d", c.name, got, c.want)
		}
	}
	if paid := o.show(o.A).Pots.Paid; paid != 0 {
		t.Errorf("%v paid", paid)
	}
	away := &faulty{Provider: o.pays, down: payment.ErrUnknown}
	o.desk.Provider = away
	if got := o.post(good); got != http.StatusServiceUnavailable {
		t.Errorf("answered %d while the provider is away", got)
	}
	if got := o.get(o.A, v.ID); got.State != "pending" {
		t.Errorf("read while the provider is away: %+v", got)
	}
	away.down = nil
	if got := o.post(good); got != http.StatusNoContent || o.show(o.A).Pots.Paid != 25*usd {
		t.Errorf("answered %d afterwards", got)
	}
	for path, want := range map[string]int{"/hooks/stripe": 404, "/hooks/simulated": 405} {
		if got, text := o.ask(o.A, map[bool]string{true: "POST", false: "GET"}[want == 404], path, "{}"); got != want {
			t.Errorf("%s: %d %s", path, got, text)
		}
	}
}

// A page whose maker did not answer is the same when asked again; one that cannot be
// made is 503.
func TestLostAnswers(t *testing.T) {
	o := open(t)
	lossy := &faulty{Provider: o.pays, lost: 1}
	o.desk.Provider = lossy
	o.press(o.begin(o.A, "10"), "pay")
	o.pass(0)
	if paid := o.show(o.A).Pots.Paid; paid != 10*usd {
		t.Errorf("%v paid", paid)
	}
	lossy.lost = 2
	if status, text := o.ask(o.A, "POST", "/v1/topups", `{"amount": 10}`); status != 503 || !strings.Contains(text, "service.unavailable") {
		t.Errorf("%d %s", status, text)
	}
	status, text := o.ask(o.A, "GET", "/v1/topups?limit=1", "")
	if status != 200 || !strings.Contains(text, `"state":"created"`) || !strings.Contains(text, `"has_more":true`) {
		t.Errorf("%d %s", status, text)
	}
}

func TestAmounts(t *testing.T) {
	o := open(t)
	for body, detail := range map[string]string{
		`{"amount": 9.99}`: "from 10 to 2000", `{"amount": 2000.01}`: "from 10 to 2000", `{"amount": -10}`: "from 10", `{"amount": 0}`: "from 10",
		`{"amount": 10.001}`: "whole cents", `{}`: "say how much", `{"amount": null}`: "say how much", `{"amount": "20"}`: "", `{"amount": 1e99}`: "",
		`[]`: "", `{`: "", ``: "",
	} {
		status, text := o.ask(o.A, "POST", "/v1/topups", body)
		if status != 400 || !strings.Contains(text, "validation.invalid_request_format") || !strings.Contains(text, detail) {
			t.Errorf("%s: %d %s", body, status, text)
		}
	}
	for _, amount := range []string{"10", "2000", "10.5", "1e1"} {
		status, text := o.ask(o.A, "POST", "/v1/topups", `{"amount": `+amount+`}`)
		if status != 201 && amount != "1e1" {
			t.Errorf("%s: %d %s", amount, status, text)
		}
	}
}

// Another account's top-ups are not there, and lists go from page to page.
func TestOthersAndPages(t *testing.T) {
	o := open(t)
	var ids []string
	for i := range 5 {
		ids = append(ids, o.begin(o.A, fmt.Sprint(10+i)).ID)
	}
	foreign, text1 := o.ask(o.B, "GET", "/v1/topups/"+ids[0], "")
	unknown, text2 := o.ask(o.B, "GET", "/v1/topups/top_x", "")
	if foreign != 404 || unknown != 404 || apitest.Anonymous(text1) != apitest.Anonymous(text2) {
		t.Errorf("foreign %d %s, unknown %d %s", foreign, text1, unknown, text2)
	}
	if status, text := o.ask(o.B, "GET", "/v1/topups", ""); status != 200 || !strings.Contains(text, `"data":[]`) {
		t.Errorf("%d %s", status, text)
	}
	if status, _ := o.ask(owner{Key: "sk_wrong"}, "GET", "/v1/topups", ""); status != 401 {
		t.Errorf("without a key: %d", status)
	}
	var seen []string
	for cursor := ""; ; {
		status, text := o.ask(o.A, "GET", "/v1/topups?limit=2&cursor="+cursor, "")
		var page struct {
			Data       []view
			HasMore    bool    `json:"has_more"`
			NextCursor *string `json:"next_cursor"`
		}
		if err := json.Unmarshal([]byte(text), &page); err != nil || status != 200 {
			t.Fatalf("%d %s", status, text)
		}
		for _, v := range page.Data {
			seen = append(seen, v.ID)
		}
		if !page.HasMore {
			break
		}
		cursor = *page.NextCursor
	}
	if len(seen) != 5 {
		t.Fatalf("listed %v", seen)
	}
	for i, id := range seen {
		if i > 0 && seen[i-1] <= id || !slices.Contains(ids, id) {
			t.Errorf("%v is not newest first", seen)
		}
	}
	// One that is disputed or suspended pays nothing more in.
	o.OK(o.Ledger.OpenDispute(t.Context(), o.A.Account, "dp_1"))
	if status, text := o.ask(o.A, "POST", "/v1/topups", `{"amount": 10}`); status != 402 || !strings.Contains(text, "billing.account_disputed") {
		t.Errorf("disputed: %d %s", status, text)
	}
	for range payments.MaxTopUps {
		o.begin(o.B, "10")
	}
	if status, text := o.ask(o.B, "POST", "/v1/topups", `{"amount": 10}`); status != 429 {
		t.Errorf("one too many: %d %s", status, text)
	}
}
