package ledger_test

import (
	"errors"
	"testing"
	"time"

	"parley/billing"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
)

func TestWebSessionIsPaidFromWelcomeCredit(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(0)
	s := f.Start(acc, web)
	used := billing.Usage{billing.AgentTime: 30_000, billing.ReplyIn: 1000}
	f.MustCheckpoint(s, 1, used)
	f.Want(acc, billing.Pots{Bonus: 5 * usd, AccruedAny: price(t, web, used)})

	used[billing.AgentTime] = 61_001
	cost := f.CloseWith(s, used)
	if want := price(t, web, used); cost != want {
		t.Fatalf("closed for %s; want %s", cost, want)
	}
	f.Want(acc, billing.Pots{Bonus: 5*usd - cost})
	if again := f.CloseWith(s, billing.Usage{billing.AgentTime: 999_999}); again != cost {
		t.Errorf("closing again says %s; want %s", again, cost)
	}
	f.Want(acc, billing.Pots{Bonus: 5*usd - cost})
	f.Verified()

	c, err := history.New(f.DB).Call(f.Context(), acc, s.ID)
	f.OK(err)
	if c.Cost != cost || *c.EndReason != "user_hangup" || !c.StartedAt.Equal(t0) || c.Direction != billing.Web {
		t.Errorf("history says %+v", c)
	}
}

func TestBonusRunsOutAndThePaidPotGoesOn(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(10 * usd)
	s := f.Start(acc, inboundES)
	used := billing.Usage{billing.AgentTime: 3_600_000, billing.LineTime: 3_600_000, billing.WebSearches: 100}
	cost := f.CloseWith(s, used) // 4.80 + 0.60 + 1.00
	if cost != 640*billing.Cent {
		t.Fatalf("cost %s", cost)
	}
	f.Want(acc, billing.Pots{Paid: 10*usd - (cost - 5*usd)})
	f.Verified()
	records, err := f.UsageRecords(f.Context(), acc, s.ID)
	f.OK(err)
	var sum billing.Money
	for _, r := range records {
		sum += r.Amount
	}
	if sum != cost || len(records) != 3 {
		t.Errorf("the receipt has %d lines, sum %s", len(records), sum)
	}
}

func TestOutboundNeverUsesBonus(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(10 * usd)
	s := f.Start(acc, outboundES)
	minute := s.Tariff.LineMinute()
	f.Want(acc, billing.Pots{Paid: 10 * usd, Bonus: 5 * usd, Held: minute})
	f.MustCheckpoint(s, 1, billing.Usage{}) // answered: the first minute is owed and held no more
	f.Want(acc, billing.Pots{Paid: 10 * usd, Bonus: 5 * usd, AccruedPaid: minute})
	cost := f.CloseWith(s, billing.Usage{billing.AgentTime: 10_000, billing.LineTime: 10_000})
	f.Want(acc, billing.Pots{Paid: 10*usd - cost, Bonus: 5 * usd})
	f.Verified()
}

func TestASessionThatNeverStartedCostsNothing(t *testing.T) {
	for _, terms := range []billing.Terms{web, inboundES, outboundES, {Kind: billing.TTS}} {
		f := setup(t)
		acc := f.NewAccount(10 * usd)
		before := f.Show(acc).Pots
		s := f.Start(acc, terms)
		used := billing.Usage{billing.AgentTime: 5000, billing.LineTime: 5000, billing.ReplyIn: 9, billing.TTSChars: 9}
		_, err := f.Checkpoint(f.Context(), ledger.Checkpoint{Session: s, Seq: 1, Usage: used})
		f.OK(err)
		cost, err := f.CloseSession(f.Context(), s, ledger.Closing{Reason: "no_answer", Usage: used})
		f.OK(err)
		if cost != 0 {
			t.Errorf("%s: cost %s", terms.Kind, cost)
		}
		f.Want(acc, before)
		if ts, err := f.Transfers(f.Context(), acc, 0, 0); err != nil || len(ts) != 2 {
			t.Errorf("%s: %d transfers, %v; want welcome and top-up only", terms.Kind, len(ts), err)
		}
		f.Verified()
	}
}

