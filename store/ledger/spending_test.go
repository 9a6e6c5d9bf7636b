package ledger_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
	"parley/store/ledger/ledgertest"
	"parley/store/people"
	"parley/store/storetest"
	"parley/store/tasks"
)

func (f *fixture) limit(account, subject string, amount billing.Money) *ledger.SpendingLimit {
	f.T.Helper()
	l, err := f.SetSpendingLimit(f.Context(), account, subject, &amount)
	f.OK(err)
	return l
}

// spender is an account with a key and an agent.
func (f *fixture) spender() (account, key, agent string) {
	f.T.Helper()
	account = f.NewAccount(100 * usd)
	k, _, err := people.New(f.DB).MakeKey(f.Context(), people.NewKey{Account: account, Name: "key", Role: people.RoleMember})
	f.OK(err)
	a, err := f.CreateAgent(f.Context(), account, store.Agent{Name: "Agent", Voice: "F1", Language: "en"})
	f.OK(err)
	return account, k.ID, a.ID
}

func (f *fixture) startBy(account, key, agent string, terms billing.Terms, now time.Time) (*ledger.Session, error) {
	r := f.Request(account, terms)
	r.Key, r.Agent = key, agent
	return f.StartSession(f.At(now), r)
}

func (f *fixture) report(s *ledger.Session, seq int64, u billing.Usage, now time.Time) ledger.CheckpointResult {
	f.T.Helper()
	r, err := f.Checkpoints(f.At(now), []ledger.Checkpoint{{Session: s, Seq: seq, StartedAt: t0, Usage: u}})
	f.OK(err)
	f.OK(r[0].Err)
	return r[0]
}

func (f *fixture) spentBy(account, subject string, now time.Time) billing.Money {
	f.T.Helper()
	l, err := f.SpendingLimit(f.At(now), account, subject)
	f.OK(err)
	return l.Spent
}

const tenMinutes = 600_000 // ms; costs 0.80 USD

func TestALimitEndsWhatIsInProgressAndLetsNothingBegin(t *testing.T) {
	for _, whose := range []string{"account", "key", "agent"} {
		t.Run(whose, func(t *testing.T) {
			f := setup(t)
			account, key, agent := f.spender()
			subject := map[string]string{"account": account, "key": key, "agent": agent}[whose]
			f.limit(account, subject, usd)
			s, err := f.startBy(account, key, agent, web, t0)
			f.OK(err)
			if r := f.report(s, 1, billing.Usage{billing.AgentTime: tenMinutes}, t0); r.Room == nil || *r.Room != 20*billing.Cent {
				t.Fatalf("after 0.80 of 1 USD the checkpoint leaves %v", r.Room)
			}
			again, err := f.startBy(account, key, agent, web, t0)
			f.OK(err) // there is room
			if r := f.report(s, 2, billing.Usage{billing.AgentTime: 2 * tenMinutes}, t0); r.Room == nil || *r.Room != -60*billing.Cent {
				t.Fatalf("after 1.60 of 1 USD the checkpoint leaves %v", r.Room)
			}
			if r := f.report(again, 1, billing.Usage{}, t0); r.Room == nil || *r.Room != -60*billing.Cent {
				t.Errorf("another session of it has %v left", r.Room)
			}
			for _, terms := range []billing.Terms{web, inboundES, outboundES} {
				if _, err := f.startBy(account, key, agent, terms, t0); !errors.Is(err, store.ErrSpending) {
					t.Errorf("%s: %v; want ErrSpending", terms.Kind, err)
				}
			}
			f.CloseWith(s, billing.Usage{billing.AgentTime: 3 * tenMinutes})
			if got := f.spentBy(account, subject, t0); got != 240*billing.Cent {
				t.Errorf("counted %s; want 2.40", got)
			}
			if subject != account { // nobody else is bound
				other, err := f.startBy(account, "", "", web, t0)
				f.OK(err)
				if r := f.report(other, 1, billing.Usage{billing.AgentTime: tenMinutes}, t0); r.Room != nil {
					t.Errorf("a session without key and agent has %s left", *r.Room)
				}
			}
			if err := f.MaySpendAfter(f.Context(), account, s.ID); !errors.Is(err, store.ErrSpending) {
				t.Errorf("what comes after a call may be charged: %v", err)
			}
			if err := f.MaySpend(f.Context(), account, key); errors.Is(err, store.ErrSpending) != (subject != agent) {
				t.Errorf("the key may begin: %v", err)
			}
			f.Verified()
			next := t0.Add(12 * time.Hour) // midnight
			if got := f.spentBy(account, subject, next); got != 0 {
				t.Errorf("the next day begins with %s", got)
			}
			s, err = f.startBy(account, key, agent, web, next)
			f.OK(err)
			if r := f.report(s, 1, billing.Usage{billing.AgentTime: tenMinutes}, next); *r.Room != 20*billing.Cent {
				t.Errorf("the next day leaves %s", *r.Room)
			}
			f.Verified()
		})
	}
}

