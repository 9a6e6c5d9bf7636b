package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/store"
)

// A dispute freezes its account: until it is resolved, no session starts and no recharge is made. What a provider says
// of one, and the money that its bank takes back, is in package payments.

// Dispute is a payment of the account that its bank is asked to take back.
type Dispute struct {
	Ref             string        // the provider's, or the operator's, name of it
	Provider, TopUp string        // that it is about; empty: an operator says so
	Amount          billing.Money // a provider's; never more than was paid
}

// OpenDispute records that the payment ref of the account is disputed: until it is
// resolved, no session starts. Opening an open one again changes nothing.
func (l *Ledger) OpenDispute(ctx context.Context, account, ref string) error {
	return l.Locked(ctx, "open dispute", account, func(w *Tx) error {
		if id, err := w.OpenDispute(ctx, Dispute{Ref: ref}); err != nil || id == 0 {
			return err
		}
		return w.Save(ctx, &pgx.Batch{})
	})
}

// OpenDispute records the dispute and warns the account of it. It returns the number of the row; 0: one of that name is
// there already, and nothing has changed.
func (w *Tx) OpenDispute(ctx context.Context, d Dispute) (id int64, err error) {
	err = w.QueryRow(ctx, `insert into disputes (account_id, ref, opened_at, opened_after, provider, topup_id, state, amount_nano)
		values ($1, $2, $3, $4, nullif($5, ''), nullif($6, ''), case when $5 <> '' then 'opened' end, $7) on conflict do nothing returning id`,
		w.account, d.Ref, w.now, w.admissions, d.Provider, d.TopUp, d.Amount).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	w.disputes++
	data := store.WarningData{Dispute: d.Ref}
	if d.Provider != "" {
		data.Amount = &d.Amount
	}
	return id, w.Warn(ctx, store.Warning{Kind: store.WarnDisputeOpened, About: fmt.Sprint(id), Data: data})
}

// ResolveDispute closes the open dispute ref, or with an empty ref all of the
// account's. Without one it changes nothing.
func (l *Ledger) ResolveDispute(ctx context.Context, account, ref string) error {
	return l.Locked(ctx, "resolve dispute", account, func(w *Tx) error {
		if err := w.resolveDisputes(ctx, ref, 0); err != nil {
			return err
		}
		return w.Save(ctx, &pgx.Batch{})
	})
}

// ResolveDispute closes the one whose row has this number, if it is open.
func (w *Tx) ResolveDispute(ctx context.Context, id int64) error {
	return w.resolveDisputes(ctx, "", id)
}

// resolveDisputes ends the open disputes with that name and of that row; empty and 0 are any.
func (w *Tx) resolveDisputes(ctx context.Context, ref string, id int64) error {
	ended, err := store.Rows[int64](ctx, w, `update disputes set resolved_at = $4, resolved_after = $5 where account_id = $1 and resolved_at is null
		and ($2 = '' or ref = $2) and ($3::bigint = 0 or id = $3) returning id`, w.account, ref, id, w.now, w.admissions)
	if err != nil {
		return err
	}
	w.disputes -= len(ended)
	w.retry = true
	for _, id := range ended {
		if err := w.ClearWarnings(ctx, store.WarnDisputeOpened, fmt.Sprint(id)); err != nil {
			return err
		}
	}
	return nil
}
