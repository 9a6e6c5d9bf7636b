package ledger_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
	"parley/store/storetest"
)

// talking is accounts with telephone calls, as many of them as limits and the floor let have another minute, and others.
type talking struct {
	accounts, subjects []string // subjects are limited
	sessions           []*ledger.Session
}

// talks makes the same accounts and calls each time.
func (f *fixture) talking() *talking {
	f.T.Helper()
	x := &talking{}
	call := func(account, key, agent string, terms billing.Terms) *ledger.Session {
		f.T.Helper()
		s, err := f.startBy(account, key, agent, terms, t0)
		f.OK(err)
		x.sessions = append(x.sessions, s)
		return s
	}
	rich, poor := f.NewAccount(100*usd), f.NewAccount(100*usd)
	for range 3 {
		call(rich, "", "", outboundES)
		call(rich, "", "", inboundES)
	}
	f.CloseWith(call(rich, "", "", inboundES), billing.Usage{})
	f.Adjust(poor, 6*usd)
	for range 3 {
		call(poor, "", "", outboundES)
		call(poor, "", "", inboundES)
	}
	// What is left of the paid pot above the floor is 3 USD, and 8 with the bonus: some of the next minutes pass one, or both.
	f.MustCheckpoint(call(poor, "", "", outboundES), 1, billing.Usage{billing.LineTime: 1, billing.WebSearches: 273})
	x.accounts = []string{rich, poor}
	for _, limited := range []int{0, 1, 2} { // the account, its key or its agent
		account, key, agent := f.spender()
		x.accounts = append(x.accounts, account)
		for range 3 {
			call(account, key, agent, outboundES)
			call(account, key, "", inboundES)
			call(account, "", agent, outboundES)
		}
		subject := []string{account, key, agent}[limited]
		x.subjects = append(x.subjects, subject)
		s := x.sessions[len(x.sessions)-1]
		l, err := f.SpendingLimit(f.Context(), account, subject)
		f.OK(err)
		f.limit(account, subject, l.Held+3*s.Tariff.LineMinute()+billing.Cent)
	}
	foreign, fenced, nobodys := *x.sessions[0], *x.sessions[1], *x.sessions[2]
	foreign.Account, fenced.Node.Epoch, nobodys.Account = poor, fenced.Node.Epoch-1, "acc_nobody"
	x.sessions = append(x.sessions, &foreign, &fenced, &nobodys)
	return x
}

// state is what there is of them: wallets, and what is counted for limits.
func (f *fixture) state(x *talking) (all string) {
	f.T.Helper()
	for _, account := range x.accounts {
		all += fmt.Sprintf("%+v\n", f.Show(account).Pots)
	}
	for i, subject := range x.subjects {
		l, err := f.SpendingLimit(f.Context(), x.accounts[i+2], subject)
		f.OK(err)
		all += fmt.Sprintf("held %s, spent %s\n", l.Held, l.Spent)
	}
	return all
}

// TestMinutesTogether: those that are asked for at once get the answers, and hold what they would, one after the other.
func TestMinutesTogether(t *testing.T) {
	f := setup(t)
	seen := map[string]int{}
	for seed := range uint64(4) {
		together, single := f.talking(), f.talking()
		rng := rand.New(rand.NewPCG(seed, 7))
		for round := range int64(4) {
			var ms []ledger.Minute
			var want []error
			for _, i := range rng.Perm(len(together.sessions)) {
				for range 1 + rng.IntN(4)/3 {
					number := round + 1 + rng.Int64N(3) // permitted already, the next, or one too early
					ms = append(ms, ledger.Minute{Session: together.sessions[i], Number: number})
					err := f.LineMinute(f.Context(), single.sessions[i], number)
					want = append(want, err)
					seen[kindOf(err)]++
				}
			}
			got, err := f.Ledger.LineMinutes(f.Context(), ms)
			f.OK(err)
			for i := range ms {
				if kindOf(got[i]) != kindOf(want[i]) {
					t.Errorf("seed %d, round %d: minute %d of %s: %v, and by itself %v", seed, round, ms[i].Number, ms[i].Session.ID, got[i], want[i])
				}
			}
			if got, want := f.state(together), f.state(single); got != want {
				t.Fatalf("seed %d, round %d: there is\n%s, and one after the other\n%s", seed, round, got, want)
			}
		}
		for _, s := range append(together.sessions, single.sessions...) {
			_, err := f.CloseSession(f.Context(), s, ledger.Closing{Reason: "user_hangup"})
			if !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrFenced) {
				f.OK(err)
			}
		}
		for _, account := range append(together.accounts, single.accounts...) {
			if held := f.Show(account).Pots.Held; held != 0 {
				t.Errorf("%s is held when all calls are over", held)
			}
		}
	}
	t.Logf("answers: %v", seen)
	for _, err := range []error{nil, store.ErrInsufficientBalance, store.ErrSpending, store.ErrFenced, store.ErrNotFound, store.ErrInvalid} {
		if seen[kindOf(err)] == 0 {
			t.Errorf("no minute was answered with %v", err)
		}
	}
	f.Verified()
}

