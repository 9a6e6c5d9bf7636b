package topup_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/api/topup"
	"parley/billing"
	"parley/billing/payment"
	"parley/store"
	"parley/store/jobs"
	"parley/store/ledger"
	"parley/store/payments"
	"parley/store/storetest"
)

// patience only bounds a hang.
const patience = 60 * time.Second

// recharge is automatic recharge in answers.
type recharge struct {
	Enabled     bool                           `json:"enabled"`
	CardSaved   bool                           `json:"card_saved"`
	Threshold   billing.Money                  `json:"threshold"`
	Amount      billing.Money                  `json:"amount"`
	MonthlyCap  billing.Money                  `json:"monthly_cap"`
	Charged     billing.Money                  `json:"charged_this_month"`
	InProgress  *string                        `json:"in_progress"`
	LastFailure *struct{ Reason, Code string } `json:"last_failure"`
	RetryAt     *time.Time                     `json:"retry_at"`
}

// charges is the queue of a server that charges cards.
type charges struct{ topup.Recharges }

// Enqueue implements store.Enqueuer.
func (c charges) Enqueue(ctx context.Context, tx pgx.Tx, job store.Job, account, id string) error {
	if job != store.ChargeRecharge {
		return nil
	}
	return c.Recharges.Enqueue(ctx, tx, account, id)
}

// work runs a node's queue, with a provider, until stop.
func (o *bank) work(p payment.Provider) (stop func()) {
	o.Helper()
	q := jobs.New(slog.New(slog.DiscardHandler))
	r := topup.Recharges{Store: o.DB, Payments: payments.New(o.DB), Queue: q, Provider: func() payment.Provider { return p }, Log: slog.New(slog.DiscardHandler)}
	r.Handle()
	o.OK(q.Open(o.Context(), o.Database))
	o.DB.UseQueue(charges{r})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- q.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			o.Error(err)
		}
		q.Close()
	})
	o.Cleanup(stop)
	return stop
}

// carded pays a top-up of 10 dollars by hand: 15 are in the balance then.
func (o *bank) carded(who owner) {
	o.Helper()
	o.press(o.begin(who, "10"), "pay")
	o.pass(0)
}

func (o *bank) setting(who owner, method, body string) (int, string) {
	o.Helper()
	return o.ask(who, method, "/v1/auto-recharge", body)
}

func (o *bank) set(who owner, body string) recharge {
	o.Helper()
	status, text := o.setting(who, "PUT", body)
	if status != http.StatusOK {
		o.Fatalf("%d %s", status, text)
	}
	return o.recharge(text)
}

func (o *bank) recharge(text string) (r recharge) {
	o.Helper()
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		o.Fatalf("%v in %s", err, text)
	}
	return r
}

// settled waits until nothing is in progress.
func (o *bank) settled(who owner) recharge {
	o.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		status, text := o.setting(who, "GET", "")
		if r := o.recharge(text); status == http.StatusOK && r.InProgress == nil {
			return r
		} else if time.Now().After(end) {
			o.Fatalf("%d %s", status, text)
		}
	}
}