func TestALimitCountsWhatIsHeld(t *testing.T) {
	f := setup(t)
	account, key, agent := f.spender()
	f.limit(account, key, usd)
	s, err := f.startBy(account, key, agent, outboundES, t0)
	f.OK(err)
	minute := s.Tariff.LineMinute()
	f.limit(account, key, minute+minute/2)
	if _, err := f.startBy(account, key, agent, outboundES, t0); !errors.Is(err, store.ErrSpending) {
		t.Errorf("a second call may begin: %v", err)
	}
	if err := f.LineMinute(f.Context(), s, 2); !errors.Is(err, store.ErrSpending) {
		t.Errorf("a second minute may begin: %v", err)
	}
	f.limit(account, key, 3*minute)
	f.OK(f.LineMinute(f.Context(), s, 2))
	l, err := f.SpendingLimit(f.Context(), account, key)
	f.OK(err)
	if l.Held != 2*minute || l.Spent != 0 {
		t.Errorf("held %s, spent %s; want two minutes held", l.Held, l.Spent)
	}
	f.Verified()
	cost := f.CloseWith(s, billing.Usage{billing.LineTime: 61_000})
	l, err = f.SpendingLimit(f.Context(), account, key)
	f.OK(err)
	if l.Held != 0 || l.Spent != cost {
		t.Errorf("held %s, spent %s; want %s spent", l.Held, l.Spent, cost)
	}
	f.Verified()
}

func TestWorkThatIsDearerThanTheRestDoesNotBegin(t *testing.T) {
	f := setup(t)
	account, key, _ := f.spender()
	r := f.Request(account, billing.Terms{Kind: billing.TTS})
	r.Key = key
	r.Expect[billing.TTSChars] = 100_000
	cost := price(t, r.Terms, r.Expect)
	f.limit(account, key, cost-1)
	if _, err := f.StartSession(f.Context(), r); !errors.Is(err, store.ErrSpending) {
		t.Errorf("it begins: %v", err)
	}
	task := tasks.Submission{Node: f.Node, Account: account, Key: key, Card: card, Chars: 100_000, Script: tasks.Script{Text: "x", Voice: "F1", Language: "en", Format: "wav"}}
	if _, err := f.Tasks.Submit(f.Context(), task, nil); !errors.Is(err, store.ErrSpending) {
		t.Errorf("a task begins: %v", err)
	}
	f.limit(account, key, cost)
	_, err := f.StartSession(f.Context(), r)
	f.OK(err)
}

