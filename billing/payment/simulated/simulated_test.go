package simulated_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/billing"
	"parley/billing/payment"
	"parley/billing/payment/simulated"
)

func formOf(action string) *strings.Reader {
	return strings.NewReader(url.Values{"action": {action}}.Encode())
}

// saved is a customer with a card, whose webhooks are out of the way.
func (b *bench) saved(t *testing.T) (customer string) {
	t.Helper()
	c := b.page(t, "card", 20*billing.USD)
	b.Pay(t, c)
	b.Deliveries(t)
	return c.Customer
}

func (b *bench) page(t *testing.T, topup string, m billing.Money) payment.Checkout {
	t.Helper()
	c, err := b.Checkout(t.Context(), payment.CheckoutRequest{
		TopUp: topup, Account: "acct", Amount: m,
		SuccessURL: "https://parley.example/paid", CancelURL: "https://parley.example/canceled",
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (b *bench) kinds(t *testing.T) (kinds []payment.Kind) {
	t.Helper()
	for _, d := range b.Deliveries(t) {
		e, err := b.Event(d.Header, d.Body, d.At)
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

// The table of the package comment, by charge and on the page.
func TestCentsChooseWhatHappens(t *testing.T) {
	const ok, no = payment.PaymentSucceeded, payment.PaymentFailed
	opened, withdrawn := payment.DisputeOpened, payment.DisputeFundsWithdrawn
	for _, c := range []struct {
		cents       int
		charge      error
		state       payment.State // of the charge
		events      []payment.Kind
		onPage      payment.State
		refunded    bool
		sameOnPages bool // the page sends the same events
	}{
		{0, nil, payment.Succeeded, []payment.Kind{ok}, payment.Succeeded, false, true},
		{1, payment.ErrDeclined, payment.Failed, []payment.Kind{no}, payment.Pending, false, true},
		{2, payment.ErrDeclined, payment.Failed, []payment.Kind{no}, payment.Pending, false, true},
		{3, payment.ErrAuthentication, payment.Failed, []payment.Kind{no}, payment.Succeeded, false, false},
		{4, payment.ErrUnknown, payment.Succeeded, []payment.Kind{ok}, payment.Succeeded, false, true},
		{5, nil, payment.Succeeded, []payment.Kind{ok}, payment.Succeeded, false, true},
		{6, nil, payment.Succeeded, []payment.Kind{ok, ok}, payment.Succeeded, false, true},
		{7, nil, payment.Succeeded, []payment.Kind{ok, no}, payment.Succeeded, false, true},
		{8, nil, payment.Succeeded, nil, payment.Succeeded, false, true},
		{9, nil, payment.Succeeded, []payment.Kind{ok, opened, withdrawn}, payment.Succeeded, false, true},
		{10, nil, payment.Succeeded, []payment.Kind{ok, opened, withdrawn, payment.DisputeWon}, payment.Succeeded, false, true},
		{11, nil, payment.Succeeded, []payment.Kind{ok, opened, withdrawn, payment.DisputeLost}, payment.Succeeded, false, true},
		{12, nil, payment.Succeeded, []payment.Kind{ok, payment.Refunded}, payment.Succeeded, true, true},
		{13, nil, payment.Succeeded, []payment.Kind{ok}, payment.Succeeded, false, true},
	} {
		b := newBench(t, nil)
		amount := 30*billing.USD + billing.Money(c.cents)*billing.Cent
		r := payment.ChargeRequest{Key: "attempt", Account: "acct", Customer: b.saved(t), Amount: amount}
		if _, err := b.Charge(t.Context(), r); !errors.Is(err, c.charge) {
			t.Errorf(".%02d: charge: %v, want %v", c.cents, err, c.charge)
		}
		events := b.kinds(t)
		got, _ := b.Charge(t.Context(), r)
		if got.State != c.state || (got.Refunded == amount) != c.refunded || !slices.Equal(events, c.events) {
			t.Errorf(".%02d: charge: %+v, events %v, want %v", c.cents, got, events, c.events)
		}

		page := b.page(t, "topup", amount)
		if _, err := b.Provider.Pay(page.ID); err != nil {
			t.Error(err)
		}
		events = b.kinds(t)
		got, err := b.Payment(t.Context(), page.ID)
		if err != nil || got.State != c.onPage || slices.Equal(events, c.events) != c.sameOnPages {
			t.Errorf(".%02d: page: %+v, %v, events %v", c.cents, got, err, events)
		}
	}
}

func TestLateIsAMinuteLate(t *testing.T) {
	b := newBench(t, nil)
	page := b.page(t, "topup", 10*billing.USD+5*billing.Cent)
	b.Pay(t, page)
	b.advance(59 * time.Second)
	if n := b.Deliver(t.Context()); n != 0 {
		t.Errorf("%d delivered after 59 s", n)
	}
	b.Pay(t, b.page(t, "younger", 10*billing.USD))
	b.advance(time.Second)
	if n := b.Deliver(t.Context()); n != 2 {
		t.Fatalf("%d delivered after 60 s, want both", n)
	}
	late, err := b.Payment(t.Context(), page.ID)
	if e, bad := b.Event(b.got[1].Header, b.got[1].Body, b.got[1].At); err != nil || bad != nil || e.Payment != late.ID {
		t.Errorf("last came %+v, %v; want %s, which was due last", e, bad, late.ID)
	}
}

// Everything, webhooks on their way too, is there after a restart.
func TestStateSurvivesARestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "payments.json")
	b := newBench(t, func(c *simulated.Config) { c.File = file })
	customer := b.saved(t)
	r := payment.ChargeRequest{Key: "attempt", Account: "acct", Customer: customer, Amount: 10*billing.USD + 10*billing.Cent}
	first, err := b.Charge(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	open := b.page(t, "topup", 50*billing.USD)
	b.config.Instance = "ignored"
	b.open(t)
	if again, err := b.Charge(t.Context(), r); err != nil || again != first {
		t.Errorf("%+v, %v; want %+v", again, err, first)
	}
	if same := b.page(t, "topup", 50*billing.USD); same != open {
		t.Errorf("%+v, want %+v", same, open)
	}
	want := []payment.Kind{payment.PaymentSucceeded, payment.DisputeOpened, payment.DisputeFundsWithdrawn, payment.DisputeWon}
	if got := b.kinds(t); !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
	b.open(t)
	if got := b.kinds(t); len(got) > 0 {
		t.Errorf("delivered again: %v", got)
	}
	text, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(text), secret) {
		t.Errorf("the file holds the secret, or: %v", err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if entries, err := os.ReadDir(filepath.Dir(file)); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestIdsDoNotRepeatWhenStateIsLost(t *testing.T) {
	ids := map[string]bool{}
	for range 3 {
		b := newBench(t, func(c *simulated.Config) { c.Instance = "" })
		ids[b.page(t, "topup", 10*billing.USD).ID] = true
	}
	if len(ids) != 3 {
		t.Errorf("%v", ids)
	}
}

func TestUnsavedIsUnknown(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	b := newBench(t, func(c *simulated.Config) { c.File = filepath.Join(dir, "payments.json") })
	r := payment.CheckoutRequest{TopUp: "topup", Account: "acct", Amount: 10 * billing.USD}
	if _, err := b.Checkout(t.Context(), r); !errors.Is(err, payment.ErrUnknown) {
		t.Error(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Checkout(t.Context(), r); err != nil {
		t.Error(err)
	}
}

func TestNewRefuses(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "payments.json")
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	good := simulated.Config{PageURL: "/simulated/", WebhookURL: "http://127.0.0.1:1/hooks/simulated", WebhookSecret: secret}
	if p, err := simulated.New(good); err != nil || p.Name() != "sim" {
		t.Error(err)
	}
	for _, change := range []func(*simulated.Config){
		func(c *simulated.Config) { c.WebhookURL = "/hooks/simulated" },
		func(c *simulated.Config) { c.WebhookURL = "ftp://parley.example/" },
		func(c *simulated.Config) { c.WebhookSecret = "" },
		func(c *simulated.Config) { c.PageURL = "" },
		func(c *simulated.Config) { c.File = broken },
	} {
		c := good
		change(&c)
		if _, err := simulated.New(c); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestDisputesByHand(t *testing.T) {
	b := newBench(t, nil)
	page := b.page(t, "topup", 20*billing.USD)
	if _, err := b.OpenDispute("sim_pi_none", billing.USD); !errors.Is(err, payment.ErrNotFound) {
		t.Error(err)
	}
	b.Pay(t, page)
	paid, err := b.Payment(t.Context(), page.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.OpenDispute(paid.ID, 21*billing.USD); !errors.Is(err, payment.ErrAmount) {
		t.Error(err)
	}
	ref := b.Dispute(t, paid.ID, 20*billing.USD)
	if _, err := b.OpenDispute(paid.ID, billing.USD); !errors.Is(err, payment.ErrRefused) {
		t.Error(err)
	}
	refund := payment.RefundRequest{Key: "refund", Payment: paid.ID, Amount: billing.USD}
	if _, err := b.Refund(t.Context(), refund); !errors.Is(err, payment.ErrRefused) {
		t.Error(err)
	}
	b.Decide(t, ref, true)
	if err := b.CloseDispute(ref, false); !errors.Is(err, payment.ErrRefused) {
		t.Error(err)
	}
	if err := b.CloseDispute("sim_dp_none", false); !errors.Is(err, payment.ErrNotFound) {
		t.Error(err)
	}
	if _, err := b.Refund(t.Context(), refund); err != nil {
		t.Error("after the dispute is won:", err)
	}
}

func TestPage(t *testing.T) {
	b := newBench(t, nil)
	page := b.page(t, "topup", 1234*billing.USD+50*billing.Cent)
	get := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		b.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w
	}
	has := func(w *httptest.ResponseRecorder, words ...string) {
		t.Helper()
		for _, word := range words {
			if !strings.Contains(w.Body.String(), word) {
				t.Errorf("%d: no %q in %s", w.Code, word, w.Body)
			}
		}
	}
	w := get(page.URL)
	has(w, "SIMULATED", "$1234.50", `value="pay"`, `value="decline"`, `value="cancel"`)
	if csp := w.Header().Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(w.Body.String(), "<script") {
		t.Errorf("policy %q", csp)
	}
	if back := b.press(t, page, "decline").Header().Get("Location"); back != "/simulated/pay/"+page.ID {
		t.Errorf("after a decline: %s", back)
	}
	has(get(page.URL), "SIMULATED", "generic_decline", `value="pay"`)
	b.Pay(t, page)
	done := get(page.URL)
	has(done, "SIMULATED", "This payment has already been made.", "https://parley.example/canceled")
	if strings.Contains(done.Body.String(), "<button") {
		t.Error("a paid page still has buttons")
	}
	b.Pay(t, page) // pressed again: sent on, and nothing more happens
	b.press(t, page, "cancel")
	if got := b.kinds(t); !slices.Equal(got, []payment.Kind{payment.PaymentFailed, payment.PaymentSucceeded}) {
		t.Errorf("events %v", got)
	}

	other := b.page(t, "other", 10*billing.USD)
	if w := b.press(t, other, "cancel"); w.Header().Get("Location") != "https://parley.example/canceled" {
		t.Errorf("canceled: %d to %s", w.Code, w.Header().Get("Location"))
	}
	if got, err := b.Payment(t.Context(), other.ID); err != nil || got.State != payment.Canceled {
		t.Errorf("%+v, %v", got, err)
	}
	has(get(other.URL), "This payment was canceled.")
	if w := b.press(t, other, "steal"); w.Code != http.StatusBadRequest {
		t.Error(w.Code)
	}
	has(get("/simulated/pay/sim_cs_none"), "SIMULATED")
	unknown := payment.Checkout{URL: "http://parley.example/simulated/pay/sim_cs_none"}
	if w := b.press(t, unknown, "pay"); w.Code != http.StatusNotFound {
		t.Error(w.Code)
	}
}

func TestPageIgnoresForeignSites(t *testing.T) {
	b := newBench(t, nil)
	page := b.page(t, "topup", 10*billing.USD)
	r := httptest.NewRequest(http.MethodPost, page.URL, formOf("pay"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	w := httptest.NewRecorder()
	b.Handler().ServeHTTP(w, r)
	if got, err := b.Payment(t.Context(), page.ID); w.Code != http.StatusForbidden || err != nil || got.State != payment.Pending {
		t.Errorf("%d, %+v, %v", w.Code, got, err)
	}
}
