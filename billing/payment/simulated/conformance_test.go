package simulated_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"parley/billing"
	"parley/billing/payment"
	"parley/billing/payment/paymenttest"
	"parley/billing/payment/simulated"
)

const secret = "whsec_for_tests"

func TestConformance(t *testing.T) {
	paymenttest.Run(t, func(t *testing.T) (payment.Provider, paymenttest.Controls) {
		b := newBench(t, nil)
		return b.Provider, b
	})
}

// bench is a provider, a clock, a receiver of webhooks and a customer.
type bench struct {
	*simulated.Provider
	config simulated.Config

	mu     sync.Mutex
	now    time.Time
	status int // what the receiver answers
	got    []paymenttest.Delivery
}

func newBench(t *testing.T, change func(*simulated.Config)) *bench {
	b := &bench{now: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC), status: http.StatusOK}
	receiver := httptest.NewServer(b)
	t.Cleanup(receiver.Close)
	b.config = simulated.Config{
		PageURL: "http://parley.example/simulated/", WebhookURL: receiver.URL + "/hooks/simulated",
		WebhookSecret: secret, Instance: "test", Now: b.clock,
	}
	if change != nil {
		change(&b.config)
	}
	b.open(t)
	return b
}

func (b *bench) open(t *testing.T) {
	t.Helper()
	p, err := simulated.New(b.config)
	if err != nil {
		t.Fatal(err)
	}
	b.Provider = p
}

func (b *bench) clock() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

func (b *bench) advance(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(d)
}

func (b *bench) answer(status int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.status = status
}

func (b *bench) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<10))
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != nil || r.Method != http.MethodPost || r.URL.Path != "/hooks/simulated" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.WriteHeader(b.status)
	b.got = append(b.got, paymenttest.Delivery{Header: r.Header.Clone(), Body: body, At: b.now})
}

func (b *bench) Amount(w paymenttest.Behaviour) billing.Money {
	cents := map[paymenttest.Behaviour]billing.Money{
		paymenttest.Declined: 1, paymenttest.InsufficientFunds: 2, paymenttest.AuthenticationRequired: 3,
		paymenttest.TimeoutAfterSuccess: 4, paymenttest.Late: 5, paymenttest.Twice: 6, paymenttest.OutOfOrder: 7,
		paymenttest.Never: 8,
	}
	return 20*billing.USD + cents[w]*billing.Cent
}

// press is the customer's browser sending the form of the page.
func (b *bench) press(t testing.TB, c payment.Checkout, action string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, c.URL, formOf(action))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	b.Handler().ServeHTTP(w, r)
	return w
}

func (b *bench) Pay(t testing.TB, c payment.Checkout) {
	t.Helper()
	if w := b.press(t, c, "pay"); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "https://parley.example/paid" {
		t.Fatalf("paying was answered %d to %s", w.Code, w.Header().Get("Location"))
	}
}

func (b *bench) Refuse(t testing.TB, c payment.Checkout) {
	t.Helper()
	if w := b.press(t, c, "decline"); w.Code != http.StatusSeeOther {
		t.Fatalf("a declined card was answered %d", w.Code)
	}
}

func (b *bench) Dispute(t testing.TB, id string, amount billing.Money) string {
	t.Helper()
	ref, err := b.OpenDispute(id, amount)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func (b *bench) Decide(t testing.TB, ref string, won bool) {
	t.Helper()
	if err := b.CloseDispute(ref, won); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) Deliveries(t testing.TB) []paymenttest.Delivery {
	for range 90 {
		b.Deliver(t.Context())
		b.advance(time.Second)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	got := b.got
	b.got = nil
	return got
}
