package ledger_test

import (
	"testing"
	"time"

	"parley/billing"
	"parley/store"
	"parley/store/aftercall"
	"parley/store/ledger"
)

// TestWorkAfterACallIsHeld: what calls that are over are expected to cost still counts
// together, beside what sessions hold, until it is charged or its time is over.
func TestWorkAfterACallIsHeld(t *testing.T) {
	f := setup(t)
	acc := f.account(20 * usd)
	expect := billing.Usage{billing.SummaryIn: 100_000, billing.SummaryOut: 10_000}
	each := price(t, inboundES, expect)
	var calls []string
	for range 3 {
		s := f.start(acc, inboundES)
		f.closeWith(s, billing.Usage{billing.AgentTime: 1000, billing.LineTime: 1000})
		calls = append(calls, s.ID)
	}
	f.adjust(acc, 2*each)
	hold := func(call string, at time.Time, want bool) {
		t.Helper()
		if paid, err := f.HoldAfterwards(f.at(at), acc, call, expect, time.Minute); err != nil || paid != want {
			t.Errorf("%t, %v; want %t", paid, err, want)
		}
	}
	hold(calls[0], t0, true)
	hold(calls[0], t0, true) // again is once
	hold(calls[1], t0, true)
	hold(calls[2], t0, false)
	hold(calls[2], t0.Add(59*time.Second), false)
	hold(calls[2], t0.Add(time.Minute), true) // who had the others has died
	hold(calls[0], t0.Add(time.Minute), true)
	hold(calls[1], t0.Add(time.Minute), false)

	_, err := f.HoldAfterwards(f.ctx(), f.account(0), calls[0], expect, time.Minute)
	f.is(err, store.ErrNotFound)
	later := t0.Add(time.Hour)
	f.ok(f.OpenDispute(f.at(later), acc, "pi_1"))
	hold(calls[0], later, false)
	f.ok(f.ResolveDispute(f.at(later), acc, "pi_1"))
	f.adjust(acc, 10*usd)
	s := f.start(acc, outboundES) // its first minute is held
	minute := s.Tariff.LineMinute()
	f.adjust(acc, 2*each+minute-1)
	hold(calls[0], later, true)
	hold(calls[1], later, false)
	_, err = f.CloseSession(f.at(later), s, ledger.Closing{Reason: "no_answer"})
	f.ok(err)
	hold(calls[1], later, true)
	f.verified()
}

// TestDiscardedAnswersAreNotChargedAgain: a try that failed charges what it kept.
func TestDiscardedAnswersAreNotChargedAgain(t *testing.T) {
	f := setup(t)
	acc := f.account(100 * usd)
	s := f.withAgent(acc, f.analyst(acc, wantsBoth))
	spent := billing.Usage{billing.AgentTime: 60_000, billing.LineTime: 60_000}
	f.closeWith(s, spent)
	discarded := used
	discarded.Outcome = "discarded"
	at, before := t0, f.show(acc).Balance()
	for try := 1; try <= 8; try++ {
		at = at.Add(time.Hour)
		d := f.claimed(at)
		took := []aftercall.Completion{discarded}
		if try == 3 {
			took = append(took, used)
		}
		text := "They come."
		f.ok(f.AnalysisLater(f.at(at), d, &text, took))
	}
	want := price(t, inboundES, billing.Usage{billing.SummaryIn: used.InTokens, billing.SummaryOut: used.OutTokens})
	if got := before - f.show(acc).Balance(); got != want {
		t.Errorf("%s were charged; want %s", got, want)
	}
	f.verified()
}
