package ledger_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"parley/billing"
	"parley/billing/payment"
	"parley/store"
	"parley/store/ledger"
	"parley/store/ledger/ledgertest"
)

// Whatever limits them, and with the least balance that lets a session start,
// exactly as many start as may.
func TestTwoHundredStartsReachExactlyTheLimit(t *testing.T) {
	const starts = 200
	for _, tt := range []struct {
		name            string
		paid            billing.Money
		override, limit int
		ticket          string
		refusal         error
	}{
		{"after a top-up", 10 * usd, 0, 10, "", store.ErrConcurrency},
		{"before one", 0, 0, 3, "", store.ErrConcurrency},
		{"the operator's limit", 10 * usd, 25, 25, "", store.ErrConcurrency},
		{"a ticket's", 10 * usd, 25, 4, "tkt", store.ErrTicketUsed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := setup(t)
			acc := f.NewAccount(tt.paid)
			f.Adjust(acc, 25*billing.Cent)
			f.OK(f.ChangeAccount(f.Context(), acc, ledger.AccountChange{Concurrency: &tt.override}))
			var started, refused atomic.Int32
			together(starts, func(int) {
				switch _, err := f.byTicket(acc, f.Node, tt.ticket, tt.limit); {
				case err == nil:
					started.Add(1)
				case errors.Is(err, tt.refusal):
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
			live := f.Show(acc).Live
			if int(started.Load()) != tt.limit || int(refused.Load()) != starts-tt.limit || live != tt.limit {
				t.Errorf("%d started, %d refused, %d live; the limit is %d", started.Load(), refused.Load(), live, tt.limit)
			}
			f.Verified()
		})
	}
}

func TestOneTopupDeliveredFiftyTimes(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(0)
	var applied atomic.Int32
	together(50, func(int) {
		p, once, err := f.Credit(f.Context(), ledger.Credit{Account: acc, Kind: ledger.Topup, Amount: 20 * usd, Key: "pi:1", Source: "sim"})
		if err != nil || p.Paid != 20*usd {
			t.Errorf("%+v, %v", p, err)
		}
		if once {
			applied.Add(1)
		}
	})
	if applied.Load() != 1 {
		t.Errorf("applied %d times", applied.Load())
	}
	f.Want(acc, billing.Pots{Paid: 20 * usd, Bonus: 5 * usd})
	f.Verified()
}

// A session closed from several sides at once is posted once.
func TestConcurrentClosesAndCheckpoints(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(10 * usd)
	for range 5 {
		s := f.Start(acc, outboundES)
		u := billing.Usage{billing.AgentTime: 30_000, billing.LineTime: 30_000}
		together(16, func(i int) {
			if i%2 == 0 {
				_, err := f.CloseSession(f.Context(), s, ledger.Closing{Reason: "user_hangup", StartedAt: t0, Usage: u})
				if err != nil {
					t.Error(err)
				}
				return
			}
			_, err := f.Checkpoint(f.Context(), ledger.Checkpoint{Session: s, Seq: int64(i), StartedAt: t0, Usage: u})
			if err != nil && !errors.Is(err, store.ErrFenced) {
				t.Error(err)
			}
		})
	}
	if a := f.Show(acc); a.Live != 0 || a.Pots.Held != 0 || a.Pots.AccruedPaid != 0 {
		t.Errorf("left over: %+v", a)
	}
	f.Verified()
}

// others are operations beside those of sessions in progress, which lock the same wallets.
func (f *fixture) others(accounts []string) []func(worker, round int) error {
	var tops, over []string
	for _, acc := range accounts {
		top := f.Begun(acc, 20*usd)
		f.Settle(f.Look(), ledgertest.Told(top, payment.Succeeded, 0), payment.Event{})
		s := f.Start(acc, inboundES)
		f.CloseWith(s, billing.Usage{billing.AgentTime: 1000, billing.LineTime: 1000})
		tops, over = append(tops, top.ID), append(over, s.ID)
		f.Buy(acc, fmt.Sprintf("+3493000000%d", len(tops)), t0)
	}
	without := func(err error, allowed ...error) error {
		for _, a := range allowed {
			if errors.Is(err, a) {
				return nil
			}
		}
		return err
	}
	return []func(worker, round int) error{
		func(_, round int) error {
			_, err := f.Payments.RequestRefund(f.Context(), accounts[round%4], tops[round%4], usd)
			return without(err, store.ErrInvalid, store.ErrInsufficientBalance) // the first is not settled
		},
		func(worker, round int) error {
			key := fmt.Sprintf("bonus:%d:%d", worker, round)
			c := ledger.Credit{Account: accounts[round%4], Kind: ledger.Bonus, Amount: usd, Key: key, ExpiresAt: t0.Add(time.Minute)}
			if _, _, err := f.Credit(f.Context(), c); err != nil {
				return err
			}
			_, err := f.ExpireLots(f.At(t0.Add(time.Minute)))
			return err
		},
		func(worker, round int) error {
			id, err := f.CreateCampaign(f.Context(), f.wish(accounts[(worker+round)%4], 10, t0), card, nil)
			if err == nil {
				_, err = f.ClaimRows(f.Context(), f.Node, card.Wallet(), 50)
			}
			if err == nil && round%2 == 0 {
				_, err = f.ExpireRows(f.At(t0.AddDate(0, 0, 2)), "late", "It was too late.")
			}
			if err == nil {
				err = f.CancelCampaign(f.Context(), accounts[(worker+round)%4], id, "cancelled", "It was cancelled.")
			}
			return err
		},
		func(_, round int) error {
			limit := 1000 * usd
			_, err := f.SetSpendingLimit(f.Context(), accounts[round%4], accounts[round%4], &limit)
			return err
		},
		func(_, round int) error {
			_, err := f.Numbers.Charge(f.At(t0.AddDate(0, round/4, 0)), card)
			return err
		},
		func(worker, round int) error {
			i := (worker + round) % 4
			_, err := f.HoldAfterwards(f.Context(), accounts[i], over[i], billing.Usage{billing.SummaryIn: 1000, billing.SummaryOut: 10}, time.Minute)
			return err
		},
	}
}

// Batches over shared accounts, closes, permits, top-ups, refunds, credit that ends, queued
// calls, limits and months of numbers from all sides end without a deadlock.
func TestNoDeadlocks(t *testing.T) {
	f := setup(t)
	var sessions []*ledger.Session
	var accounts []string
	for range 4 {
		acc := f.NewAccount(100 * usd)
		accounts = append(accounts, acc)
		for range 5 {
			sessions = append(sessions, f.Start(acc, outboundES))
		}
	}
	others := f.others(accounts)
	together(12+2*len(others), func(worker int) {
		for round := range 10 {
			var err error
			if worker >= 12 {
				if err = others[worker%len(others)](worker, round); err != nil {
					t.Error(err)
				}
				continue
			}
			switch worker % 4 {
			case 0, 1:
				var cs []ledger.Checkpoint
				for i := range sessions { // forwards or backwards, as a node might have them
					s := sessions[i]
					if worker%2 == 1 {
						s = sessions[len(sessions)-1-i]
					}
					cs = append(cs, ledger.Checkpoint{Session: s, Seq: int64(round*12 + worker), StartedAt: t0,
						Usage: billing.Usage{billing.AgentTime: int64(round * 1000), billing.LineTime: int64(round * 1000)}})
				}
				_, err = f.Checkpoints(f.Context(), cs)
			case 2:
				var ms []ledger.Minute
				for i := range sessions {
					ms = append(ms, ledger.Minute{Session: sessions[(worker+round*7+i*3)%len(sessions)], Number: 2})
				}
				var answers []error
				answers, err = f.Ledger.LineMinutes(f.Context(), ms)
				for _, answer := range answers {
					if !errors.Is(answer, store.ErrFenced) && !errors.Is(answer, ledger.ErrLater) {
						err = errors.Join(err, answer)
					}
				}
			case 3:
				s := sessions[(worker+round*3)%len(sessions)]
				if _, err = f.CloseSession(f.Context(), s, ledger.Closing{Reason: "user_hangup"}); err == nil {
					key := fmt.Sprintf("pi:%d:%d", worker, round)
					_, _, err = f.Credit(f.Context(), ledger.Credit{Account: accounts[round%4], Kind: ledger.Topup, Amount: usd, Key: key, Source: "sim"})
				}
			}
			if err != nil {
				t.Error(err)
			}
		}
	})
	f.Verified()
}