func TestRefusalsAndTheirOrder(t *testing.T) {
	f := setup(t)
	yes, two := true, 2
	fresh := f.NewAccount(0)
	poor := f.NewAccount(10 * usd)
	f.Adjust(poor, 25*billing.Cent-1)
	edge := f.NewAccount(10 * usd)
	f.Adjust(edge, 25*billing.Cent)
	bonusOnly := f.NewAccount(10 * usd)
	_, _, err := f.Credit(f.Context(), ledger.Credit{Account: bonusOnly, Kind: ledger.Adjustment, Amount: -10 * usd, Key: "empty"})
	f.OK(err)
	busy := f.NewAccount(10 * usd)
	f.OK(f.ChangeAccount(f.Context(), busy, ledger.AccountChange{Concurrency: &two}))
	f.Start(busy, web)
	f.Start(busy, web)
	disputed := f.NewAccount(0)
	f.OK(f.OpenDispute(f.Context(), disputed, "pi_1"))
	suspended := f.NewAccount(0)
	f.OK(f.ChangeAccount(f.Context(), suspended, ledger.AccountChange{Suspended: &yes}))
	f.OK(f.OpenDispute(f.Context(), suspended, "pi_1"))

	for _, c := range []struct {
		name, account string
		terms         billing.Terms
		want          error
	}{
		{"suspended before disputed", suspended, outboundES, store.ErrSuspended},
		{"disputed before top-up", disputed, outboundES, store.ErrDisputed},
		{"no top-up yet", fresh, outboundES, store.ErrTopupRequired},
		{"welcome credit answers", fresh, inboundES, nil},
		{"below the minimum", poor, web, store.ErrInsufficientBalance},
		{"at the minimum", edge, web, nil},
		{"welcome credit does not dial", bonusOnly, outboundES, store.ErrInsufficientBalance},
		{"but talks", bonusOnly, web, nil},
		{"one too many", busy, web, store.ErrConcurrency},
		{"unknown account", "acc_nobody", web, store.ErrNotFound},
		{"no price", fresh, billing.Terms{Kind: billing.Inbound, Country: "JM"}, billing.ErrNoPrice},
	} {
		if _, err := f.StartSession(f.Context(), f.Request(c.account, c.terms)); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v; want %v", c.name, err, c.want)
		}
	}
	fast := f.NewAccount(10 * usd)
	asked := f.Request(fast, outboundES)
	asked.Paced = true
	for range 5 {
		_, err := f.StartSession(f.Context(), asked)
		f.OK(err)
	}
	for account, want := range map[string]error{busy: store.ErrConcurrency, fast: store.ErrDialRate} {
		asked.Account = account
		if _, err := f.StartSession(f.Context(), asked); !errors.Is(err, want) {
			t.Errorf("too fast: %v; want %v", err, want)
		}
	}
	f.OK(f.ResolveDispute(f.Context(), disputed, ""))
	f.Start(disputed, web)
	f.Verified()
}

func TestConcurrencyLimits(t *testing.T) {
	f := setup(t)
	many := 12
	for _, c := range []struct {
		name  string
		paid  billing.Money
		own   *int
		limit int
	}{{"before the first top-up", 0, nil, 3}, {"after it", 10 * usd, nil, 10}, {"the operator's own", 0, &many, 12}} {
		acc := f.NewAccount(c.paid)
		f.OK(f.ChangeAccount(f.Context(), acc, ledger.AccountChange{Concurrency: c.own}))
		var last *ledger.Session
		for range c.limit {
			last = f.Start(acc, web)
		}
		if _, err := f.StartSession(f.Context(), f.Request(acc, web)); !errors.Is(err, store.ErrConcurrency) {
			t.Errorf("%s: session %d: %v", c.name, c.limit+1, err)
		}
		f.CloseWith(last, billing.Usage{})
		f.Start(acc, web)
	}
	f.Verified()
}