// TestRechargeBehaviours plays everything that a provider may do to a charge.
func TestRechargeBehaviours(t *testing.T) {
	for _, c := range []struct {
		name, amount string
		deaf         bool          // webhooks get lost
		came         billing.Money // in the end
		failure      string
		enabled      bool
		disputes     int
	}{
		{"at once", "20", false, 20 * usd, "", true, 0},
		{"no webhook at all", "20", true, 20 * usd, "", true, 0},
		{"declined", "20.01", false, 0, "card_declined generic_decline", true, 0},
		{"insufficient funds, no webhook", "20.02", true, 0, "card_declined insufficient_funds", true, 0},
		{"authentication", "20.03", false, 0, "authentication_required authentication_required", false, 0},
		{"timeout after success", "20.04", false, 20*usd + 4*billing.Cent, "", true, 0},
		{"timeout after success, no webhook", "20.04", true, 20*usd + 4*billing.Cent, "", true, 0},
		{"late", "20.05", false, 20*usd + 5*billing.Cent, "", true, 0},
		{"twice", "20.06", false, 20*usd + 6*billing.Cent, "", true, 0},
		{"out of order", "20.07", false, 20*usd + 7*billing.Cent, "", true, 0},
		{"never", "20.08", false, 20*usd + 8*billing.Cent, "", true, 0},
		{"dispute lost", "20.11", false, 0, "", true, 1},
		{"refunded", "20.12", false, 0, "refunded ", false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := open(t)
			o.carded(o.A)
			o.mu.Lock()
			o.deaf = c.deaf
			o.mu.Unlock()
			o.work(o.pays)
			set := o.set(o.A, `{"enabled": true, "threshold": 15.01, "amount": `+c.amount+`, "monthly_cap": 50}`)
			if set.InProgress == nil {
				t.Fatalf("%+v", set)
			}
			o.pass(0)
			o.settled(o.A)
			o.pass(0)
			for range 4 { // twice, disputes, refunds, what is late
				o.pass(20 * time.Second)
			}
			o.mu.Lock()
			heard := o.heard
			o.mu.Unlock()
			for _, h := range heard { // and everything once more
				o.mu.Lock()
				o.deaf = false
				o.mu.Unlock()
				o.post(h)
			}
			r, failure := o.settled(o.A), ""
			if r.LastFailure != nil {
				failure = r.LastFailure.Reason + " " + r.LastFailure.Code
			}
			a := o.show(o.A)
			if a.Pots.Paid != 10*usd+c.came || failure != c.failure || r.Enabled != c.enabled || a.OpenDisputes != c.disputes {
				t.Errorf("%v came in, %d disputes, %+v with %q", a.Pots.Paid-10*usd, a.OpenDisputes, r, failure)
			}
			// The wait after a failure is longer than that after a charge.
			if failed := c.failure != "" && c.failure != "refunded "; r.RetryAt == nil || (r.RetryAt.Sub(o.DB.Now()) > ledger.RechargePause) != failed {
				t.Errorf("again at %v with %q", r.RetryAt, failure)
			}
			got := o.get(o.A, *set.InProgress)
			if !got.Automatic || got.Amount != set.Amount || got.URL != "" || (got.State == "succeeded") != (c.failure == "" || c.failure == "refunded ") {
				t.Errorf("its top-up: %+v", got)
			}
		})
	}
}

// stubborn is a provider whose charges go wrong.
type stubborn struct {
	payment.Provider
	name    string
	mu      sync.Mutex
	charges int
	err     func(ctx context.Context, n int, r payment.ChargeRequest) error // before a charge; nil: it is made
	after   func(ctx context.Context, n int) error                          // instead of its answer
}

func (s *stubborn) Name() string {
	if s.name != "" {
		return s.name
	}
	return s.Provider.Name()
}

func (s *stubborn) Charge(ctx context.Context, r payment.ChargeRequest) (payment.Payment, error) {
	s.mu.Lock()
	s.charges++
	n := s.charges
	s.mu.Unlock()
	if s.err != nil {
		if err := s.err(ctx, n, r); err != nil {
			return payment.Payment{}, err
		}
	}
	p, err := s.Provider.Charge(ctx, r)
	if s.after != nil {
		if err := s.after(ctx, n); err != nil {
			return payment.Payment{}, err
		}
	}
	return p, err
}

const now15 = `{"enabled": true, "threshold": 15.01, "amount": 20, "monthly_cap": 50}`

