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

// Recharge is what an account's owner has set about automatic recharge.
type Recharge struct {
	Enabled    bool
	Threshold  billing.Money // a balance below it is recharged
	Amount     billing.Money // by this
	MonthlyCap billing.Money // of a calendar month in UTC
}

// RechargeState is how it stands.
type RechargeState struct {
	Recharge
	// CardSaved says whether there is a card to charge: one that has paid a top-up.
	CardSaved bool
	// Charged is what counts towards the cap: attempts made this month that have
	// succeeded or may still do so.
	Charged billing.Money
	Open    string // the top-up in progress; empty when there is none
	// Failure is why the last attempt failed; empty before one does, and once another
	// succeeds or it is enabled again. Code is the provider's word, and may be empty.
	Failure  RechargeFailure
	Code     string
	FailedAt *time.Time
	// NotBefore is when the next attempt may be made: after ledger.RechargePause, longer after a
	// failure; nil: at once.
	NotBefore *time.Time
}

// DefaultRecharge are the settings of an account that never set any.
func DefaultRecharge(card *billing.RateCard) Recharge {
	d := card.Wallet().AutoRecharge
	return Recharge{Threshold: d.Threshold, Amount: d.Amount, MonthlyCap: d.MonthlyCap}
}

// cardSaved says whether the provider $2 keeps a card of the account $1: a page that
// was paid keeps it, and the provider may have lost it since.
const cardSaved = `exists (select from topups t where t.account_id = $1 and t.provider = $2 and t.state = 'succeeded' and not t.automatic
	and not exists (select from recharges f where f.account_id = $1 and f.failure = 'no_card' and f.failed_at >= t.settled_at))`

// charged sums what of the account $1 counts towards the cap of the month $3.
const charged = `(select coalesce(sum(a.amount_nano), 0)::bigint from recharge_attempts a
	where a.account_id = $1 and a.month = $3 and a.state in ('pending', 'processing', 'succeeded'))`

// Recharge reads how automatic recharge stands at now, with the provider that takes
// the account's payments; what was never set is as defaults say. ErrNotFound: there is
// no such account.
func (s *Store) Recharge(ctx context.Context, account, provider string, defaults Recharge) (*RechargeState, error) {
	now := s.db.Time(ctx)
	return store.First[RechargeState](ctx, s.db, "read recharge",
		`select coalesce(r.enabled, false), coalesce(r.threshold_nano, $4), coalesce(r.amount_nano, $5),
			coalesce(r.cap_nano, $6), `+cardSaved+`, `+charged+`,
			coalesce((select a.topup_id from recharge_attempts a where a.account_id = $1 and a.ended_at is null), ''),
			coalesce(r.failure, ''), coalesce(r.code, ''), r.failed_at,
			case when greatest(r.not_before, paused.until) > $7 then greatest(r.not_before, paused.until) end
		from (select max(ended_at) + $8::interval as until from recharge_attempts where account_id = $1 and state = 'succeeded') paused,
			 wallets w left join recharges r using (account_id) where w.account_id = $1`,
		account, provider, ledger.MonthOf(now), defaults.Threshold, defaults.Amount, defaults.MonthlyCap, now, ledger.RechargePause)
}

// SetRecharge lets change alter the account's settings and judge them; its error ends
// it. Enabling it makes an attempt at once where the balance is below the threshold,
// and is refused with ErrSuspended, ErrDisputed or, without a card to charge,
// ErrTopupRequired. Disabling it takes back an attempt that was not charged yet.
// How long to wait after a failed attempt is not changed by it.
func (s *Store) SetRecharge(ctx context.Context, account, provider string, defaults Recharge, change func(*Recharge) error) (*RechargeState, error) {
	err := s.ledger.Locked(ctx, "set recharge", account, func(w *ledger.Tx) error {
		r, was, err := lockRecharge(ctx, w, account, defaults)
		if err != nil {
			return err
		}
		if err := change(&r); err != nil {
			return err
		}
		if r.Threshold < 0 || r.Amount <= 0 || r.MonthlyCap < r.Amount || max(r.Threshold, r.MonthlyCap) > ledger.MaxCredit {
			return store.Invalid("a recharge of %s below %s, within %s a month", r.Amount, r.Threshold, r.MonthlyCap)
		}
		if r.Enabled {
			if err := rechargeable(ctx, w, account, provider); err != nil {
				return err
			}
		}
		if err := r.save(ctx, w, account, provider, was); err != nil {
			return err
		}
		return w.Conclude(ctx, &pgx.Batch{})
	})
	if err != nil {
		return nil, err
	}
	return s.Recharge(ctx, account, provider, defaults)
}

// lockRecharge reads the settings of an account whose wallet is locked; was says
// whether it was enabled.
func lockRecharge(ctx context.Context, tx pgx.Tx, account string, defaults Recharge) (r Recharge, was bool, err error) {
	err = tx.QueryRow(ctx, "select enabled, threshold_nano, amount_nano, cap_nano from recharges where account_id = $1", account).
		Scan(&r.Enabled, &r.Threshold, &r.Amount, &r.MonthlyCap)
	if errors.Is(err, pgx.ErrNoRows) {
		return defaults, false, nil
	}
	return r, r.Enabled, err
}

// rechargeable says why automatic recharge cannot be enabled.
func rechargeable(ctx context.Context, w *ledger.Tx, account, provider string) error {
	if err := w.Frozen(); err != nil {
		return err
	}
	saved, err := store.Scalar[bool](ctx, w, "select "+cardSaved, account, provider)
	if err == nil && !saved {
		err = store.ErrTopupRequired
	}
	return err
}

// save writes the settings. Turning it on forgets what failed before, but not
// how long to wait after it.
func (r *Recharge) save(ctx context.Context, w *ledger.Tx, account, provider string, was bool) error {
	_, err := w.Exec(ctx, `insert into recharges (account_id, enabled, threshold_nano, amount_nano, cap_nano, provider)
		values ($1, $2, $3, $4, $5, $6) on conflict (account_id) do update set enabled = excluded.enabled,
			threshold_nano = excluded.threshold_nano, amount_nano = excluded.amount_nano, cap_nano = excluded.cap_nano,
			provider = excluded.provider, declines = case when $7 then 0 else recharges.declines end,
			failure = case when $7 then '' else recharges.failure end, code = case when $7 then '' else recharges.code end,
			failed_at = case when $7 then null else recharges.failed_at end`,
		account, r.Enabled, r.Threshold, r.Amount, r.MonthlyCap, provider, r.Enabled && !was)
	if err != nil {
		return err
	}
	if r.Enabled {
		return w.RechargeBelow(ctx, &r.Threshold)
	}
	if err := w.ClearWarnings(ctx, store.WarnRechargeFailed, ""); err != nil {
		return err
	}
	if err := w.RechargeBelow(ctx, nil); err != nil {
		return err
	}
	return store.Do(ctx, w, `with a as (update recharge_attempts set state = 'canceled', ended_at = $2
			where account_id = $1 and state = 'pending' returning topup_id)
		update topups t set state = 'canceled', settled_at = $2 from a where t.account_id = $1 and t.id = a.topup_id`, account, w.Now())
}
