package dashboard_test

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/api"
	"parley/api/dashboard/dashboardtest"
	"parley/api/topup"
	"parley/billing"
	"parley/billing/payment/simulated"
	"parley/store"
	"parley/store/ledger"
	"parley/store/payments"
	"parley/store/storetest"
)

// till is a site that takes payments, by a provider that is simulated.
type till struct {
	*dashboardtest.Site
	pays *simulated.Provider
}

func newTill(t *testing.T) *till {
	t.Helper()
	var x till
	x.Site = dashboardtest.NewSite(t, dashboardtest.Options{Mount: func(s *dashboardtest.Site, a *api.API) { x.pays = mountTill(s, a) }})
	x.SignIn()
	return &x
}

// mountTill adds the routes of payments.
func mountTill(s *dashboardtest.Site, a *api.API) *simulated.Provider {
	pays, err := simulated.New(simulated.Config{PageURL: "http://127.0.0.1:1/simulated/", WebhookURL: "http://127.0.0.1:1/hooks/simulated",
		WebhookSecret: "whsec_for_tests", Now: time.Now})
	s.OK(err)
	topup.Mount(a, &topup.Service{Store: s.DB, Payments: payments.New(s.DB), Provider: pays, Hook: "simulated", Home: "http://127.0.0.1:1", Card: billing.DefaultRateCard,
		Log: slog.New(slog.DiscardHandler)})
	return pays
}

// used charges the account for a conversation that has ended.
func used(s *dashboardtest.Site, usage billing.Usage) (call *ledger.Session, cost billing.Money) {
	s.T.Helper()
	at := time.Now().UTC().Add(-time.Minute).Truncate(time.Second)
	node, _, err := ledger.New(s.DB).RegisterNode(storetest.At(s.T.Context(), at), "node", "127.0.0.1:1")
	s.OK(err)
	card := billing.DefaultRateCard()
	call, err = ledger.New(s.DB).StartSession(storetest.At(s.T.Context(), at), ledger.Start{Node: node, Account: s.Account, Terms: billing.Terms{Kind: billing.Web}, Card: card})
	s.OK(err)
	cost, err = ledger.New(s.DB).CloseSession(storetest.At(s.T.Context(), at.Add(30*time.Second)), call, ledger.Closing{Reason: "user_hangup", StartedAt: at, Usage: usage})
	s.OK(err)
	return call, cost
}

// TestBalancePage shows what there is, and what it went to to the last decimal.
func TestBalancePage(t *testing.T) {
	s := newTill(t)
	page := s.Get("/app/balance")
	for _, want := range []string{"$20.00", "Nothing was used yet", "Pay a top-up by card first"} {
		if !strings.Contains(page.Body, want) {
			t.Errorf("no %q", want)
		}
	}
	call, cost := used(s.Site, billing.Usage{billing.AgentTime: 30_000, billing.ReplyOut: 1_234})
	page = s.Get("/app/balance")
	for _, want := range []string{"30 seconds", "1234 tokens", "LLM output", `"Conversation"`} {
		if !strings.Contains(page.Body, want) {
			t.Errorf("after a call: no %q", want)
		}
	}
	for _, path := range []string{"/app/balance/statement?kind=usage", "/app/balance/receipts/" + call.ID} {
		if page := s.Get(path); !strings.Contains(page.Body, "Conversation") || !strings.Contains(page.Body, call.ID) {
			t.Errorf("%s does not name the call: %s", path, page.Body)
		}
	}
	if page := s.Get("/app/balance/receipts/" + call.ID); !strings.Contains(page.Body, "$"+cost.String()+"<") {
		t.Errorf("the receipt does not say $%s", cost)
	}
	if page := s.Get("/app/balance/statement?kind=topup"); !strings.Contains(page.Body, "Top-up") || !strings.Contains(page.Body, "$20.00<") {
		t.Error("the statement has no top-up")
	}
	if page := s.Get("/app/balance/statement?from=2026-13-45"); page.Status != http.StatusUnprocessableEntity || !strings.Contains(page.Body, "must be a date") {
		t.Errorf("a date that is none: %d", page.Status)
	}
	if page := s.Get("/app/balance/receipts/ses_of_others"); page.Status != http.StatusNotFound {
		t.Errorf("a foreign receipt: %d", page.Status)
	}
}

// TestTopUpPage sends people to the payment page, and tells them when they are back.
func TestTopUpPage(t *testing.T) {
	s := newTill(t)
	for _, tt := range [][2]string{{"", "Say how many dollars"}, {"lots", "Write a number of dollars"}, {"1", "from 10 to 2000"}} {
		if page := s.Post("/app/balance/topups", "amount", tt[0]); page.Status != http.StatusUnprocessableEntity || !strings.Contains(page.Body, tt[1]) {
			t.Errorf("%q: %d, no %q", tt[0], page.Status, tt[1])
		}
	}
	page := s.Post("/app/balance/topups", "amount", "$25")
	at := page.Header.Get("Location")
	if page.Status != http.StatusSeeOther || !strings.HasPrefix(at, "http://127.0.0.1:1/simulated/") {
		t.Fatalf("%d to %q", page.Status, at)
	}
	all, err := payments.New(s.DB).TopUps(t.Context(), s.Account, store.Page{})
	if err != nil || len(all) != 1 {
		t.Fatalf("%d top-ups, %v", len(all), err)
	}
	back := "/app/balance?topup=" + all[0].ID
	if page := s.Get(back); !strings.Contains(page.Body, "has not arrived yet") || !strings.Contains(page.Body, "Not paid yet") {
		t.Error("nothing is said of a payment that waits")
	}
	_, err = s.pays.Pay(all[0].Checkout)
	s.OK(err)
	page = s.Get(back)
	if !strings.Contains(page.Body, "Your payment of $25.00 has arrived") || !strings.Contains(page.Body, "$45.00") {
		t.Error("nothing is said of a payment that has arrived")
	}
	if strings.Contains(page.Body, "Not paid yet") || strings.Contains(page.Body, at) {
		t.Error("a payment that has arrived is offered to be paid")
	}
	if page := s.Get("/app/balance?topup=top_of_others"); page.Status != http.StatusOK || strings.Contains(page.Body, "Your payment") {
		t.Errorf("a foreign top-up: %d", page.Status)
	}
	page = s.Post("/app/balance/recharge", "enabled", "on", "threshold", "10", "recharge", "30", "monthly_cap", "20")
	if page.Status != http.StatusUnprocessableEntity {
		t.Errorf("a cap below one charge: %d", page.Status)
	}
	page = s.Post("/app/balance/recharge", "enabled", "on", "threshold", "10", "recharge", "30", "monthly_cap", "90")
	if page.Status != http.StatusSeeOther {
		t.Errorf("automatic recharge: %d %s", page.Status, page.Body)
	}
	if page := s.Get("/app/balance"); !strings.Contains(page.Body, `value="90"`) || !strings.Contains(page.Body, "Automatic recharge was saved") {
		t.Error("the settings are not shown")
	}
}