func TestCheckpointsAreCumulative(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(10 * usd)
	s := f.Start(acc, web)
	high := billing.Usage{billing.AgentTime: 20_000, billing.ReplyOut: 50}
	f.MustCheckpoint(s, 2, high)
	want := billing.Pots{Paid: 10 * usd, Bonus: 5 * usd, AccruedAny: price(t, web, high)}
	for _, c := range []struct {
		name string
		seq  int64
		u    billing.Usage
	}{
		{"repeated", 2, high},
		{"late", 1, billing.Usage{billing.AgentTime: 10_000}},
		{"repeated with more", 2, billing.Usage{billing.AgentTime: 90_000}},
		{"new but lower", 3, billing.Usage{billing.AgentTime: 10_000}},
	} {
		if p := f.MustCheckpoint(s, c.seq, c.u); p != want {
			t.Errorf("%s: %+v; want %+v", c.name, p, want)
		}
	}
	f.Verified()
	// What the highest of all counters cost is charged, also when no single report had them all.
	f.MustCheckpoint(s, 4, billing.Usage{billing.AgentTime: 19_000, billing.ReplyOut: 500})
	high[billing.ReplyOut] = 500
	if got := f.CloseWith(s, billing.Usage{}); got != price(t, web, high) {
		t.Errorf("closed for %s; want %s", got, price(t, web, high))
	}
	f.Verified()
}

func TestBatchedCheckpoints(t *testing.T) {
	f := setup(t)
	b, a := f.NewAccount(10*usd), f.NewAccount(10*usd)
	live, foreign, closed, beside := f.Start(a, web), f.Start(b, inboundES), f.Start(b, web), f.Start(a, web)
	f.CloseWith(closed, billing.Usage{})
	stranger := *live
	stranger.ID = "ses_nobody"
	mixed := *live
	mixed.Account = b // a session under an account that is not its own
	u := billing.Usage{billing.AgentTime: 6000, billing.LineTime: 6000}
	var cs []ledger.Checkpoint
	for _, s := range []*ledger.Session{foreign, live, closed, &stranger, &mixed, beside} {
		cs = append(cs, ledger.Checkpoint{Session: s, Seq: 1, StartedAt: t0, Usage: u})
	}
	rs, err := f.Checkpoints(f.Context(), cs)
	f.OK(err)
	for i, want := range []error{nil, nil, store.ErrFenced, store.ErrNotFound, store.ErrNotFound, nil} {
		if !errors.Is(rs[i].Err, want) || (rs[i].Err == nil) != (want == nil) {
			t.Errorf("checkpoint %d: %v; want %v", i, rs[i].Err, want)
		}
	}
	if got, want := rs[0].Pots.AccruedAny, price(t, inboundES, u); got != want {
		t.Errorf("the inbound call accrued %s; want %s", got, want)
	}
	if got, want := rs[1].Pots.AccruedAny, 2*price(t, web, u); got != want {
		t.Errorf("two sessions of a wallet accrued %s; want %s", got, want)
	}
	if got, want := rs[1].Pots, f.Show(a).Pots; got != want {
		t.Errorf("the batch saw %+v, the wallet is %+v", got, want)
	}
	f.Verified()
}

// TestARefusedReportSpoilsNoOther: neither one that has no price nor one that the
// database refuses, and both say so.
func TestARefusedReportSpoilsNoOther(t *testing.T) {
	f := setup(t)
	a, b := f.NewAccount(10*usd), f.NewAccount(10*usd)
	fits, priceless, other := f.Start(a, web), f.Start(a, web), f.Start(b, web)
	unreadable := *fits
	unreadable.ID = "ses_\xff"
	u := billing.Usage{billing.AgentTime: 6000}
	report := func(s *ledger.Session, seq int64, u billing.Usage) ledger.Checkpoint {
		return ledger.Checkpoint{Session: s, Seq: seq, StartedAt: t0, Usage: u}
	}
	rs, err := f.Checkpoints(f.Context(), []ledger.Checkpoint{report(priceless, 1, billing.Usage{billing.AgentTime: -1}), report(fits, 1, u),
		report(&unreadable, 1, u), report(other, 1, u), report(other, 2, u)})
	f.OK(err)
	for i, want := range []error{store.ErrInvalid, nil, store.ErrInvalid, nil, nil} {
		if !errors.Is(rs[i].Err, want) || (rs[i].Err == nil) != (want == nil) {
			t.Errorf("report %d: %v; want %v", i, rs[i].Err, want)
		}
	}
	for _, account := range []string{a, b} {
		if got, want := f.Show(account).Pots.AccruedAny, price(t, web, u); got != want {
			t.Errorf("accrued %s; want %s", got, want)
		}
	}
	f.Verified()
}

