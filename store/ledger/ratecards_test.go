package ledger_test

import (
	"testing"

	"parley/billing"
	"parley/store"
	"parley/store/ledger/ledgertest"
	"parley/store/storetest"
)

// Two nodes are given different files: one card is in force for both, the newer, whoever
// comes or reads its file again when.
func TestOneRateCardIsInForce(t *testing.T) {
	url := storetest.URL(t)
	version := func(to string) *billing.RateCard {
		return cardWith(t, map[string]string{"version: 2026-01-15.1": "version: " + to})
	}
	a, b := prepare(t, storetest.Open(t, url)), &fixture{&ledgertest.Fixture{Books: ledgertest.BooksOf(storetest.Open(t, url)), T: t}}
	b.OK(b.PutRateCard(b.At(t0), card))
	b.Node = b.Register("node-b")
	want := func(version string, nodes ...*fixture) {
		t.Helper()
		for i, n := range nodes {
			n.OK(n.FollowRateCard(n.At(t0)))
			if got := n.RateCard().Version(); got != version {
				t.Errorf("node %d sells by %s; want %s", i, got, version)
			}
		}
	}
	a.OK(a.PutRateCard(a.At(t0), version("2026-02-01.9")))
	want("2026-02-01.9", a, b)
	b.OK(b.PutRateCard(b.At(t0), card)) // its old file again
	want("2026-02-01.9", b, a)
	b.OK(b.PutRateCard(b.At(t0), version("2026-01-31.77"))) // nobody has had this one, and it is old
	want("2026-02-01.9", b, a)
	b.OK(b.PutRateCard(b.At(t0), version("2026-02-01.10"))) // a tenth revision follows the ninth
	want("2026-02-01.10", a, b)

	late := &fixture{&ledgertest.Fixture{Books: ledgertest.BooksOf(storetest.Open(t, url)), T: t}}
	late.Is(late.PutRateCard(late.At(t0), cardWith(t, map[string]string{"signup_bonus: 5": "signup_bonus: 6"})), store.ErrRateCardChanged)
	late.OK(late.PutRateCard(late.At(t0), card))
	want("2026-02-01.10", late)
	together(8, func(i int) {
		n := []*fixture{a, b, late}[i%3]
		if err := n.PutRateCard(storetest.At(t.Context(), t0), version([]string{"2026-03-01.1", "2026-03-01.2"}[i/4])); err != nil {
			t.Error(err)
		}
	})
	want("2026-03-01.2", a, b, late)

	// Each node's sessions are charged by what it had in force.
	acc := a.NewAccount(10 * usd)
	for _, n := range []*fixture{a, b} {
		r := n.Request(acc, web)
		r.Card = n.RateCard()
		s, err := n.StartSession(n.At(t0), r)
		n.OK(err)
		n.CloseWith(s, billing.Usage{billing.AgentTime: 1000})
	}
	a.Verified()
}
