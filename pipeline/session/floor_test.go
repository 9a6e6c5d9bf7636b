package session

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"parley/billing"
	"parley/media"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/ledger/verify"
	"parley/store/storetest"
)

// Ten calls at once drain a balance in the meter's own rhythm, with the real store
// and its times: how far under the overdraft floor do they end?

// dear is a card of 0.16 USD a minute and 0.35 USD a started minute.
func dear(t *testing.T) *billing.RateCard {
	t.Helper()
	text, err := os.ReadFile("../../billing/ratecard.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dearer := strings.NewReplacer("version: 2026-01-15.1", "version: 2026-01-15.2", "platform_per_minute: 0.08", "platform_per_minute: 0.16",
		"outbound_mobile: {ES: 0.045,", "outbound_mobile: {ES: 0.35,")
	card, err := billing.ParseRateCard([]byte(dearer.Replace(string(text))))
	if err != nil {
		t.Fatal(err)
	}
	return card
}

// dearTerms are those of the calls.
var dearTerms = billing.Terms{Kind: billing.Outbound, Country: "ES", Mobile: true}

const (
	goodbyeLasts = 8 * time.Second
	dearCalls    = 10
	// What all of them use in 13 s: the floor is seen within the 5 s of a
	// checkpoint, and they say goodbye for 8 s.
	dearBound = 35 * billing.Cent
)

// TestTenCallsAtTheFloor is the short form of TestSoakTenCallsAtTheFloor.
func TestTenCallsAtTheFloor(t *testing.T) { drainMany(t, 8) }

func TestSoakTenCallsAtTheFloor(t *testing.T) {
	if os.Getenv("PARLEY_SOAK") == "" {
		t.Skip("PARLEY_SOAK is not set")
	}
	drainMany(t, 300)
}

func drainMany(t *testing.T, seeds int) {
	d := &drained{t: t, db: storetest.New(t), card: dear(t)}
	d.ok(d.db.PutRateCard(t.Context(), d.card))
	node, _, err := ledger.New(d.db).RegisterNode(t.Context(), "n", "127.0.0.1:1")
	d.ok(err)
	books := struct {
		*store.DB
		*ledger.Ledger
		*history.Store
	}{d.db, ledger.New(d.db), history.New(d.db)}
	var worst [2]billing.Money
	for seed := range seeds {
		d.Manager = NewManager(books, node, func() *billing.RateCard { return d.card }, 0, slog.New(slog.DiscardHandler))
		under := d.drain(uint64(seed))
		worst[seed%2] = max(worst[seed%2], under)
		if under > dearBound {
			t.Errorf("seed %d: %s under the floor, want at most %s", seed, under, dearBound)
		}
	}
	t.Logf("at worst under the floor in %d runs: from 0.25 USD %s, from more %s", seeds, worst[0], worst[1])
	r, err := verify.Whole(t.Context(), d.db)
	d.ok(err)
	for _, v := range r.Violations {
		t.Error(v)
	}
}

// drained is a node whose calls use an account up.
type drained struct {
	*Manager
	t     *testing.T
	db    *store.DB
	card  *billing.RateCard
	begun time.Time
	over  map[*Session]time.Time // when each that says goodbye will have hung up
}

func (d *drained) ok(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// drain lets as many calls start as may, at random times, runs until none is left
// and says how far under the floor the balance is.
func (d *drained) drain(seed uint64) billing.Money {
	d.t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	paid := 25 * billing.Cent // with which some of the calls are refused
	if seed%2 == 1 {
		paid += billing.Money(rng.Int64N(int64(8 * billing.USD)))
	}
	account := d.account(seed, paid)
	d.begun, d.over = time.Now(), map[*Session]time.Time{}
	starts := make([]int, 60) // so many in each second
	spread := 1 + rng.IntN(len(starts))
	for range dearCalls {
		starts[rng.IntN(spread)]++
	}
	var last time.Time                                        // that a checkpoint of all was made
	phase := time.Duration(rng.IntN(1000)) * time.Millisecond // of the meter's tick
	for second := 0; second < len(starts) || d.Live() > 0; second++ {
		now := d.begun.Add(time.Duration(second)*time.Second + phase)
		for range starts[min(second, len(starts)-1)] {
			d.call(account, now.Add(-time.Duration(rng.IntN(1000))*time.Millisecond))
		}
		if second >= len(starts)-1 {
			starts[len(starts)-1] = 0
		}
		d.ok(d.round(d.t.Context(), &last, now, true))
		d.ok(d.round(d.t.Context(), &last, now, false)) // what was announced to the others
		d.hangUp(now)
		if second > 3600 {
			d.t.Fatal("the calls go on for an hour")
		}
	}
	a, err := ledger.New(d.db).Account(d.t.Context(), account)
	d.ok(err)
	return max(0, -d.card.Wallet().Overdraft-a.Pots.PaidLeft())
}

// account makes one that has topped up and has paid left.
func (d *drained) account(seed uint64, paid billing.Money) string {
	d.t.Helper()
	a, err := ledger.New(d.db).CreateAccount(d.t.Context(), "Test", d.card)
	d.ok(err)
	for kind, amount := range map[ledger.TransferKind]billing.Money{ledger.Topup: 10 * billing.USD, ledger.Adjustment: paid - 10*billing.USD} {
		_, _, err := ledger.New(d.db).Credit(d.t.Context(), ledger.Credit{Account: a.ID, Kind: kind, Amount: amount, Key: fmt.Sprintf("%s:%d:%s", kind, seed, a.ID), Source: "sim"})
		d.ok(err)
	}
	return a.ID
}

// call starts one that is answered at, if the store lets it.
func (d *drained) call(account string, at time.Time) {
	d.t.Helper()
	s, err := d.Admit(d.t.Context(), Admission{Start: ledger.Start{Account: account, Terms: dearTerms, From: "+34911234567", To: "+34612345678"}})
	if errors.Is(err, store.ErrInsufficientBalance) {
		return
	}
	d.ok(err)
	s.clock.start(at, at)
}

// hangUp ends the calls whose goodbye is over.
func (d *drained) hangUp(now time.Time) {
	for _, s := range d.sessions() {
		if s.stopped == nil {
			continue
		}
		at, told := d.over[s]
		if !told {
			d.over[s] = now.Add(goodbyeLasts)
		} else if !now.Before(at) {
			s.stopMeter(at)
			s.End(media.Ended{Reason: s.stopped.Reason})
			if s.stopped.Reason != media.BalanceExhausted {
				d.t.Errorf("a call ended with %v", s.stopped)
			}
		}
	}
}
