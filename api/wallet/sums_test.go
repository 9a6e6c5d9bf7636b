package wallet_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"parley/billing"
	"parley/sip/carrier"
	"parley/store/ledger"
	"parley/store/numbers"
	"parley/store/storetest"
)

// kinds are all sessions there are.
var kinds = []billing.Terms{
	{Kind: billing.Web}, {Kind: billing.Inbound, Country: "ES"}, {Kind: billing.Outbound, Country: "DE", Mobile: true},
	{Kind: billing.Outbound, Country: "US"}, {Kind: billing.TTS}, {Kind: billing.STT}, {Kind: billing.Denoise},
}

// history gives both accounts a random past of sessions and credits, and leaves some
// sessions open. It returns the first account's sessions.
func (o *bank) history(r *rand.Rand, sessions int) (ids []string) {
	o.Helper()
	o.topup(o.A.Account, 1900*billing.USD)
	o.topup(o.B.Account, 1900*billing.USD)
	at := began
	running := map[string]*ledger.Session{}
	for i := range sessions {
		at = at.Add(time.Duration(r.IntN(2*3600)) * time.Second)
		who := o.A
		if i%10 == 9 {
			who = o.B
		}
		agent := ""
		terms := kinds[r.IntN(len(kinds))]
		if terms.Kind.Agent() && r.IntN(3) > 0 {
			agent = who.Agent
		}
		s := o.start(who.Account, agent, terms, at)
		if who == o.A {
			ids = append(ids, s.ID)
		}
		var u billing.Usage
		for seq := range int64(r.IntN(3)) {
			spend(r, &u)
			at = at.Add(time.Minute)
			o.use(s, seq+1, u, at)
		}
		switch {
		case r.IntN(30) == 0 && running[who.Account] == nil:
			running[who.Account] = s // over the next credits' ends
		case r.IntN(20) == 0:
			o.end(s, billing.Usage{}, at)
		default:
			spend(r, &u)
			o.end(s, u, at)
		}
		if old := running[who.Account]; old != nil && r.IntN(20) == 0 {
			o.end(old, billing.Usage{}, at)
			delete(running, who.Account)
		}
		o.mishaps(r, who.Account, i, at)
	}
	o.numbers(o.A.Account, began, at)
	o.numbers(o.B.Account, began, at)
	for _, who := range []owner{o.A, o.B} { // in progress, when all is added up
		o.Read(who, "/v1/balance", new(balance)) // settles what has expired by the real now
		s := o.start(who.Account, who.Agent, kinds[1], at)
		u := billing.Usage{billing.AgentTime: 61_001, billing.LineTime: 61_001, billing.ReplyOut: 7}
		o.use(s, 1, u, at)
		if who == o.A {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// spend raises some counters by odd amounts.
func spend(r *rand.Rand, u *billing.Usage) {
	for c := range u {
		if r.IntN(2) == 0 {
			u[c] += r.Int64N(20_011)
		}
	}
	u[billing.CRMCalls], u[billing.WebSearches] = u[billing.CRMCalls]%3, u[billing.WebSearches]%3
}

// mishaps move money now and then: bonus that expires soon, corrections.
func (o *bank) mishaps(r *rand.Rand, account string, i int, at time.Time) {
	o.Helper()
	c := ledger.Credit{Account: account, Key: fmt.Sprint("random:", i), Amount: billing.Money(1 + r.Int64N(int64(billing.USD)))}
	switch r.IntN(25) {
	case 0, 1:
		c.Kind, c.ExpiresAt = ledger.Bonus, at.Add(time.Duration(1+r.IntN(48))*time.Hour)
	case 2:
		c.Kind = ledger.Adjustment
	case 3:
		c.Kind, c.Amount = ledger.Adjustment, -c.Amount
	case 4:
		_, err := o.Ledger.ExpireLots(storetest.At(o.Context(), at))
		o.OK(err)
		return
	default:
		return
	}
	o.credit(c, at)
}

// numbers buys an account numbers, of which one never comes, and pays their months.
func (o *bank) numbers(account string, from, to time.Time) {
	o.Helper()
	for i, states := range [][]carrier.State{{carrier.Active}, {carrier.Pending, carrier.Active}, {carrier.Pending, carrier.Failed}} {
		at := from.Add(time.Duration(i) * 240 * time.Hour)
		n, err := numbers.New(o.DB).Order(storetest.At(o.Context(), at), numbers.Order{Account: account, E164: fmt.Sprintf("+3491100%s%d", map[bool]string{true: "1", false: "2"}[account == o.A.Account], i),
			Country: "ES", Carrier: "acme", Card: card})
		o.OK(err)
		for _, state := range states {
			_, err = numbers.New(o.DB).Reconcile(storetest.At(o.Context(), at), account, n.ID, carrier.Ordered{State: state, NumberID: "acme"})
			o.OK(err)
			at = at.Add(24 * time.Hour)
		}
	}
	_, err := numbers.New(o.DB).Charge(storetest.At(o.Context(), to), card)
	o.OK(err)
}

// TestEverythingAddsUp compares the ledger, usage by each grouping, their files and
// every receipt with one another and with the wallet, to the nano-dollar.
func TestEverythingAddsUp(t *testing.T) {
	o := open(t)
	ids := o.history(rand.New(rand.NewPCG(1, 2026)), 1000)
	var wallet balance
	o.Read(o.A, "/v1/balance", &wallet)
	if wallet.Accrued == 0 || wallet.Balance != wallet.Posted-wallet.Accrued || wallet.Balance != wallet.Paid+wallet.Bonus {
		t.Errorf("%+v", wallet)
	}
	perSession, usage := o.ledgerAddsUp(wallet.Posted)

	// Usage by whatever is the same usage.
	var components map[string]billing.Money
	for _, by := range []string{"component", "day", "agent", "call"} {
		groups, total, accrued := o.groups(o.A, by, "")
		if total != usage || accrued != wallet.Accrued {
			t.Errorf("by %s: total %s, accrued %s, want %s and %s", by, total, accrued, usage, wallet.Accrued)
		}
		got, quantities := o.regroup(groups)
		if components == nil {
			components = got
		}
		if !maps.Equal(got, components) {
			t.Errorf("by %s: %v, want %v", by, got, components)
		}
		if by == "call" {
			for _, g := range groups {
				key := ""
				if g.Key != nil {
					key = *g.Key
				}
				if g.Amount != perSession[key] {
					t.Errorf("%q: usage %s, ledger %s", key, g.Amount, perSession[key])
				}
			}
		}
		o.sameInFile(by, quantities)
	}
	var sum billing.Money
	for _, id := range ids {
		sum += o.receiptAddsUp(id, perSession[id])
	}
	if sum += perSession[""]; sum != usage || perSession[""] == 0 {
		t.Errorf("the receipts and numbers come to %s, of which %s are numbers; usage to %s", sum, perSession[""], usage)
	}
	o.Verified(26)
	t.Logf("%d sessions, usage %s, posted %s", len(ids), usage, wallet.Posted)
}

// ledgerAddsUp checks entries against one another and against the file, and returns
// what each session cost and all did.
func (o *bank) ledgerAddsUp(posted billing.Money) (perSession map[string]billing.Money, usage billing.Money) {
	o.Helper()
	entries, perSession := o.entries(o.A, ""), map[string]billing.Money{}
	file := o.table(o.A, "/v1/ledger.csv")
	if len(entries) != len(file) || entries[0].BalanceAfter != posted {
		o.Fatalf("%d entries, %d in the file; the last leaves %s, want %s", len(entries), len(file), entries[0].BalanceAfter, posted)
	}
	sum := billing.Money(0)
	kinds := map[string]int{}
	for i := len(entries) - 1; i >= 0; i-- {
		e, row := entries[i], file[i]
		sum += e.Amount
		kinds[e.Kind]++
		if e.BalanceAfter != sum || e.ID != int64(len(entries)-i) {
			o.Fatalf("entry %d: balance %s, the sum is %s", e.ID, e.BalanceAfter, sum)
		}
		if row["id"] != fmt.Sprint(e.ID) || o.money(row["amount"]) != e.Amount || o.money(row["balance_after"]) != e.BalanceAfter || row["kind"] != e.Kind {
			o.Fatalf("entry %d is %v in the file", e.ID, row)
		}
		number := e.Component != nil && *e.Component == "number"
		if (e.Kind == "usage") != (e.Component != nil && e.PriceVersion != nil && (number || e.SessionID != nil && e.Amount < 0)) || number && e.SessionID != nil {
			o.Fatalf("entry %+v", e)
		}
		if e.Kind == "usage" {
			id := "" // of all numbers together
			if e.SessionID != nil {
				id = *e.SessionID
			}
			perSession[id] -= e.Amount
			usage -= e.Amount
		}
	}
	for _, kind := range []string{"topup", "welcome", "bonus", "adjustment", "usage", "expiry"} {
		if got := len(o.entries(o.A, "&kind="+kind)); got == 0 || got != kinds[kind] {
			o.Errorf("%d entries of kind %s, want %d", got, kind, kinds[kind])
		}
	}
	return perSession, usage
}

// regroup sums groups by component, and lists what a file's lines hold.
func (o *bank) regroup(groups []group) (amounts map[string]billing.Money, lines map[string]string) {
	o.Helper()
	amounts, lines = map[string]billing.Money{}, map[string]string{}
	for _, g := range groups {
		var sum billing.Money
		key := ""
		if g.Key != nil {
			key = *g.Key
		}
		for _, c := range g.Components {
			sum += c.Amount
			amounts[c.Component] += c.Amount
			lines[key+" "+c.Component] = fmt.Sprintln(c.Quantity, c.Unit, c.Amount)
		}
		if sum != g.Amount {
			o.Errorf("group %s: %s, its components %s", key, g.Amount, sum)
		}
	}
	return amounts, lines
}

// sameInFile compares a file of usage with the pages' lines.
func (o *bank) sameInFile(by string, want map[string]string) {
	o.Helper()
	got := map[string]string{}
	for _, row := range o.table(o.A, "/v1/usage.csv?group_by="+by) {
		got[row[by]+" "+row["component"]] = fmt.Sprintln(row["quantity"], row["unit"], row["amount"])
	}
	if !maps.Equal(got, want) {
		o.Errorf("by %s: the file has %d lines, the pages %d, or they differ", by, len(got), len(want))
	}
}

// receiptAddsUp checks a receipt against the ledger and its own prices.
func (o *bank) receiptAddsUp(id string, ledger billing.Money) billing.Money {
	o.Helper()
	var r receipt
	o.Read(o.A, "/v1/calls/"+id+"/receipt", &r)
	var sum billing.Money
	for _, l := range r.Lines {
		sum += l.Amount
		// Half a nano-dollar up, on numbers small enough for int64.
		if want := (2*l.Quantity*int64(l.UnitPrice) + l.Per) / (2 * l.Per); int64(l.Amount) != want {
			o.Errorf("%s: %+v, want %d", id, l, want)
		}
		if l.PriceVersion != card.Version() {
			o.Errorf("%s: %+v", id, l)
		}
	}
	if sum != r.Total || r.Total != ledger || (r.EndedAt != nil && r.Accrued != 0) {
		o.Errorf("%s: total %s, lines %s, ledger %s, accrued %s", id, r.Total, sum, ledger, r.Accrued)
	}
	return r.Total
}
