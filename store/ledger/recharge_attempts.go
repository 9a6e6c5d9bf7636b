package ledger

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"

	"parley/store"
)

// rechargeLook is after how long an attempt that is not settled is queued again: longer than a job may take, and than it waits to be tried again.
const rechargeLook = 5 * time.Minute

// wanted is what must hold, besides a balance below the threshold, of the settings r
// at the time $1 in the month $2, where a charge is at most $3. It is asked before a
// wallet is locked for an attempt, and again to make it.
const wanted = `r.enabled and (r.not_before is null or r.not_before <= $1)
	and not exists (select from recharge_attempts a where a.account_id = r.account_id
		and (a.ended_at is null or a.state = 'succeeded' and a.ended_at > $1::timestamptz - ` + rechargePause + `))
	and exists (select from topups t where t.account_id = r.account_id and t.provider = r.provider and t.state = 'succeeded' and not t.automatic)
	and least(r.amount_nano, $3::bigint) + (select coalesce(sum(a.amount_nano), 0) from recharge_attempts a where a.account_id = r.account_id
		and a.month = $2 and a.state in ('pending', 'processing', 'succeeded')) <= r.cap_nano`

// recharge makes an attempt when the wallet is below its threshold and nothing speaks
// against it. w is locked and its pots are final.
func (w *Tx) recharge(ctx context.Context) error {
	if w.rechargeBelow == nil || w.pots.Balance() >= *w.rechargeBelow || w.disputes > 0 || w.suspended {
		return nil
	}
	id := store.NewID(store.RechargeID, w.now)
	tag, err := w.Exec(ctx, `with r as (select least(amount_nano, $3) as amount_nano, cap_nano, provider from recharges r where account_id = $4 and `+wanted+`),
		t as (insert into topups (id, account_id, provider, amount_nano, state, created_at, automatic)
			select $6, $4, provider, amount_nano, 'pending', $1, true from r)
		insert into recharge_attempts (id, account_id, no, topup_id, month, amount_nano, cap_nano, state, created_at, look_at)
			select $5, $4, 1 + (select coalesce(max(no), 0) from recharge_attempts where account_id = $4), $6, $2, amount_nano, cap_nano,
				'pending', $1, $7 from r`,
		w.now, monthOf(w.now), w.ledger.db.MaxRecharge(), w.account, id, store.NewID(store.TopUpID, w.now), w.now.Add(rechargeLook))
	if err != nil || tag.RowsAffected() == 0 {
		return err
	}
	return w.ledger.db.Enqueue(ctx, w, store.ChargeRecharge, w.account, id)
}

// rechargeNoticed makes an attempt for an account that a checkpoint found below its
// threshold, unless one look says that there is none to make.
func (l *Ledger) rechargeNoticed(ctx context.Context, account string) error {
	now := l.db.Time(ctx)
	due, err := store.Value[bool](ctx, l.db, "notice recharge", "select exists (select from recharges r where r.account_id = $4 and "+wanted+")",
		now, monthOf(now), l.db.MaxRecharge(), account)
	if err != nil || !due {
		return err
	}
	return l.applyThresholds(ctx, account)
}

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
func (l *Ledger) BeginRecharge(ctx context.Context, account, id string) (begun *RechargeAttempt, err error) {
	err = l.Locked(ctx, "begin recharge", account, func(w *Tx) error {
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
		frozen := w.disputes > 0 || w.suspended
		needed := w.rechargeBelow != nil && w.pots.Balance() < *w.rechargeBelow
		switch {
		case state != "pending" && state != "processing":
			return nil
		case state == "pending" && (frozen || !needed):
			return endRecharge(ctx, w, topup, TopUpCanceled, "", "")
		case !frozen:
			begun = a
		}
		return store.Do(ctx, w, `update recharge_attempts set look_at = $3, state = case when $4 then 'processing' else state end
			where account_id = $1 and id = $2`, account, id, w.now.Add(rechargeLook), !frozen)
	})
	if err != nil {
		return nil, err
	}
	return begun, nil
}

// endRecharge ends an attempt and its top-up, if they are open, without any money.
func endRecharge(ctx context.Context, w *Tx, topup string, state TopUpState, why RechargeFailure, code string) error {
	t, err := lockTopUp(ctx, w, w.account, topup)
	if err != nil {
		return err
	}
	s := reconciling{w, t}
	s.endTopUp(state)
	if err := s.recharged(ctx, why, code); err != nil {
		return err
	}
	return s.save(ctx, "")
}

// FailRecharge ends an attempt for which no money will come; code is the provider's
// word for why. One that has ended stays as it is.
func (l *Ledger) FailRecharge(ctx context.Context, account, id string, why RechargeFailure, code string) error {
	return l.Locked(ctx, "fail recharge", account, func(w *Tx) error {
		topup, err := store.Scalar[string](ctx, w, "select topup_id from recharge_attempts where account_id = $1 and id = $2", account, id)
		if err != nil {
			return err
		}
		return endRecharge(ctx, w, topup, TopUpFailed, why, code)
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
		s.t.Account, s.t.ID, s.t.State, s.now)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err != nil:
		return err
	case s.t.State == TopUpSucceeded:
		return s.rechargePaid(ctx)
	case s.t.State == TopUpFailed:
		return s.rechargeFailed(ctx, id, s.t.Amount, why, code)
	}
	return nil
}

// SweepRecharges makes good what was missed: it puts in line again the attempts that
// have not been settled for a while, by enqueue, and makes those that no checkpoint has
// noticed to be due, as at the beginning of a month. It returns how many of the
// first. Any node may call it at any time.
func (l *Ledger) SweepRecharges(ctx context.Context, enqueue store.Enqueue) (int, error) {
	now := l.db.Time(ctx)
	// What is locked is being worked on. These locks come without the wallets', so nothing waits here.
	open, err := l.db.Requeue(ctx, "sweep recharges", enqueue, `update recharge_attempts set look_at = $2 where id in (select id from recharge_attempts
			where ended_at is null and look_at <= $1 order by look_at limit 100 for update skip locked)
		returning account_id, id`, now, now.Add(rechargeLook))
	if err != nil {
		return 0, err
	}
	due, err := store.List[string](ctx, l.db, "sweep recharges", `select w.account_id from wallets w join recharges r using (account_id)
		where w.recharge_below_nano is not null and w.open_disputes = 0 and not w.suspended
			and w.paid_nano + w.bonus_nano - w.accrued_any_nano - w.accrued_paid_nano < w.recharge_below_nano and `+wanted+`
		order by w.account_id`, now, monthOf(now), l.db.MaxRecharge())
	if err != nil {
		return 0, err
	}
	for _, account := range due {
		if err := l.applyThresholds(ctx, account); err != nil {
			return 0, err
		}
	}
	return open, nil
}
