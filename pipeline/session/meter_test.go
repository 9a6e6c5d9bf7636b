package session_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"parley/billing"
	"parley/inference"
	"parley/pipeline/session"
	"parley/pipeline/session/sessiontest"
	"parley/store/ledger"
)

// speaks counts an audio token of a session, as a completion does.
func speaks(s *session.Session) { s.Spoke(inference.Usage{AudioOut: 1}) }

// reports are the checkpoints of a ledger between the rounds of all sessions: when, and how many at once.
func reports(l *sessiontest.FakeLedger) (list []string) {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	var times []time.Duration
	many := map[time.Duration]int{}
	for _, r := range l.Reports {
		if r.At%time.Second == 0 {
			continue
		}
		if many[r.At]++; many[r.At] == 1 {
			times = append(times, r.At)
		}
	}
	for _, at := range times {
		list = append(list, fmt.Sprintf("%d at %v", many[at], at))
	}
	return list
}

// TestCompletionsAreStoredTogether: the first at once, those of the second after it together, and so on.
func TestCompletionsAreStoredTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := new(sessiontest.FakeLedger)
		o := l.Open(t, 0)
		var all []*session.Session
		for range 20 {
			s := o.Enter(web)
			s.Begin()
			all = append(all, s)
		}
		time.Sleep(1200 * ms)
		for i := range 57 { // nearly four seconds
			speaks(all[i%len(all)])
			time.Sleep(70 * ms)
		}
		time.Sleep(1500 * ms) // until nothing is left
		if got, want := reports(l), []string{"1 at 1.2s", "14 at 2.2s", "14 at 3.2s", "14 at 4.2s", "14 at 5.2s"}; !slices.Equal(got, want) {
			t.Errorf("stored %q, want %q", got, want)
		}
		speaks(all[0])
		synctest.Wait()
		if n := o.Reported(all[0].ID(), time.Since(o.Begun)); n != 1 {
			t.Errorf("after a rest %d reports at once, want 1", n)
		}
		sum := int64(0)
		for _, s := range all {
			l.Mu.Lock()
			for _, r := range slices.Backward(l.Reports) {
				if r.ID == s.ID() {
					sum += r.Usage[billing.AudioOut]
					break
				}
			}
			l.Mu.Unlock()
			s.End(hungUp)
		}
		if sum != 58 {
			t.Errorf("%d completions are stored, want 58", sum)
		}
	})
}

// TestWhatDoesNotWaitForCompletions: an answer of a telephone, and an account that nothing is left of. They take along what waits.
func TestWhatDoesNotWaitForCompletions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &sessiontest.FakeLedger{Checkpoint: func(time.Duration, *ledger.Session) ledger.CheckpointResult { return rich }}
		o := l.Open(t, 0)
		a, b, phone := o.Enter(web), o.Enter(web), o.Enter(inbound)
		o.Payer = "b"
		other := o.Enter(web)
		time.Sleep(1200 * ms)
		speaks(a)
		time.Sleep(100 * ms)
		speaks(b)
		time.Sleep(100 * ms)
		phone.Begin()
		time.Sleep(100 * ms)
		speaks(b)
		time.Sleep(100 * ms)
		o.Goodbye("b")
		time.Sleep(time.Second)
		if got, want := reports(l), []string{"1 at 1.2s", "2 at 1.4s", "2 at 1.6s"}; !slices.Equal(got, want) {
			t.Errorf("stored %q, want %q", got, want)
		}
		for _, s := range []*session.Session{a, b, phone, other} {
			s.End(hungUp)
		}
	})
}

// TestALockedWalletIsAskedAgainSoon, and not without a rest.
func TestALockedWalletIsAskedAgainSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &sessiontest.FakeLedger{Checkpoint: func(at time.Duration, _ *ledger.Session) (r ledger.CheckpointResult) {
			if at < 4*time.Second {
				r.Err = ledger.ErrLater
			}
			return r
		}}
		o := l.Open(t, 0)
		s := o.Enter(web)
		time.Sleep(1300 * ms)
		speaks(s)
		time.Sleep(4 * time.Second)
		var asked []time.Duration
		l.Mu.Lock()
		for _, r := range l.Reports {
			asked = append(asked, r.At)
		}
		l.Mu.Unlock()
		// The round of all sessions, and then it is asked for before its time until it is stored.
		if want := []time.Duration{time.Second, time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second}; !slices.Equal(asked, want) {
			t.Errorf("asked at %v, want %v", asked, want)
		}
		s.End(hungUp)
	})
}