// TestRechargeWorkerDies between the charge and noting it: another node finds out.
func TestRechargeWorkerDies(t *testing.T) {
	o := open(t)
	o.carded(o.A)
	o.deaf = true
	charged := make(chan struct{}, 1)
	first := &stubborn{Provider: o.pays, after: func(ctx context.Context, _ int) error {
		charged <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}}
	stop := o.work(first)
	o.set(o.A, now15)
	<-charged
	stop()
	if status, text := o.setting(o.A, "GET", ""); status != 200 || o.recharge(text).InProgress == nil || o.show(o.A).Pots.Paid != 10*usd {
		t.Fatalf("%d %s", status, text)
	}
	second := &stubborn{Provider: o.pays}
	o.work(second)
	if r := o.settled(o.A); r.Charged != 20*usd || o.show(o.A).Pots.Paid != 30*usd || second.charges != 1 {
		t.Errorf("%+v, %v paid, charged %d times", r, o.show(o.A).Pots.Paid, second.charges)
	}
}

// TestRechargeStops: a dispute that comes before the charge, or a provider that is not
// the one that keeps the card.
func TestRechargeStops(t *testing.T) {
	o := open(t)
	o.carded(o.A)
	a := o.set(o.A, now15)
	o.OK(o.Ledger.OpenDispute(t.Context(), o.A.Account, "dp"))
	o.carded(o.B)
	b := o.set(o.B, now15)
	p := &stubborn{Provider: o.pays, name: "another"}
	stop := o.work(p) // what was made without a queue is swept up
	_, err := payments.New(o.DB).SweepRecharges(storetest.At(t.Context(), time.Now().Add(time.Hour)), o.queued(p))
	o.OK(err)
	for _, c := range []struct {
		who        owner
		id, reason string
	}{{o.A, *a.InProgress, ""}, {o.B, *b.InProgress, "no_card"}} {
		r := o.settled(c.who)
		reason := ""
		if r.LastFailure != nil {
			reason = r.LastFailure.Reason
		}
		if got := o.get(c.who, c.id); reason != c.reason || r.Charged != 0 || r.Enabled != (c.reason == "") || got.State == "pending" || got.Paid != 0 {
			t.Errorf("%s: %+v, %q", got.State, r, reason)
		}
	}
	stop()
	if p.charges != 0 {
		t.Errorf("charged %d times", p.charges)
	}
}

// queued puts attempts in line by a queue that does not run.
func (o *bank) queued(p payment.Provider) store.Enqueue {
	o.Helper()
	q := jobs.New(slog.New(slog.DiscardHandler))
	r := topup.Recharges{Store: o.DB, Payments: payments.New(o.DB), Queue: q, Provider: func() payment.Provider { return p }, Log: slog.New(slog.DiscardHandler)}
	r.Handle()
	o.OK(q.Open(o.Context(), o.Database))
	o.Cleanup(q.Close)
	return r.Enqueue
}

// TestRechargeProviderAway: what is not the card's fault is no failure, and is tried
// until it is done.
func TestRechargeProviderAway(t *testing.T) {
	o := open(t)
	o.carded(o.A)
	o.deaf = true
	p := &stubborn{Provider: o.pays, err: func(_ context.Context, n int, _ payment.ChargeRequest) error {
		return []error{payment.ErrRefused, payment.ErrUnknown, nil}[min(n-1, 2)]
	}}
	o.work(p)
	o.set(o.A, now15)
	if r := o.settled(o.A); r.LastFailure != nil || r.Charged != 20*usd || o.show(o.A).Pots.Paid != 30*usd || p.charges != 3 {
		t.Errorf("%+v, %d charges", r, p.charges)
	}
}

