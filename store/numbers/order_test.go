package numbers_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"parley/billing"
	"parley/sip/carrier"
	"parley/store"
	"parley/store/ledger"
	"parley/store/ledger/ledgertest"
	"parley/store/numbers"
)

func TestOrderIsHeldThenCharged(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(20 * usd)
	n, err := f.Order(acc, mine, t0)
	f.OK(err)
	f.Want(acc, billing.Pots{Paid: 20 * usd, Bonus: 5 * usd, Held: monthly})
	if n.State != numbers.Ordering || f.routes(n) || n.OrderRef == "" {
		t.Errorf("ordered: %+v", n)
	}
	f.Verified()
	n = f.CarrierSays(n, carrier.Pending, t0)
	f.Want(acc, billing.Pots{Paid: 20*usd - monthly, Bonus: 5 * usd})
	if n.State != numbers.Ordered || f.routes(n) || n.NextChargeAt == nil {
		t.Errorf("pending: %+v", n)
	}
	f.Verified()
	for range 3 { // it is told as often as it is asked
		n = f.CarrierSays(n, carrier.Active, t0.Add(time.Hour))
	}
	if n.State != numbers.Owned || !f.routes(n) || n.CarrierID != "acme-"+n.ID || !n.NextChargeAt.Equal(billing.Month(t0, 1)) {
		t.Errorf("active: %+v", n)
	}
	f.CarrierSays(n, carrier.Failed, t0.Add(2*time.Hour)) // which nobody says of an active order
	if f.state(n) != numbers.Owned {
		t.Error("a number was lost that was active")
	}
	f.Want(acc, billing.Pots{Paid: 20*usd - monthly, Bonus: 5 * usd})
	f.Verified()
}

func TestFailedOrdersCostNothing(t *testing.T) {
	for name, before := range map[string][]carrier.State{"at once": nil, "later": {carrier.Pending}, "much later": {carrier.Pending, carrier.Pending}} {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			acc := f.NewAccount(20 * usd)
			n, err := f.Order(acc, mine, t0)
			f.OK(err)
			for _, s := range before {
				f.CarrierSays(n, s, t0)
			}
			for range 2 {
				f.CarrierSays(n, carrier.Failed, t0.Add(time.Hour))
			}
			f.Want(acc, billing.Pots{Paid: 20 * usd, Bonus: 5 * usd})
			all, err := f.Transfers(f.Context(), acc, 0, 0)
			f.OK(err)
			if want := 2 + 2*min(len(before), 1); len(all) != want || f.state(n) != "lost" {
				t.Errorf("%d transfers, want %d; the number is %s", len(all), want, f.state(n))
			}
			f.Verified()
			f.Buy(f.NewAccount(20*usd), mine, t0.Add(time.Hour))
			f.Verified()
		})
	}
}

func TestPurchaseIsRefused(t *testing.T) {
	f := setup(t)
	taken := f.NewAccount(20 * usd)
	f.Buy(taken, "+34911000000", t0)
	foreign := f.NewAgent(taken)
	disputed, suspended, owes, twice := f.NewAccount(20*usd), f.NewAccount(20*usd), f.NewAccount(5*usd), f.NewAccount(2*monthly-1)
	f.OK(f.OpenDispute(f.Context(), disputed, "pi"))
	yes := true
	f.OK(f.ChangeAccount(f.Context(), suspended, ledger.AccountChange{Suspended: &yes}))
	f.OK(f.OpenDispute(f.Context(), suspended, "pi"))
	used := billing.Usage{billing.AgentTime: 60_000}
	s := f.Start(owes, ledgertest.OutboundES)
	f.MustCheckpoint(s, 1, used)
	_, err := f.Order(twice, "+34911000009", t0)
	f.OK(err)
	for name, test := range map[string]struct {
		account, e164, agent string
		want                 error
	}{
		"another's agent":           {disputed, mine, foreign.ID, store.ErrNotFound},
		"no account":                {"acc_x", mine, "", store.ErrNotFound},
		"a number in use":           {disputed, "+34911000000", "", store.ErrNumberTaken},
		"its own number":            {taken, "+34911000000", "", store.ErrNumberTaken},
		"suspended":                 {suspended, mine, "", store.ErrSuspended},
		"disputed":                  {disputed, mine, "", store.ErrDisputed},
		"welcome credit only":       {f.NewAccount(0), mine, "", store.ErrTopupRequired},
		"a cent less, and bonus":    {f.NewAccount(monthly - billing.Cent), mine, "", store.ErrInsufficientBalance},
		"used by a call":            {owes, mine, "", store.ErrInsufficientBalance},
		"held for another purchase": {twice, mine, "", store.ErrInsufficientBalance},
	} {
		before := billing.Pots{}
		if a, err := f.Account(f.Context(), test.account); err == nil {
			before = a.Pots
		}
		_, err := f.Numbers.Order(f.Context(), numbers.Order{Account: test.account, E164: test.e164, Country: "ES", Agent: test.agent, Carrier: "acme", Card: card})
		if !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
		if a, err := f.Account(f.Context(), test.account); err == nil && a.Pots != before {
			t.Errorf("%s: the wallet was %+v and is %+v", name, before, a.Pots)
		}
	}
	f.CloseWith(s, used)
	f.Verified()
}