func TestLineMinutes(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(10 * usd)
	s := f.Start(acc, outboundES)
	minute := s.Tariff.LineMinute()
	u := billing.Usage{billing.LineTime: 50_000}
	f.MustCheckpoint(s, 1, u)
	for range 2 { // asking again changes nothing
		f.OK(f.LineMinute(f.Context(), s, 2))
		f.Want(acc, billing.Pots{Paid: 10 * usd, Bonus: 5 * usd, AccruedPaid: minute, Held: minute})
	}
	if err := f.LineMinute(f.Context(), s, 4); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("minute 4 after 2: %v", err)
	}
	u[billing.LineTime] = 60_001
	f.MustCheckpoint(s, 2, u)
	f.Want(acc, billing.Pots{Paid: 10 * usd, Bonus: 5 * usd, AccruedPaid: 2 * minute})
	// A permit that is not used is given back at the close.
	f.OK(f.LineMinute(f.Context(), s, 3))
	f.CloseWith(s, u)
	f.Want(acc, billing.Pots{Paid: 10*usd - 2*minute, Bonus: 5 * usd})
	if err := f.LineMinute(f.Context(), s, 4); !errors.Is(err, store.ErrFenced) {
		t.Errorf("a minute after the close: %v", err)
	}
	f.Verified()
}

func TestLineMinuteStopsAtTheFloor(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(10 * usd)
	f.Adjust(acc, 25*billing.Cent)
	s := f.Start(acc, inboundES)
	// 2.25 to the floor: 225 minutes of 0.01 fit, the 226th does not.
	ms := int64(224*60_000 + 50_000)
	p := f.MustCheckpoint(s, 1, billing.Usage{billing.LineTime: ms})
	if p.Balance() != -2*usd || !s.AtFloor(p) {
		t.Errorf("balance %s, at the floor: %v", p.Balance(), s.AtFloor(p))
	}
	if err := f.LineMinute(f.Context(), s, 2); !errors.Is(err, store.ErrInsufficientBalance) {
		t.Errorf("a minute past the floor: %v", err)
	}
	f.PayIn(acc, 10*usd, "more")
	f.OK(f.LineMinute(f.Context(), s, 2))
	f.Verified()
}

// The first minute must fit between what is left and the floor, holds counted.
func TestFirstMinuteIsGuarded(t *testing.T) {
	f := setup(t)
	c := cardWith(t, map[string]string{"version: 2026-01-15.1": "version: 2026-02-01.1", "ES: 0.045": "ES: 1"})
	f.OK(f.PutRateCard(f.Context(), c))
	acc := f.NewAccount(10 * usd)
	f.Adjust(acc, 6*usd) // the paid pot is 1
	request := f.Request(acc, outboundES)
	request.Card = c
	for range 3 { // 1 + 2 of overdraft
		_, err := f.StartSession(f.Context(), request)
		f.OK(err)
	}
	if _, err := f.StartSession(f.Context(), request); !errors.Is(err, store.ErrInsufficientBalance) {
		t.Errorf("the fourth first minute: %v", err)
	}
	f.Verified()
}

func TestASessionKeepsItsRateCard(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(10 * usd)
	old := f.Start(acc, web)
	dearer := cardWith(t, map[string]string{"version: 2026-01-15.1": "version: 2026-02-01.1", "platform_per_minute: 0.08": "platform_per_minute: 0.8"})
	f.OK(f.PutRateCard(f.Context(), dearer))
	request := f.Request(acc, web)
	request.Card = dearer
	young, err := f.StartSession(f.At(t0.Add(time.Second)), request)
	f.OK(err)
	minute := billing.Usage{billing.AgentTime: 60_000}
	if a, b := f.CloseWith(old, minute), f.CloseWith(young, minute); a != 8*billing.Cent || b != 80*billing.Cent {
		t.Errorf("%s and %s; want 0.08 and 0.8", a, b)
	}
	ts, err := f.Transfers(f.Context(), acc, 0, 2)
	f.OK(err)
	if *ts[0].PriceVersion != "2026-02-01.1" || *ts[1].PriceVersion != "2026-01-15.1" {
		t.Errorf("charged at %s and %s", *ts[1].PriceVersion, *ts[0].PriceVersion)
	}
	f.Verified()
	changed := cardWith(t, map[string]string{"platform_per_minute: 0.08": "platform_per_minute: 0.9"})
	if err := f.PutRateCard(f.Context(), changed); !errors.Is(err, store.ErrRateCardChanged) {
		t.Errorf("other prices under an old version: %v", err)
	}
	f.OK(f.PutRateCard(f.Context(), card))
}
