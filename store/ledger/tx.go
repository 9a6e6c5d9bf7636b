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
	wallet
	ledger *Ledger
	now    time.Time // of all that it does

	retry   bool      // there is reason to try unpaid months again
	expired time.Time // when the credit ended that this transaction takes out; zero: there was none
}

// Locked runs f in a transaction that holds the lock of the account's wallet. What f does
// to the wallet it ends with Conclude, or with Save.
func (l *Ledger) Locked(ctx context.Context, op, account string, f func(*Tx) error) error {
	return l.db.Tx(ctx, op, func(tx pgx.Tx) error {
		w, err := l.lock(ctx, tx, account)
		if err != nil {
			return err
		}
		return f(w)
	})
}

// lock locks the account's wallet for the rest of the transaction and ends credit that has
// expired by now. NO KEY, for a foreign key check on the row must not wait for it.
func (l *Ledger) lock(ctx context.Context, tx pgx.Tx, account string) (*Tx, error) {
	w := &Tx{Tx: tx, wallet: wallet{account: account}, ledger: l, now: l.db.Time(ctx)}
	err := tx.QueryRow(ctx, "select "+walletColumns+" from wallets where account_id = $1 for no key update", account).Scan(w.into()...)
	if err != nil {
		return nil, err
	}
	if w.bonusExpires != nil && !w.now.Before(*w.bonusExpires) {
		w.expired = *w.bonusExpires
		if err := w.expireCredit(ctx); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// Now is the time of all that the transaction does.
func (w *Tx) Now() time.Time { return w.now }

// Pots is the money of the wallet, as the transaction has it by now.
func (w *Tx) Pots() billing.Pots { return w.pots }

// ToppedUp says whether the account has ever paid anything.
func (w *Tx) ToppedUp() bool { return w.firstTopup != nil }

// Frozen is why nothing of the account may begin: ErrSuspended, ErrDisputed; nil: it is not frozen.
func (w *Tx) Frozen() error {
	switch {
	case w.suspended:
		return store.ErrSuspended
	case w.disputes > 0:
		return store.ErrDisputed
	}
	return nil
}

// Disputed says whether a payment of the account is.
func (w *Tx) Disputed() bool { return w.disputes > 0 }

// Hold sets money of the wallet aside, or gives it back where amount is below 0. What it is held for
// has a row that says so.
func (w *Tx) Hold(amount billing.Money) { w.pots.Held += amount }

// MayCallOut refuses as StartSession does an outbound call, but not for want of a line.
// key is the API key that asks; empty: none does.
func (w *Tx) MayCallOut(ctx context.Context, key string, card *billing.RateCard) error {
	if err := w.solvent(billing.Outbound, card.Wallet()); err != nil {
		return err
	}
	return w.maySpend(ctx, key, "", 0)
}

// StartWork lets work start that is not among the account's sessions at once and outlives this process, or refuses as
// StartSession does, having written nothing. EndWork ends it.
func (w *Tx) StartWork(ctx context.Context, s Start) (*Session, error) {
	s.exempt = true
	out, err := s.session()
	if err != nil {
		return nil, err
	}
	return out, w.start(ctx, s, out)
}

// EndWork ends what StartWork has begun, and posts what it owes; once it has ended it stays as it is.
func (w *Tx) EndWork(ctx context.Context, session string, c Closing) error {
	s, err := w.lockSession(ctx, session)
	if err != nil || !s.open {
		return err
	}
	return w.end(ctx, s, c)
}

// Conclude applies the thresholds of the wallet and ends the transaction as Save does. Whatever changes the pots
// ends with it, and so may what moves no money: expired credit counts for the thresholds, too.
func (w *Tx) Conclude(ctx context.Context, b *pgx.Batch) error {
	if err := w.applyThresholds(ctx); err != nil {
		return err
	}
	return w.Save(ctx, b)
}

// Save writes what is queued in b, and the wallet.
func (w *Tx) Save(ctx context.Context, b *pgx.Batch) error {
	w.save(b)
	return store.Send(ctx, w, b)
}