// Whoever wants it, and however many, one number is sold once; and an account buys as
// many as it can pay.
func TestFiftyPurchasesAtOnce(t *testing.T) {
	f := setup(t)
	rich := f.NewAccount(4*monthly - 1)
	others := make([]string, 25)
	for i := range others {
		others[i] = f.NewAccount(20 * usd)
	}
	var sold, taken, paid atomic.Int32
	ledgertest.Together(50, func(i int) {
		n, err := f.Order(append(others, others...)[i], mine, t0)
		switch {
		case err == nil:
			sold.Add(1)
			f.CarrierSays(n, carrier.Active, t0)
		case errors.Is(err, store.ErrNumberTaken):
			taken.Add(1)
		default:
			t.Error(err)
		}
	})
	ledgertest.Together(20, func(i int) {
		n, err := f.Order(rich, fmt.Sprintf("+349110000%02d", i), t0)
		if err == nil {
			paid.Add(1)
			f.CarrierSays(n, carrier.Active, t0)
		} else if !errors.Is(err, store.ErrInsufficientBalance) {
			t.Error(err)
		}
	})
	if sold.Load() != 1 || taken.Load() != 49 || paid.Load() != 3 {
		t.Errorf("sold %d times, taken %d times; bought %d numbers with the money for three", sold.Load(), taken.Load(), paid.Load())
	}
	f.Verified()
}

// Many nodes that charge at once charge each month once.
func TestMonthsAreChargedOnceByManyNodes(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(100 * usd)
	for i := range 5 {
		f.Buy(acc, fmt.Sprintf("+349110000%02d", i), t0)
	}
	late := billing.Month(t0, 4) // the welcome credit has ended by then
	ledgertest.Together(8, func(int) { f.Months(late) })
	f.Months(late)
	if got := len(f.monthsPaid(acc)); got != 20 { // as far as the money goes
		t.Errorf("%d months, want 20", got)
	}
	f.Verified()
}

// Each of these is the first to meet a wallet whose welcome credit has ended.
func TestNumbersMeetExpiredCredit(t *testing.T) {
	for name, do := range map[string]func(f *fixture, acc string, n *numbers.Number, at time.Time){
		"told again of an order": func(f *fixture, _ string, n *numbers.Number, at time.Time) { f.CarrierSays(n, carrier.Active, at) },
		"a release": func(f *fixture, acc string, n *numbers.Number, at time.Time) {
			f.OK(f.Numbers.Release(f.At(at), acc, n.ID))
		},
		"a release by hand": func(f *fixture, acc string, _ *numbers.Number, at time.Time) {
			byHand, err := f.Numbers.Import(f.Context(), acc, "+34911234569", "")
			f.OK(err)
			f.OK(f.Numbers.Release(f.At(at), acc, byHand.ID))
		},
		"an order": func(f *fixture, acc string, _ *numbers.Number, at time.Time) {
			_, err := f.Order(acc, "+34911234569", at)
			f.OK(err)
		},
		"months": func(f *fixture, _ string, _ *numbers.Number, at time.Time) { f.Months(at) },
	} {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			acc := f.NewAccount(50 * usd)
			do(f, acc, f.Buy(acc, mine, t0), t0.Add(100*day))
			f.Verified()
			if p := f.Show(acc).Pots; p.Bonus != 0 {
				t.Errorf("%+v", p)
			}
		})
	}
}

