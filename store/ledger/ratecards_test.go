package ledger_test

import (
	"testing"

	"parley/billing"
	"parley/store"
	"parley/store/storetest"
)

// Two nodes are given different files: one card is in force for both, the newer, whoever
// comes or reads its file again when.
func TestOneRateCardIsInForce(t *testing.T) {
	url := storetest.URL(t)
	version := func(to string) *billing.RateCard {
		return cardWith(t, map[string]string{"version: 2026-01-15.1": "version: " + to})
	}
	a, b := prepare(t, storetest.Open(t, url)), &fixture{books: booksOf(storetest.Open(t, url)), t: t}
	b.ok(b.PutRateCard(b.at(t0), card))
	b.node = b.register("node-b")
	want := func(version string, nodes ...*fixture) {
		t.Helper()
		for i, n := range nodes {
			n.ok(n.FollowRateCard(n.at(t0)))
			if got := n.RateCard().Version(); got != version {
				t.Errorf("node %d sells by %s; want %s", i, got, version)
			}
		}
	}
	a.ok(a.PutRateCard(a.at(t0), version("2026-02-01.9")))
	want("2026-02-01.9", a, b)
	b.ok(b.PutRateCard(b.at(t0), card)) // its old file again
	want("2026-02-01.9", b, a)
	b.ok(b.PutRateCard(b.at(t0), version("2026-01-31.77"))) // nobody has had this one, and it is old
	want("2026-02-01.9", b, a)
	b.ok(b.PutRateCard(b.at(t0), version("2026-02-01.10"))) // a tenth revision follows the ninth
	want("2026-02-01.10", a, b)

	late := &fixture{books: booksOf(storetest.Open(t, url)), t: t}
	late.is(late.PutRateCard(late.at(t0), cardWith(t, map[string]string{"signup_bonus: 5": "signup_bonus: 6"})), store.ErrRateCardChanged)
	late.ok(late.PutRateCard(late.at(t0), card))
	want("2026-02-01.10", late)
	together(8, func(i int) {
		n := []*fixture{a, b, late}[i%3]
		if err := n.PutRateCard(storetest.At(t.Context(), t0), version([]string{"2026-03-01.1", "2026-03-01.2"}[i/4])); err != nil {
			t.Error(err)
		}
	})
	want("2026-03-01.2", a, b, late)

	// Each node's sessions are charged by what it had in force.
	acc := a.account(10 * usd)
	for _, n := range []*fixture{a, b} {
		r := n.request(acc, web)
		r.Card = n.RateCard()
		s, err := n.StartSession(n.at(t0), r)
		n.ok(err)
		n.closeWith(s, billing.Usage{billing.AgentTime: 1000})
	}
	a.verified()
}
