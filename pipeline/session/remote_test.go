package session_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"parley/billing"
	"parley/media"
	"parley/pipeline/pipelinetest"
	"parley/pipeline/session/sessiontest"
	"parley/store"
	"parley/store/ledger"
)

// rich is a wallet with which everything goes on.
var rich = ledger.CheckpointResult{Pots: billing.Pots{Paid: billing.USD}}

// told is another node: the announcements that it got.
type told []string

func (*told) Alive() {}

func (a *told) Goodbye(account string) { *a = append(*a, account) }

// TestGoodbyeToAll: the tokens of one call empty the balance. All calls of the
// account end with it, between two rounds, and the other nodes learn it; the calls
// of others, and what may use other pots, go on.
func TestGoodbyeToAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const used = 3945 * ms
		onlyBonus := ledger.CheckpointResult{Pots: billing.Pots{Paid: -card.Wallet().Overdraft, Bonus: billing.USD}}
		others := &told{}
		o := (&sessiontest.FakeLedger{Others: others, Checkpoint: func(at time.Duration, s *ledger.Session) ledger.CheckpointResult {
			switch {
			case s.Account == "a" && at >= used:
				return poor
			case s.Account == "c" && at >= used:
				return onlyBonus
			}
			return rich
		}}).Open(t, 0)
		idle := o.Call(web, until(20*time.Second))
		work := o.StartWork(billing.STT)
		o.Payer = "b"
		stranger := o.Call(web, until(20*time.Second))
		o.Payer = "c"
		paid := o.Call(billing.Terms{Kind: billing.Outbound, Country: "ES"}, until(20*time.Second))
		bonus := o.Call(web, until(20*time.Second))
		o.Payer = "a"
		time.Sleep(5 * ms)
		talks := o.Call(web, func(s *pipelinetest.Scene) {
			thirsty(s, 1000, 50)
			s.Leg.HangUp = 20 * time.Second
			s.Leg.Speech = []pipelinetest.Utterance{{From: 1000 * ms, To: 2500 * ms}}
			s.ASR.Plan, s.ASR.FinalAfter = nil, 100*ms
		})
		<-work.Context().Done()
		if at := time.Since(o.Begun); at != used {
			t.Errorf("work ended after %v", at)
		}
		work.End(work.Context().Err())
		o.Wait()
		o.WantEnd(idle, "6.16s balance_exhausted") // two seconds of goodbye and the silence after it
		o.Mu.Lock()
		if got := o.Ended[talks.ID()]; got[len(got)-17:] != "balance_exhausted" {
			t.Errorf("the call that used it ended %s", got)
		}
		o.Mu.Unlock()
		o.WantEnd(stranger, "20s user_hangup")
		o.WantEnd(bonus, "20s user_hangup")
		o.WantEnd(paid, "8.2s balance_exhausted") // found by the round at 6 s
		// By the call that found it, and by those that looked because of it.
		if want := []string{"a", "a", "c"}; !slices.Equal(*others, want) {
			t.Errorf("told %q", *others)
		}
		if n := o.Reported(stranger.ID(), used); n != 0 {
			t.Errorf("%d checkpoints of somebody else", n)
		}
	})
}

// TestDispute: a payment of an account is disputed, which a checkpoint says. Its calls
// and its work end with it, whatever is in the pots; those of others go on.
func TestDispute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		frozen := ledger.CheckpointResult{Pots: rich.Pots, Freeze: ledger.Disputed}
		others := &told{}
		o := (&sessiontest.FakeLedger{Others: others, Checkpoint: func(at time.Duration, s *ledger.Session) ledger.CheckpointResult {
			if s.Account == "a" && at >= 10*time.Second {
				return frozen
			}
			return rich
		}}).Open(t, 0)
		talks, work := o.Call(web, until(20*time.Second)), o.StartWork(billing.STT)
		o.Payer = "b"
		stranger := o.Call(web, until(20*time.Second))
		time.Sleep(10200 * ms)
		o.Goodbye("a") // as another node does that has seen it
		synctest.Wait()
		if at := time.Since(o.Begun); at != 10200*ms || work.Context().Err() == nil {
			t.Errorf("work ended after %v", at)
		}
		if cause, ok := errors.AsType[*media.Ended](context.Cause(work.Context())); !ok || cause.Detail != media.Disputed {
			t.Errorf("work ended by %v", context.Cause(work.Context()))
		}
		work.End(work.Context().Err())
		o.Wait()
		o.WantEnd(talks, "12.4s balance_exhausted: disputed")
		o.WantEnd(stranger, "20s user_hangup")
		if want := []string{"a"}; !slices.Equal(*others, want) {
			t.Errorf("told %q", *others)
		}
	})
}