// What a process left behind when it died is claimed by others after a while, later
// each time, and by one of them only.
func TestClaimsOfOrders(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(20 * usd)
	n, err := f.Order(acc, mine, t0)
	f.OK(err)
	claim := func(carrier string, at time.Time) int {
		got, err := f.Numbers.Claim(f.At(at), carrier, 10)
		f.OK(err)
		return len(got)
	}
	at := t0.Add(2*time.Minute - time.Microsecond)
	if claim("acme", at) != 0 || claim("other", at.Add(day)) != 0 {
		t.Error("claimed too early, or for another carrier")
	}
	at = t0.Add(2 * time.Minute)
	var claimed atomic.Int32
	ledgertest.Together(10, func(int) { claimed.Add(int32(claim("acme", at))) })
	if claimed.Load() != 1 {
		t.Errorf("claimed %d times", claimed.Load())
	}
	for _, wait := range []time.Duration{15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 16 * time.Minute, 32 * time.Minute, time.Hour, time.Hour} {
		if claim("acme", at.Add(wait-time.Microsecond)) != 0 || claim("acme", at.Add(wait)) != 1 {
			t.Fatalf("not claimed again after %s", wait)
		}
		at = at.Add(wait)
	}
	n = f.CarrierSays(n, carrier.Active, at)
	if claim("acme", at) != 1 {
		t.Error("an active number is not routed")
	}
	f.OK(f.Numbers.Routed(f.Context(), n.ID))
	if claim("acme", at.Add(day)) != 0 {
		t.Error("a number that is done is claimed")
	}
	f.Verified()
}

func TestReleaseOfNumbersThatAreOnTheirWay(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(50 * usd)
	agent := f.NewAgent(acc)
	var ns [4]*numbers.Number
	for i := range ns {
		n, err := f.Order(acc, fmt.Sprintf("+349110000%02d", i), t0)
		f.OK(err)
		f.OK(f.Numbers.Assign(f.Context(), acc, n.ID, numbers.Assignment{Agent: &agent.ID}))
		ns[i] = n
	}
	f.CarrierSays(ns[2], carrier.Pending, t0)
	f.CarrierSays(ns[3], carrier.Pending, t0)
	for _, n := range ns {
		f.OK(f.Numbers.Release(f.Context(), acc, n.ID))
		for name, err := range map[string]error{"release": f.Numbers.Release(f.Context(), acc, n.ID), "assign": f.Numbers.Assign(f.Context(), acc, n.ID, numbers.Assignment{Agent: &agent.ID})} {
			if !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s again: %v", name, err)
			}
		}
		f.OK(f.Numbers.FinishRelease(f.Context(), n.ID)) // of an order that is not done: nothing
	}
	f.Verified()
	f.CarrierSays(ns[0], carrier.Active, t0)
	f.CarrierSays(ns[1], carrier.Failed, t0)
	f.CarrierSays(ns[2], carrier.Active, t0)
	f.CarrierSays(ns[3], carrier.Failed, t0)
	f.Want(acc, billing.Pots{Paid: 50*usd - 2*monthly, Bonus: 5 * usd})
	got, err := f.Numbers.Claim(f.Context(), "acme", 10)
	f.OK(err)
	if len(got) != 2 || got[0].State != numbers.Releasing || got[0].CarrierID == "" {
		t.Errorf("to be released are %+v", got)
	}
	for _, n := range got {
		f.OK(f.Numbers.FinishRelease(f.Context(), n.ID))
	}
	for _, n := range ns {
		if f.routes(n) || f.state(n) != "lost" {
			t.Errorf("%s: %s", n.E164, f.state(n))
		}
	}
	f.Verified()
}

