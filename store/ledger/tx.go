package ledger

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"

	"parley/store"
)

// Tx is a transaction that holds the lock of an account's wallet.
type Tx struct {
	pgx.Tx
	w   *wallet
	now time.Time
}

// Locked runs f in a transaction that holds the lock of the account's wallet; f ends with Save.
func (l *Ledger) Locked(ctx context.Context, op, account string, now time.Time, f func(*Tx) error) error {
	return l.db.Tx(ctx, op, func(tx pgx.Tx) error {
		w, err := l.lockWallet(ctx, tx, account, now)
		if err != nil {
			return err
		}
		return f(&Tx{tx, w, now})
	})
}

// MayCallOut refuses as StartSession does an outbound call, but not for want of a line.
// key is the API key that asks; empty: none does.
func (t *Tx) MayCallOut(ctx context.Context, key string, card *billing.RateCard) error {
	if err := t.w.solvent(billing.Outbound, card.Wallet()); err != nil {
		return err
	}
	return t.w.maySpend(ctx, t.Tx, key, "", 0, t.now)
}

// Save writes what is queued in b, and the wallet.
func (t *Tx) Save(ctx context.Context, b *pgx.Batch) error {
	t.w.save(b)
	return store.Send(ctx, t.Tx, b)
}