// kindOf is which of the store's errors err is.
func kindOf(err error) string {
	if ours, ok := errors.AsType[store.Error](err); ok {
		return ours.Error()
	}
	return fmt.Sprint(err)
}

// TestMinutesOfALockedWallet: they are for later, those of others are permitted.
func TestMinutesOfALockedWallet(t *testing.T) {
	url := storetest.URL(t)
	f := prepare(t, storetest.Open(t, url))
	one, other := f.Start(f.NewAccount(10*usd), outboundES), f.Start(f.NewAccount(10*usd), outboundES)
	release := f.lock(url, one.Account)
	ms := []ledger.Minute{{Session: one, Number: 2}, {Session: other, Number: 2}}
	answers, err := f.Ledger.LineMinutes(f.Context(), ms)
	f.OK(err)
	f.Is(answers[0], ledger.ErrLater)
	f.OK(answers[1])
	release()
	answers, err = f.Ledger.LineMinutes(f.Context(), ms)
	f.OK(err)
	f.OK(errors.Join(answers...))
	for _, s := range []*ledger.Session{one, other} {
		if held := f.Show(s.Account).Pots.Held; held != 2*s.Tariff.LineMinute() {
			t.Errorf("%s is held, want two minutes", held)
		}
	}
	f.Verified()
}

// TestCreditEndsBeforeAMinute: of an account whose credit has expired no minute is decided before it is taken out; others
// do not wait for that.
func TestCreditEndsBeforeAMinute(t *testing.T) {
	f := setup(t)
	expires, other := f.Start(f.NewAccount(0), inboundES), f.Start(f.NewAccount(100*usd), inboundES)
	day91 := f.At(t0.AddDate(0, 0, 91))
	f.MustCheckpoint(expires, 1, billing.Usage{billing.LineTime: 60_000, billing.AgentTime: 60_000, billing.WebSearches: 699})
	_, err := f.Ledger.LineMinutes(day91, []ledger.Minute{{Session: other, Number: 2}}) // its own expires, too
	f.OK(err)
	ms := []ledger.Minute{{Session: expires, Number: 2}, {Session: other, Number: 2}}
	for _, want := range [][2]error{{ledger.ErrLater, nil}, {store.ErrInsufficientBalance, nil}} {
		answers, err := f.Ledger.LineMinutes(day91, ms)
		f.OK(err)
		for i := range ms {
			if kindOf(answers[i]) != kindOf(want[i]) {
				t.Errorf("minute %d: %v, want %v", i, answers[i], want[i])
			}
		}
		if bonus := f.Show(expires.Account).Pots.Bonus; bonus != 0 {
			t.Errorf("%s of bonus are left", bonus)
		}
	}
	for _, s := range []*ledger.Session{expires, other} {
		_, err := f.CloseSession(day91, s, ledger.Closing{Reason: "user_hangup", StartedAt: t0})
		f.OK(err)
	}
	f.Verified()
}

// TestMinutesOfManyAreFewStatements, however many calls and accounts there are.
func TestMinutesOfManyAreFewStatements(t *testing.T) {
	address, counter := storetest.Counted(t, storetest.URL(t))
	f := prepare(t, storetest.Open(t, address))
	count := func(accounts int) (n int) {
		t.Helper()
		var ms []ledger.Minute
		for range accounts {
			account, key, agent := f.spender()
			f.limit(account, key, 50*usd)
			f.limit(account, agent, 50*usd)
			for range 5 {
				s, err := f.startBy(account, key, agent, outboundES, t0)
				f.OK(err)
				ms = append(ms, ledger.Minute{Session: s, Number: 2})
			}
		}
		counter.Take()
		answers, err := f.Ledger.LineMinutes(f.Context(), ms)
		f.OK(err)
		f.OK(errors.Join(answers...))
		seen := counter.Take()
		for _, times := range seen {
			n += times
		}
		if len(seen) != n {
			t.Errorf("%d accounts:\n%s", accounts, storetest.Report(seen))
		}
		return n
	}
	if one, many := count(1), count(12); one != many || many > 7 {
		t.Errorf("%d statements for five minutes, %d for sixty", one, many)
	}
	f.Verified()
}