func TestALimitBelongsToItsAccount(t *testing.T) {
	f := setup(t)
	account, key, agent := f.spender()
	other := f.NewAccount(0)
	for _, subject := range []string{account, key, agent, "key_none", "none"} {
		amount := usd
		if _, err := f.SetSpendingLimit(f.Context(), other, subject, &amount); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("another account sets a limit of %s: %v", subject, err)
		}
		if _, err := f.SpendingLimit(f.Context(), other, subject); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("another account reads the limit of %s: %v", subject, err)
		}
	}
	f.limit(account, agent, usd)
	all, err := f.SpendingLimits(f.Context(), account, store.Page{})
	f.OK(err)
	if len(all) != 2 || all[0].Subject != agent || all[0].Name != "Agent" || all[1].Subject != account || all[1].Limit != nil {
		t.Errorf("the limits are %+v", all)
	}
	negative := -usd
	if _, err := f.SetSpendingLimit(f.Context(), account, account, &negative); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a negative limit: %v", err)
	}
	_, err = f.SetSpendingLimit(f.Context(), account, agent, nil)
	f.OK(err)
	s, err := f.startBy(account, key, agent, web, t0)
	f.OK(err)
	if r := f.report(s, 1, billing.Usage{billing.AgentTime: tenMinutes}, t0); r.Room != nil {
		t.Errorf("without a limit %s are left", *r.Room)
	}
	// What was charged before there was a limit counts.
	if l := f.limit(account, agent, 2*usd); l.Spent != 80*billing.Cent {
		t.Errorf("a new limit begins with %s", l.Spent)
	}
	f.Verified()
}

func TestAnAccountIsWarnedOfItsLimits(t *testing.T) {
	f := setup(t)
	account, key, agent := f.spender()
	f.limit(account, key, usd)
	s, err := f.startBy(account, key, agent, web, t0)
	f.OK(err)
	told := func() (about []string) {
		all, err := f.Warnings(f.Context(), account, store.Page{})
		f.OK(err)
		for _, w := range all {
			if w.Kind == store.WarnSpending {
				about = append(about, fmt.Sprint(w.About, " ", *w.Data.Spent, " of ", *w.Data.Limit))
			}
		}
		return about
	}
	f.report(s, 1, billing.Usage{billing.AgentTime: tenMinutes - 1000}, t0)
	if got := told(); len(got) != 0 {
		t.Fatalf("below four fifths it was told %q", got)
	}
	f.report(s, 2, billing.Usage{billing.AgentTime: tenMinutes}, t0)
	f.report(s, 3, billing.Usage{billing.AgentTime: tenMinutes + 60_000}, t0)
	if got := told(); len(got) != 1 || got[0] != key+" 2026-03-01 80 0.8 of 1" {
		t.Fatalf("at four fifths it was told %q", got)
	}
	f.report(s, 4, billing.Usage{billing.AgentTime: 2 * tenMinutes}, t0.Add(time.Second))
	f.CloseWith(s, billing.Usage{billing.AgentTime: 3 * tenMinutes})
	if got := told(); len(got) != 2 || got[0] != key+" 2026-03-01 100 1.6 of 1" {
		t.Fatalf("at the limit it was told %q", got)
	}
	f.Verified()
}