func TestRequestsAreAnsweredOnce(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(20 * usd)
	begin := func(o store.IdempotencyKey, at time.Time) (*store.Answer, *store.IdempotencyKey, error) {
		a, err := f.BeginRequest(f.At(at), &o)
		return a, &o, err
	}
	first := store.IdempotencyKey{Account: acc, Route: "buy", Key: "k", Hash: [32]byte{1}}
	a, o, err := begin(first, t0)
	f.OK(err)
	if a != nil {
		t.Fatal("answered before it was asked")
	}
	if _, _, err := begin(first, t0.Add(time.Second)); !errors.Is(err, store.ErrInProgress) {
		t.Errorf("while it is worked on: %v", err)
	}
	f.OK(f.FinishRequest(f.Context(), o, store.Answer{Status: 202, Body: []byte(`{"a":1}`)}))
	if a, _, err := begin(first, t0.Add(time.Hour)); err != nil || a == nil || a.Status != 202 || string(a.Body) != `{"a":1}` {
		t.Errorf("again: %+v, %v", a, err)
	}
	other := first
	other.Hash[0]++
	if _, _, err := begin(other, t0); !errors.Is(err, store.ErrIdempotency) {
		t.Errorf("another request: %v", err)
	}
	for _, elsewhere := range []store.IdempotencyKey{{Account: f.NewAccount(0), Route: "buy", Key: "k"}, {Account: acc, Route: "dial", Key: "k"}} {
		if a, _, err := begin(elsewhere, t0); err != nil || a != nil {
			t.Errorf("elsewhere: %+v, %v", a, err)
		}
	}
	if a, o, err = begin(other, t0.Add(day)); err != nil || a != nil {
		t.Errorf("a day later: %+v, %v", a, err)
	}
	f.OK(f.DropRequest(f.Context(), o)) // it was refused
	if a, _, err := begin(first, t0.Add(day)); err != nil || a != nil {
		t.Errorf("after a refusal: %+v, %v", a, err)
	}
	f.OK(f.ForgetRequests(f.At(t0.Add(3 * day))))
	if a, _, err := begin(first, t0.Add(day)); err != nil || a != nil {
		t.Errorf("forgotten: %+v, %v", a, err)
	}
}

// A process that died between the order and the answer leaves what it began.
func TestRequestsAreTakenOver(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(20 * usd)
	dead := &store.IdempotencyKey{Account: acc, Route: "buy", Key: "k"}
	_, err := f.BeginRequest(f.Context(), dead)
	f.OK(err)
	n, err := f.Numbers.Order(f.Context(), numbers.Order{Account: acc, E164: mine, Country: "ES", Carrier: "acme", Card: card, Once: dead})
	f.OK(err)
	var heirs atomic.Int32
	ledgertest.Together(10, func(int) {
		o := &store.IdempotencyKey{Account: acc, Route: "buy", Key: "k"}
		a, err := f.BeginRequest(f.At(t0.Add(time.Minute)), o)
		if err == nil && a == nil && o.Subject == n.ID {
			heirs.Add(1)
		} else if !errors.Is(err, store.ErrInProgress) {
			t.Errorf("%+v, %v", a, err)
		}
	})
	if heirs.Load() != 1 {
		t.Errorf("%d took it over", heirs.Load())
	}
	// The dead one was only slow: its answer does not count any more.
	f.OK(f.FinishRequest(f.Context(), dead, store.Answer{Status: 200, Body: []byte("{}")}))
	if _, err := f.BeginRequest(f.At(t0.Add(time.Minute)), &store.IdempotencyKey{Account: acc, Route: "buy", Key: "k"}); !errors.Is(err, store.ErrInProgress) {
		t.Errorf("after a late answer: %v", err)
	}
	// Another request under the key began nothing of this.
	o := &store.IdempotencyKey{Account: acc, Route: "buy", Key: "k", Hash: [32]byte{1}}
	if _, err := f.BeginRequest(f.At(t0.Add(2*day)), o); err != nil || o.Subject != "" {
		t.Errorf("a day later: %q, %v", o.Subject, err)
	}
	f.Verified()
}
