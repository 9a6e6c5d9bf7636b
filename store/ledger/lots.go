package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"

	"parley/store"
)

// grantLot queues the lot that a transfer to the bonus pot granted.
func (w *Tx) grantLot(b *pgx.Batch, t transfer, expires time.Time) {
	b.Queue(`insert into credit_lots (id, account_id, source, granted_nano, remaining_nano, expires_at, created_at)
		values ($1, $2, $3, $4, $4, $5, $6)`, store.NewID(store.LotID, w.now), w.account, t.idem, t.amount, expires, w.now)
	if w.bonusExpires == nil || expires.Before(*w.bonusExpires) {
		w.bonusExpires = &expires
	}
}

// lot is credit that is left.
type lot struct {
	ID      string
	Left    billing.Money
	Expires time.Time
}

// lots reads and locks the wallet's lots in the order they are used up: soonest
// expiry, then oldest.
func (w *Tx) lots(ctx context.Context) ([]lot, error) {
	if w.pots.Bonus == 0 {
		return nil, nil
	}
	// Locked by ascending identifier, like everything; sorted for use afterwards.
	lots, err := store.Rows[lot](ctx, w, `select id, remaining_nano, expires_at from credit_lots
		where account_id = $1 and remaining_nano > 0 order by id for no key update`, w.account)
	slices.SortStableFunc(lots, func(a, b lot) int { return a.Expires.Compare(b.Expires) })
	return lots, err
}

// use takes amount, which the pot covers, from the lots in order.
func (w *Tx) use(b *pgx.Batch, lots []lot, amount billing.Money) {
	w.bonusExpires = nil
	for _, l := range lots {
		take := min(amount, l.Left)
		amount -= take
		if take > 0 {
			b.Queue("update credit_lots set remaining_nano = remaining_nano - $2 where id = $1", l.ID, take)
		}
		if take < l.Left && w.bonusExpires == nil {
			w.bonusExpires = &l.Expires
		}
	}
}

// expireCredit ends the credit that has expired by now. What sessions have used
// so far was used before, so they are posted first. The wallet is saved.
func (w *Tx) expireCredit(ctx context.Context) error {
	open, err := store.Rows[string](ctx, w, `select id from sessions
		where account_id = $1 and state = 'live' and kind <> $2 order by id`, w.account, billing.Outbound)
	if err != nil {
		return err
	}
	for _, id := range open {
		s, err := w.lockSession(ctx, id)
		if err != nil {
			return err
		}
		b := &pgx.Batch{}
		if err := w.postUsage(ctx, b, s); err != nil {
			return err
		}
		s.save(b)
		if err := store.Send(ctx, w, b); err != nil {
			return err
		}
	}
	lots, err := w.lots(ctx)
	if err != nil {
		return err
	}
	b := &pgx.Batch{}
	w.bonusExpires = nil
	for _, l := range lots {
		if w.now.Before(l.Expires) {
			w.bonusExpires = &l.Expires
			break
		}
		b.Queue("update credit_lots set remaining_nano = 0 where id = $1", l.ID)
		t := transfer{idem: "lot:" + l.ID + ":exp", debit: potBonus, credit: "promo_expired", amount: l.Left, kind: Expiry}
		b.Queue(insertTransfer, w.apply(t)...)
	}
	return w.Save(ctx, b)
}

// keepExpired expires again, in a transaction of its own, the credit that had expired when
// w was locked by one that err has undone. So an account that is refused for want of
// credit is warned, and recharged, like any other. It returns err; what it cannot expire
// is left to ExpireLots.
func (l *Ledger) keepExpired(ctx context.Context, w *Tx, err error) error {
	if err != nil && w != nil && !w.expired.IsZero() {
		_ = l.applyThresholds(ctx, w.account)
	}
	return err
}

// CreditExpired is the condition, of SQL, in which $1 is the time, under which ExpireLots has something to do.
const CreditExpired = "exists (select from wallets where bonus_expires_at <= $1)"

// ExpireLots ends the credit of every account that has expired by now, and
// returns how many accounts that touched. Call it often: until then an account's
// balance still shows it, though no session starts on it. An account that fails keeps
// no other waiting.
func (l *Ledger) ExpireLots(ctx context.Context) (n int, err error) {
	accounts, err := store.List[string](ctx, l.db, "expire credit",
		"select account_id from wallets where bonus_expires_at <= $1 order by account_id", l.db.Time(ctx))
	if err != nil {
		return 0, err
	}
	for _, account := range accounts {
		if one := l.applyThresholds(ctx, account); one != nil {
			err = errors.Join(err, fmt.Errorf("account %s: %w", account, one))
		} else {
			n++
		}
		if ctx.Err() != nil {
			break
		}
	}
	return n, err
}
