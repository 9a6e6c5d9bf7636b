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
	acc := f.NewAccount(20 * usd)
	expect := billing.Usage{billing.SummaryIn: 100_000, billing.SummaryOut: 10_000}
	each := price(t, inboundES, expect)
	var calls []string
	for range 3 {
		s := f.Start(acc, inboundES)
		f.CloseWith(s, billing.Usage{billing.AgentTime: 1000, billing.LineTime: 1000})
		calls = append(calls, s.ID)
	}
	f.Adjust(acc, 2*each)
	hold := func(call string, at time.Time, want bool) {
		t.Helper()
		if paid, err := f.HoldAfterwards(f.At(at), acc, call, expect, time.Minute); err != nil || paid != want {
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

	_, err := f.HoldAfterwards(f.Context(), f.NewAccount(0), calls[0], expect, time.Minute)
	f.Is(err, store.ErrNotFound)
	later := t0.Add(time.Hour)
	f.OK(f.OpenDispute(f.At(later), acc, "pi_1"))
	hold(calls[0], later, false)
	f.OK(f.ResolveDispute(f.At(later), acc, "pi_1"))
	f.Adjust(acc, 10*usd)
	s := f.Start(acc, outboundES) // its first minute is held
	minute := s.Tariff.LineMinute()
	f.Adjust(acc, 2*each+minute-1)
	hold(calls[0], later, true)
	hold(calls[1], later, false)
	_, err = f.CloseSession(f.At(later), s, ledger.Closing{Reason: "no_answer"})
	f.OK(err)
	hold(calls[1], later, true)
	f.Verified()
}

// TestDiscardedAnswersAreNotChargedAgain: a try that failed charges what it kept.
func TestDiscardedAnswersAreNotChargedAgain(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(100 * usd)
	s := f.withAgent(acc, f.analyst(acc, wantsBoth))
	spent := billing.Usage{billing.AgentTime: 60_000, billing.LineTime: 60_000}
	f.CloseWith(s, spent)
	discarded := used
	discarded.Outcome = "discarded"
	at, before := t0, f.Show(acc).Balance()
	for try := 1; try <= 8; try++ {
		at = at.Add(time.Hour)
		d := f.claimed(at)
		took := []aftercall.Completion{discarded}
		if try == 3 {
			took = append(took, used)
		}
		text := "They come."
		f.OK(f.AnalysisLater(f.At(at), d, &text, took))
	}
	want := price(t, inboundES, billing.Usage{billing.SummaryIn: used.InTokens, billing.SummaryOut: used.OutTokens})
	if got := before - f.Show(acc).Balance(); got != want {
		t.Errorf("%s were charged; want %s", got, want)
	}
	f.Verified()
}