// TestLimitsAddUpWhateverComesAtOnce sets limits while sessions are reported and closed by
// several at once, over midnight, and compares the counters with the sessions.
func TestLimitsAddUpWhateverComesAtOnce(t *testing.T) {
	f := setup(t)
	account, key, agent := f.spender()
	concurrency := 100
	f.OK(f.ChangeAccount(f.Context(), account, ledger.AccountChange{Concurrency: &concurrency}))
	var wg sync.WaitGroup
	midnight := t0.Add(12 * time.Hour)
	at := func() time.Time { return midnight.Add(time.Duration(rand.Int64N(2000)-1000) * time.Millisecond) }
	for range 8 {
		wg.Go(func() {
			for n := range 6 {
				var s *ledger.Session
				err := ledgertest.Insist(func() (err error) {
					s, err = f.startBy(account, key, agent, []billing.Terms{web, outboundES}[n%2], at())
					return err
				})
				if errors.Is(err, store.ErrSpending) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				for seq := range int64(4) {
					used := billing.Usage{billing.AgentTime: seq * 7000, billing.LineTime: seq * 7000}
					err := ledgertest.Insist(func() error {
						_, err := f.Checkpoint(f.At(at()), ledger.Checkpoint{Session: s, Seq: seq + 1, StartedAt: t0, Usage: used})
						return err
					})
					if err != nil {
						t.Error(err)
					}
				}
				if n == 5 {
					continue
				}
				err = ledgertest.Insist(func() error {
					_, err := f.CloseSession(f.At(at()), s, ledger.Closing{Reason: "user_hangup", StartedAt: t0})
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	for _, subject := range []string{account, key, agent} {
		wg.Go(func() {
			for n := range 20 {
				limit := new(billing.Money)
				if *limit = billing.Money(rand.Int64N(10)) * usd; n%5 == 3 {
					limit = nil
				}
				if n == 19 {
					*limit = 50 * usd
				}
				err := ledgertest.Insist(func() error {
					_, err := f.SetSpendingLimit(f.At(at()), account, subject, limit)
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	f.Verified()
}

// TestALimitSetDuringAReport: what is reported in the moment in which a key or an agent gets a limit counts towards it, whichever
// of the two comes first.
func TestALimitSetDuringAReport(t *testing.T) {
	f := setup(t)
	account, key, agent := f.spender()
	f.limit(account, account, 90*usd)
	s, err := f.startBy(account, key, agent, web, t0)
	f.OK(err)
	limit := 50 * usd
	for n := range int64(200) {
		subject, other := agent, key
		if n%2 == 0 {
			subject, other = key, agent
		}
		f.limit(account, other, limit) // so that the account's are counted
		_, err := f.SetSpendingLimit(f.Context(), account, subject, nil)
		f.OK(err)
		var both sync.WaitGroup
		both.Go(func() {
			time.Sleep(time.Duration(rand.Int64N(int64(4 * time.Millisecond))))
			if err := ledgertest.Insist(func() error {
				_, err := f.SetSpendingLimit(f.Context(), account, subject, &limit)
				return err
			}); err != nil {
				t.Error(err)
			}
		})
		both.Go(func() {
			time.Sleep(time.Duration(rand.Int64N(int64(4 * time.Millisecond))))
			if err := ledgertest.Insist(func() error {
				_, err := f.Checkpoint(f.Context(), ledger.Checkpoint{Session: s, Seq: n + 1, StartedAt: t0, Usage: billing.Usage{billing.AgentTime: 1000 * (n + 1)}})
				return err
			}); err != nil {
				t.Error(err)
			}
		})
		both.Wait()
		if one, all := f.spentBy(account, subject, t0), f.spentBy(account, account, t0); one != all {
			t.Fatalf("round %d: %s were spent by %s, which was limited meanwhile, and %s are counted", n, all, subject, one)
		}
	}
	f.Verified()
}

func TestVerifyFindsACounterThatIsWrong(t *testing.T) {
	url := storetest.URL(t)
	f := prepare(t, storetest.Open(t, url))
	conn, err := pgx.Connect(t.Context(), url)
	f.OK(err)
	defer conn.Close(t.Context())
	account, key, agent := f.spender()
	for _, subject := range []string{account, key, agent} {
		f.limit(account, subject, 50*usd)
	}
	s, err := f.startBy(account, key, agent, web, t0)
	f.OK(err)
	f.report(s, 1, billing.Usage{billing.AgentTime: tenMinutes}, t0)
	f.Verified()
	for _, table := range []string{"wallets", "api_keys", "agents"} {
		_, err := conn.Exec(f.Context(), "update "+table+" set spent_nano = spent_nano - 1 where spent_nano > 0")
		f.OK(err)
		if v := f.Violations(); len(v) != 1 || v[0].Invariant != 29 {
			t.Errorf("%s: %v", table, v)
		}
		_, err = conn.Exec(f.Context(), "update "+table+" set spent_nano = spent_nano + 1 where spent_nano > 0")
		f.OK(err)
	}
}