// TestRechargeSettings: what is set, what is refused, and that both ways of changing
// differ in what is not sent.
func TestRechargeSettings(t *testing.T) {
	o := open(t)
	status, text := o.setting(o.A, "GET", "")
	want := recharge{Threshold: 5 * usd, Amount: 20 * usd, MonthlyCap: 500 * usd}
	if status != 200 || o.recharge(text) != want {
		t.Errorf("never set: %d %s", status, text)
	}
	if status, text := o.setting(o.A, "PUT", `{"enabled": true}`); status != 402 || !strings.Contains(text, "billing.topup_required") || !strings.Contains(text, "card") {
		t.Errorf("without a card: %d %s", status, text)
	}
	o.carded(o.A)
	for body, detail := range map[string]string{
		`{"enabled": true, "amount": 9.99}`: "amount: a top-up is from 10 to 2000", `{"enabled": true, "amount": 2001}`: "from 10 to 2000",
		`{"amount": 20.001}`: "amount: whole cents", `{"threshold": -1}`: "threshold: from 0", `{"threshold": 1000000.01}`: "threshold: from 0 to 1000000",
		`{"threshold": 1.001}`: "threshold: whole cents", `{"monthly_cap": 19.99}`: "monthly_cap: at least the amount, 20", `{"monthly_cap": 1e9}`: "",
		`{"amount": 30, "monthly_cap": 29}`: "at least the amount, 30", `{"monthly_cap": 50.001}`: "monthly_cap: whole cents",
		`{"monthly_cap": 1000001}`: "monthly_cap: at most", `{"enabled": "yes"}`: "", `{"threshold": "5"}`: "", `[]`: "", `{`: "", ``: "",
	} {
		for _, method := range []string{"PUT", "PATCH"} {
			status, text := o.setting(o.A, method, body)
			if status != 400 || !strings.Contains(text, "validation.invalid_request_format") || !strings.Contains(text, detail) {
				t.Errorf("%s %s: %d %s", method, body, status, text)
			}
		}
	}
	want.CardSaved = true
	if _, text := o.setting(o.A, "GET", ""); o.recharge(text) != want {
		t.Errorf("after refusals: %s", text)
	}
	for _, c := range []struct {
		method, body string
		want         recharge
	}{
		{"PUT", `{"enabled": true, "threshold": 3, "amount": 30, "monthly_cap": 90}`, recharge{Enabled: true, Threshold: 3 * usd, Amount: 30 * usd, MonthlyCap: 90 * usd}},
		{"PATCH", `{}`, recharge{Enabled: true, Threshold: 3 * usd, Amount: 30 * usd, MonthlyCap: 90 * usd}},
		{"PATCH", `{"amount": 45.5, "threshold": null}`, recharge{Enabled: true, Threshold: 3 * usd, Amount: 4550 * billing.Cent, MonthlyCap: 90 * usd}},
		{"PATCH", `{"enabled": false}`, recharge{Threshold: 3 * usd, Amount: 4550 * billing.Cent, MonthlyCap: 90 * usd}},
		{"PUT", `{"enabled": true, "threshold": 0}`, recharge{Enabled: true, Amount: 20 * usd, MonthlyCap: 500 * usd}},
		{"PUT", `{}`, recharge{Threshold: 5 * usd, Amount: 20 * usd, MonthlyCap: 500 * usd}},
	} {
		c.want.CardSaved = true
		if status, text := o.setting(o.A, c.method, c.body); status != 200 || o.recharge(text) != c.want {
			t.Errorf("%s %s: %d %s", c.method, c.body, status, text)
		}
		if _, text := o.setting(o.A, "GET", ""); o.recharge(text) != c.want {
			t.Errorf("%s %s, read: %s", c.method, c.body, text)
		}
	}
	if _, text := o.setting(o.B, "GET", ""); o.recharge(text).CardSaved {
		t.Errorf("another account: %s", text)
	}
	o.set(o.A, `{"enabled": true}`)
	o.OK(o.Ledger.OpenDispute(t.Context(), o.A.Account, "dp"))
	if status, text := o.setting(o.A, "PATCH", `{"enabled": true}`); status != 402 || !strings.Contains(text, "billing.account_disputed") {
		t.Errorf("in a dispute: %d %s", status, text)
	}
	if status, text := o.setting(o.A, "PATCH", `{"enabled": false}`); status != 200 {
		t.Errorf("disabled in a dispute: %d %s", status, text)
	}
	if status, _ := o.setting(owner{Key: "sk_wrong"}, "PUT", `{}`); status != 401 {
		t.Errorf("without a key: %d", status)
	}
}
