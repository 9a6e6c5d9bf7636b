package acceptance

import (
	"parley/store/history"

	"testing"

	"parley/billing"
)

// checkMetered holds what an account was charged for the tokens of its one call to what
// the model had reported, completion by completion: replies, those begun in vain, and the
// summary after the call, each on its own line. It waits for the summary.
func (n *narrator) checkMetered(t *testing.T, b *books, account string) {
	t.Helper()
	var call *history.Call
	eventually(t, "the summary is charged", func() bool {
		var err error
		if call, err = history.New(b.db).Call(b.ctx, account, b.closed(account, 1)[0].ID); err != nil {
			t.Fatal(err)
		}
		for _, g := range call.Generations {
			if g.Kind == "summary" {
				return true
			}
		}
		return false
	})
	x := b.closed(account, 1)[0]
	b.checkAmount(x)
	n.mu.Lock()
	defer n.mu.Unlock()
	components := map[string]billing.Component{"reply": billing.ReplyIn, "speculative": billing.SpeculativeIn, "summary": billing.SummaryIn}
	var metered billing.Usage
	charged, nothing := map[int64]bool{}, 0
	for _, g := range call.Generations {
		in, ok := components[g.Kind]
		if !ok {
			t.Fatalf("a completion of kind %q", g.Kind)
		}
		metered[in], metered[in+1] = metered[in]+g.InTokens, metered[in+1]+g.OutTokens
		if g.OutTokens == 0 && g.Outcome != "committed" && (g.InTokens == 0 || g.Source == "counted") {
			nothing++ // given up before the model reported anything; once it has begun to answer, its prompt is counted
			continue
		}
		at := g.InTokens - firstPrompt // each request has another number of tokens
		if at < 0 || at >= int64(len(n.requests)) || charged[at] || g.Source != "provider" {
			t.Errorf("%+v is no completion that the model reported, or is there twice", g)
			continue
		}
		charged[at] = true
		// Of one that was given up the rest of the report may not have been waited for.
		if out := n.requests[at].reported; g.OutTokens > out || g.OutTokens < out && g.Outcome == "committed" {
			t.Errorf("%+v: the model reported %d tokens written", g, out)
		}
	}
	if missing := len(n.requests) - len(charged); missing > nothing {
		t.Errorf("%d completions are not charged, %d gave nothing", missing, nothing)
	}
	tariff, err := billing.DefaultRateCard().Tariff(x.Terms)
	if err != nil {
		t.Fatal(err)
	}
	price, err := tariff.Price(metered)
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range components {
		for c := in; c <= in+1; c++ {
			var quantity int64
			var amount billing.Money
			if err := b.sql.QueryRow(b.ctx, `select coalesce(sum(qty), 0)::bigint, coalesce(sum(amount_nano), 0)::bigint from usage_records
				where session_id = $1 and component = $2`, x.ID, c.String()).Scan(&quantity, &amount); err != nil {
				t.Fatal(err)
			}
			if x.Usage[c] != metered[c] || quantity != metered[c] || amount != price[c].Amount {
				t.Errorf("%s: the completions have %d, the session %d, the ledger %d for %s, which cost %s", c, metered[c], x.Usage[c], quantity, amount, price[c].Amount)
			}
		}
	}
	t.Logf("charged of %d completions: %v", len(charged), metered)
	if metered[billing.ReplyIn] == 0 || metered[billing.SummaryIn] == 0 {
		t.Errorf("charged %v", metered)
	}
}
