package ledger

import (
	"context"
	"time"

	"parley/billing"
	"parley/store"
)

// Automatic recharge begins where a balance falls, in the transaction that lets it fall: here an attempt is made.
// Its outcome, and what the owner sets, is in package payments.

const (
	// RechargeLook is after how long an attempt that is not settled is queued again: longer than a job may take, and than it waits to be tried again.
	RechargeLook = 5 * time.Minute
	// RechargePause is how long after a charge that succeeded the card is charged again at
	// the earliest: settings that are wrong, or not the owner's, are noticed before much is gone.
	RechargePause = 10 * time.Minute
	rechargePause = "interval '10 minutes'"
)

// wanted is what must hold, besides a balance below the threshold, of the settings r
// at the time $1 in the month $2, where a charge is at most $3. It is asked before a
// wallet is locked for an attempt, and again to make it.
const wanted = `r.enabled and (r.not_before is null or r.not_before <= $1)
	and not exists (select from recharge_attempts a where a.account_id = r.account_id
		and (a.ended_at is null or a.state = 'succeeded' and a.ended_at > $1::timestamptz - ` + rechargePause + `))
	and exists (select from topups t where t.account_id = r.account_id and t.provider = r.provider and t.state = 'succeeded' and not t.automatic)
	and least(r.amount_nano, $3::bigint) + (select coalesce(sum(a.amount_nano), 0) from recharge_attempts a where a.account_id = r.account_id
		and a.month = $2 and a.state in ('pending', 'processing', 'succeeded')) <= r.cap_nano`

// NeedsRecharge says whether automatic recharge is on and the balance is below its threshold.
func (w *Tx) NeedsRecharge() bool {
	return w.rechargeBelow != nil && w.pots.Balance() < *w.rechargeBelow
}

// RechargeBelow sets the threshold of automatic recharge, where checkpoints look; nil turns it off. It is not part of
// Save, for nothing else changes it.
func (w *Tx) RechargeBelow(ctx context.Context, threshold *billing.Money) error {
	w.rechargeBelow = threshold
	return store.Do(ctx, w, "update wallets set recharge_below_nano = $2 where account_id = $1", w.account, threshold)
}

// recharge makes an attempt when the wallet is below its threshold and nothing speaks
// against it. w is locked and its pots are final.
func (w *Tx) recharge(ctx context.Context) error {
	if !w.NeedsRecharge() || w.Frozen() != nil {
		return nil
	}
	id := store.NewID(store.RechargeID, w.now)
	tag, err := w.Exec(ctx, `with r as (select least(amount_nano, $3) as amount_nano, cap_nano, provider from recharges r where account_id = $4 and `+wanted+`),
		t as (insert into topups (id, account_id, provider, amount_nano, state, created_at, automatic)
			select $6, $4, provider, amount_nano, 'pending', $1, true from r)
		insert into recharge_attempts (id, account_id, no, topup_id, month, amount_nano, cap_nano, state, created_at, look_at)
			select $5, $4, 1 + (select coalesce(max(no), 0) from recharge_attempts where account_id = $4), $6, $2, amount_nano, cap_nano,
				'pending', $1, $7 from r`,
		w.now, MonthOf(w.now), w.ledger.db.MaxRecharge(), w.account, id, store.NewID(store.TopUpID, w.now), w.now.Add(RechargeLook))
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
		now, MonthOf(now), l.db.MaxRecharge(), account)
	if err != nil || !due {
		return err
	}
	return l.applyThresholds(ctx, account)
}

// RechargeDue makes the attempts that no checkpoint has noticed to be due, as at the beginning of a month. Any node
// may call it at any time.
func (l *Ledger) RechargeDue(ctx context.Context) error {
	now := l.db.Time(ctx)
	due, err := store.List[string](ctx, l.db, "sweep recharges", `select w.account_id from wallets w join recharges r using (account_id)
		where w.recharge_below_nano is not null and w.open_disputes = 0 and not w.suspended
			and w.paid_nano + w.bonus_nano - w.accrued_any_nano - w.accrued_paid_nano < w.recharge_below_nano and `+wanted+`
		order by w.account_id`, now, MonthOf(now), l.db.MaxRecharge())
	if err != nil {
		return err
	}
	for _, account := range due {
		if err := l.applyThresholds(ctx, account); err != nil {
			return err
		}
	}
	return nil
}

// MonthOf is the calendar month, in UTC, that a time falls into: what is charged to a card in it counts towards its cap.
func MonthOf(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
}
