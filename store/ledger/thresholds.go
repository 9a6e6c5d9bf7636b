package ledger

import (
	"context"

	"github.com/jackc/pgx/v5"

	"parley/billing"

	"parley/store"
)

// Warn warns the account: see DB.Warn. Of x CreatedAt is set.
func (w *Tx) Warn(ctx context.Context, x store.Warning) error {
	x.CreatedAt = w.now
	return w.ledger.db.Warn(ctx, w, w.account, x)
}

// ClearWarnings ends the account's warnings of a kind about something, or with an empty about all of
// the kind. Without one it changes nothing.
func (w *Tx) ClearWarnings(ctx context.Context, kind store.WarningKind, about string) error {
	return store.Do(ctx, w, `update warnings set cleared_at = $4
		where account_id = $1 and kind = $2 and ($3 = '' or about = $3) and cleared_at is null`, w.account, kind, about, w.now)
}

// applyThresholds warns of a low balance and of limits of spending, and triggers automatic
// recharge. Everything that has changed the pots calls it once, when they are final and
// before it saves w; nothing else does this.
func (w *Tx) applyThresholds(ctx context.Context) error {
	if err := w.recharge(ctx); err != nil {
		return err
	}
	if err := w.warnSpending(ctx); err != nil {
		return err
	}
	mark, err := w.ledger.lowMark(ctx, w, w.rechargeBelow)
	if err != nil {
		return err
	}
	balance := w.pots.Balance()
	switch low := balance < mark; {
	case low && w.lowSince == nil:
		w.lowSince = &w.now
		return w.Warn(ctx, store.Warning{Kind: store.WarnBalanceLow, Data: store.WarningData{Balance: &balance, Threshold: &mark}})
	case !low && w.lowSince != nil:
		w.lowSince = nil
		return w.ClearWarnings(ctx, store.WarnBalanceLow, "")
	}
	return nil
}

// lowMark is the balance below which the owner is warned: the owner's own threshold,
// or the rate card's while there is none.
func (l *Ledger) lowMark(ctx context.Context, q store.Queryer, own *billing.Money) (billing.Money, error) {
	if own != nil {
		return *own, nil
	}
	card, err := l.db.CardInForce(ctx, q)
	if err != nil {
		return 0, err
	}
	return card.Wallet().AutoRecharge.Threshold, nil
}

// applyThresholds locks an account's wallet, which ends expired credit, and applies its
// thresholds.
func (l *Ledger) applyThresholds(ctx context.Context, account string) error {
	return l.Locked(ctx, "apply thresholds", account, func(w *Tx) error {
		return w.Conclude(ctx, &pgx.Batch{})
	})
}