// TestSpentUp: a limit of spending that binds some sessions of an account is reached. They
// end as if the balance were used up, and say why; those that it does not bind go on.
func TestSpentUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := (&sessiontest.FakeLedger{Checkpoint: func(at time.Duration, s *ledger.Session) ledger.CheckpointResult {
			r, none := rich, billing.Money(0)
			if s.Terms.Kind != billing.Inbound && at >= 10*time.Second {
				r.Room = &none
			}
			return r
		}, Permit: func(time.Duration, int64) error { return store.ErrSpending }}).Open(t, 0)
		bound, work := o.Call(web, until(20*time.Second)), o.StartWork(billing.STT)
		free := o.Call(inbound, until(2*time.Minute))
		time.Sleep(12 * time.Second)
		if cause, ok := errors.AsType[*media.Ended](context.Cause(work.Context())); !ok || cause.Detail != media.Spending {
			t.Errorf("work ended by %v", context.Cause(work.Context()))
		}
		work.End(work.Context().Err())
		o.Wait()
		o.WantEnd(bound, "13.2s balance_exhausted: spending_limit")
		o.WantEnd(free, "52.2s balance_exhausted: spending_limit") // the line minute that is refused
	})
}

// TestGoodbyeFromElsewhere is believed only as far as the pots say so; one that is
// said again does not cut the first short.
func TestGoodbyeFromElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const late, right = 3500 * ms, 8500 * ms
		var o *sessiontest.Harness
		said := false
		others := &told{}
		o = (&sessiontest.FakeLedger{Others: others, Checkpoint: func(at time.Duration, _ *ledger.Session) ledger.CheckpointResult {
			if at == late && !said {
				said = true
				for range 3 { // while it is looked into
					o.Goodbye("a")
				}
			}
			if at < right {
				return rich
			}
			return poor
		}}).Open(t, 0)
		s := o.Call(web, until(20*time.Second))
		time.Sleep(late)
		o.Goodbye("a")
		o.Goodbye("b")
		synctest.Wait()
		if n := o.Reported(s.ID(), late); n != 2 {
			t.Errorf("%d checkpoints for a message and the three that came meanwhile, want 2", n)
		}
		time.Sleep(right - late)
		for range 4 {
			o.Goodbye("a")
			synctest.Wait()
			time.Sleep(500 * ms)
		}
		o.Wait()
		o.WantEnd(s, "10.7s balance_exhausted")
		if n := o.Reported(s.ID(), right); n != 1 || len(*others) != 1 {
			t.Errorf("%d checkpoints, told %q", n, *others)
		}
	})
}

// TestHangupByOthers: at once when the owner is asked, by its next checkpoint when
// only the database was.
func TestHangupByOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := (&sessiontest.FakeLedger{Checkpoint: func(at time.Duration, s *ledger.Session) ledger.CheckpointResult {
			return ledger.CheckpointResult{Pots: rich.Pots, Hangup: s.ID == "s2" && at > 7*time.Second}
		}}).Open(t, 0)
		asked, noted, other := o.Call(web, nil), o.Call(web, nil), o.Call(web, until(20*time.Second))
		time.Sleep(2 * time.Second)
		if o.Hangup("b", asked.ID()) || o.Hangup("a", "s9") {
			t.Error("it hangs up what is not the account's")
		}
		if !o.Hangup("a", asked.ID()) {
			t.Error("the call is not found")
		}
		o.Wait()
		o.WantEnd(asked, "2s api_hangup")
		o.WantEnd(noted, "11s api_hangup")
		o.WantEnd(other, "20s user_hangup")
		if o.Hangup("a", asked.ID()) {
			t.Error("a call that has ended is found")
		}
	})
}
