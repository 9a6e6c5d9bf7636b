package wallet

import (
	"slices"
	"strings"
	"testing"
	"time"

	"parley/api/wire"
	"parley/billing"
	"parley/store"
	"parley/store/ledger"
)

// TestSentences: each kind has words for people, with its figures, on one line.
func TestSentences(t *testing.T) {
	usd := func(m billing.Money) *billing.Money { return &m }
	due, gone := time.Date(2026, 3, 31, 23, 0, 0, 0, time.UTC), time.Date(2026, 4, 30, 23, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		kind store.WarningKind
		data store.WarningData
		want []string
	}{
		{store.WarnBalanceLow, store.WarningData{Balance: usd(4_999_999_999), Threshold: usd(5 * billing.USD)}, []string{"4.99 USD", "below 5 USD"}},
		{store.WarnBalanceLow, store.WarningData{Balance: usd(-10_000_001), Threshold: usd(5 * billing.USD)}, []string{"-0.02 USD"}},
		{store.WarnNumberPastDue, store.WarningData{Number: "+34911234567", Amount: usd(5 * billing.USD), DueAt: &due, ReleaseAt: &gone},
			[]string{"+34911234567", "2026-03-31", "5 USD", "2026-04-30"}},
		{store.WarnNumberReleased, store.WarningData{Number: "+34911234567", ReleaseAt: &gone}, []string{"+34911234567", "lost"}},
		{store.WarnRechargeFailed, store.WarningData{Amount: usd(20 * billing.USD), Reason: "card_declined"}, []string{"20 USD", "card_declined", "tried again"}},
		{store.WarnRechargeFailed, store.WarningData{Amount: usd(20 * billing.USD), Reason: "no_card", Disabled: true}, []string{"no_card", "off now"}},
		{store.WarnDisputeOpened, store.WarningData{Amount: usd(15 * billing.USD), Dispute: "dp"}, []string{"15 USD is disputed", "nothing starts"}},
		{store.WarnDisputeOpened, store.WarningData{Dispute: "operator"}, []string{"A payment is disputed"}},
		{store.WarnEngineKey, store.WarningData{Engine: "flux", Reason: "status 401"}, []string{"the engine flux", "status 401", "Set another"}},
		{store.WarnNumberPastDue, store.WarningData{}, []string{"unknown day"}},
		{"of.tomorrow", store.WarningData{}, []string{"of.tomorrow"}},
	} {
		got := Sentence(&store.Warning{Kind: tt.kind, Data: tt.data})
		for _, part := range tt.want {
			if !strings.Contains(got, part) || strings.ContainsRune(got, '\n') {
				t.Errorf("%s: %q is not in %q", tt.kind, part, got)
			}
		}
	}
}

// TestBanner has the most urgent first, and each of what was noticed.
func TestBanner(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	since := at.Add(-time.Hour)
	rules := billing.DefaultRateCard().Wallet()
	b := &ledger.Balance{Account: ledger.Account{Suspended: true, OpenDisputes: 2, Pots: billing.Pots{Paid: billing.USD}}, LowMark: 20 * billing.USD, LowSince: &since,
		Lots: []ledger.Lot{{Left: billing.USD, Granted: billing.USD, ExpiresAt: at.Add(time.Hour)}}}
	for _, kind := range []store.WarningKind{store.WarnNumberReleased, store.WarnBalanceLow, store.WarnDisputeOpened, store.WarnRechargeFailed,
		store.WarnDisputeOpened, store.WarnNumberPastDue} {
		b.Warnings = append(b.Warnings, store.Warning{Kind: kind, CreatedAt: since, Data: store.WarningData{Number: "+34911234567"}})
	}
	kinds := func() (got []string) {
		for _, w := range warnings(b, rules, at) {
			got = append(got, w.Kind)
			if w.Kind == "balance.low" && (!w.Since.Equal(since) || *w.Data.Threshold != wire.USD(20*billing.USD) || *w.Data.Balance != wire.USD(billing.USD)) {
				t.Errorf("%+v", w)
			}
		}
		return got
	}
	rest := []string{"recharge.failed", "number.past_due", "number.released", "bonus.expiring"}
	if got, want := kinds(), slices.Concat([]string{"account.suspended", "dispute.opened", "dispute.opened", "balance.low"}, rest); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// What nobody was warned of, as before there were warnings, is said all the same.
	b.Suspended, b.Pots.Paid, b.Warnings = false, 0, b.Warnings[3:4]
	if got, want := kinds(), []string{"dispute.opened", "balance.exhausted", "recharge.failed", "bonus.expiring"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
