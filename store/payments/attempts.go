package payments

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
)

// RechargeAttempt is one charge to a saved card.
type RechargeAttempt struct {
	ID       string // the provider's idempotency key
	Account  string
	Provider string // its Name
	Customer string // what the provider calls the account; empty when it does not know it
	Amount   billing.Money
	MadeAt   time.Time
}

// BeginRecharge hands out an attempt to charge now, or nil when there is nothing to do:
// it has ended, or has to wait for the end of a dispute because it may have been
// charged. One that certainly was not is canceled when it is not wanted any more.
// Several may be given the same attempt: its ID makes the charge happen once.
func (s *Store) BeginRecharge(ctx context.Context, account, id string) (begun *RechargeAttempt, err error) {
	err = s.ledger.Locked(ctx, "begin recharge", account, func(w *ledger.Tx) error {
		a := &RechargeAttempt{ID: id, Account: account}
		var topup, state string
		err = w.QueryRow(ctx, `select t.id, t.provider, a.amount_nano, a.state, a.created_at, coalesce(c.customer, '')
			from recharge_attempts a join topups t on t.id = a.topup_id
			left join provider_customers c on c.account_id = a.account_id and c.provider = t.provider
			where a.account_id = $1 and a.id = $2 for update of a`, account, id).
			Scan(&topup, &a.Provider, &a.Amount, &state, &a.MadeAt, &a.Customer)
		if err != nil {
			return err
		}
		frozen := w.Frozen() != nil
		switch {
		case state != "pending" && state != "processing":
			return nil
		case state == "pending" && (frozen || !w.NeedsRecharge()):
			return endRecharge(ctx, w, account, topup, TopUpCanceled, "", "")
		case !frozen:
			begun = a
		}
		return store.Do(ctx, w, `update recharge_attempts set look_at = $3, state = case when $4 then 'processing' else state end
			where account_id = $1 and id = $2`, account, id, w.Now().Add(ledger.RechargeLook), !frozen)
	})
	if err != nil {
		return nil, err
	}
	return begun, nil
}

// endRecharge ends an attempt and its top-up, if they are open, without any money.
func endRecharge(ctx context.Context, w *ledger.Tx, account, topup string, state TopUpState, why RechargeFailure, code string) error {
	t, err := lockTopUp(ctx, w, account, topup)
	if err != nil {
		return err
	}
	s := reconciling{w, t, &pgx.Batch{}}
	s.endTopUp(state)
	if err := s.recharged(ctx, why, code); err != nil {
		return err
	}
	return s.save(ctx, "")
}

// FailRecharge ends an attempt for which no money will come; code is the provider's
// word for why. One that has ended stays as it is.
func (s *Store) FailRecharge(ctx context.Context, account, id string, why RechargeFailure, code string) error {
	return s.ledger.Locked(ctx, "fail recharge", account, func(w *ledger.Tx) error {
		topup, err := store.Scalar[string](ctx, w, "select topup_id from recharge_attempts where account_id = $1 and id = $2", account, id)
		if err != nil {
			return err
		}
		return endRecharge(ctx, w, account, topup, TopUpFailed, why, code)
	})
}

// recharged brings the attempt of an automatic top-up to the top-up's state. why and
// code say why it failed, if it did.
func (s *reconciling) recharged(ctx context.Context, why RechargeFailure, code string) error {
	if s.t.State.Open() {
		return store.Do(ctx, s, "update recharge_attempts set state = 'processing' where account_id = $1 and topup_id = $2 and state = 'pending'",
			s.t.Account, s.t.ID)
	}
	// Money may come for one that was given up.
	id, err := store.Scalar[string](ctx, s, `update recharge_attempts set state = $3, ended_at = $4
		where account_id = $1 and topup_id = $2 and (ended_at is null or $3 = 'succeeded' and state <> 'succeeded') returning id`,
		s.t.Account, s.t.ID, s.t.State, s.Now())
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err != nil:
		return err
	case s.t.State == TopUpSucceeded:
		return s.rechargePaid(ctx)
	case s.t.State == TopUpFailed:
		return s.rechargeFailed(ctx, id, why, code)
	}
	return nil
}

// SweepRecharges makes good what was missed: it puts in line again the attempts that
// have not been settled for a while, by enqueue, and makes those that no checkpoint has
// noticed to be due, as at the beginning of a month. It returns how many of the
// first. Any node may call it at any time.
func (s *Store) SweepRecharges(ctx context.Context, enqueue store.Enqueue) (int, error) {
	now := s.db.Time(ctx)
	// What is locked is being worked on. These locks come without the wallets', so nothing waits here.
	open, err := s.db.Requeue(ctx, "sweep recharges", enqueue, `update recharge_attempts set look_at = $2 where id in (select id from recharge_attempts
			where ended_at is null and look_at <= $1 order by look_at limit 100 for update skip locked)
		returning account_id, id`, now, now.Add(ledger.RechargeLook))
	if err != nil {
		return 0, err
	}
	return open, s.ledger.RechargeDue(ctx)
}
