package ledger

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"

	"parley/store"
)

// Ended is a call that is over, in a transaction that holds the locks of its account's wallet and of the call.
type Ended struct {
	*Tx
	Usage   *billing.Usage // what the call has used: what is added to it is charged
	session *session
}

// Answered says whether the call was.
func (e *Ended) Answered() bool { return e.session.startedAt != nil }

// Tariff has the prices of the call, which are those that it began with.
func (e *Ended) Tariff(ctx context.Context) (billing.Tariff, error) {
	card, err := e.ledger.db.Card(ctx, e, e.session.version)
	if err != nil {
		return billing.Tariff{}, err
	}
	return card.Tariff(e.session.terms)
}

// EndHold queues the end of what HoldAfterwards has reserved for the call.
func (e *Ended) EndHold(b *pgx.Batch) {
	b.Queue("delete from afterwards_holds where session_id = $1", e.session.id)
}

// Afterwards charges something to a session that has closed, by the session's own card,
// in one transaction with what f writes. f says with true that it has written it just
// now, having added to the counters what is to be charged: only then anything is posted,
// and webhooks get the events. So it is done once, however often it is tried, if f
// writes once. The wallet and the session are locked while f runs.
func (l *Ledger) Afterwards(ctx context.Context, doing, account, id string,
	f func(e *Ended) (wrote bool, events []store.Event, err error)) (wrote bool, err error) {
	err = l.Locked(ctx, doing, account, func(w *Tx) error {
		s, err := w.lockSession(ctx, id)
		if err != nil {
			return err
		}
		if s.open {
			return store.Invalid("the call lasts")
		}
		before := s.usage
		var events []store.Event
		if wrote, events, err = f(&Ended{w, &s.usage, s}); err != nil || !wrote {
			return err
		}
		if s.usage != before {
			b := &pgx.Batch{}
			if err := w.postUsage(ctx, b, s); err != nil {
				return err
			}
			s.save(b)
			if err := w.Conclude(ctx, b); err != nil {
				return err
			}
		}
		if len(events) == 0 {
			return nil
		}
		return l.db.EnqueueDeliveries(ctx, w, w.now, events...)
	})
	return wrote && err == nil, err
}

// HoldAfterwards reserves the expected cost of work on one of the account's calls that has
// ended. It reports false when the balance, less the holds of sessions and of other such
// work, does not cover the cost, or when the account is suspended or disputed. The hold ends
// when the work is charged, or after lease.
func (l *Ledger) HoldAfterwards(ctx context.Context, account, id string, expect billing.Usage, lease time.Duration) (paid bool, err error) {
	err = l.Locked(ctx, "hold for a call that is over", account, func(w *Tx) error {
		s, err := w.lockSession(ctx, id)
		if err != nil {
			return err
		}
		card, err := l.db.Card(ctx, w, s.version)
		if err != nil {
			return err
		}
		bill, err := priceOf(card, s.terms, expect)
		if err != nil {
			return err
		}
		if _, err := w.Exec(ctx, "delete from afterwards_holds where account_id = $1 and (until <= $2 or session_id = $3)", account, w.now, id); err != nil {
			return err
		}
		held, err := store.Scalar[billing.Money](ctx, w, "select coalesce(sum(amount_nano), 0)::bigint from afterwards_holds where account_id = $1", account)
		if err != nil {
			return err
		}
		cost := bill.Total()
		paid = w.Frozen() == nil && w.pots.Covers(held+cost, s.terms.Kind.PaidOnly(), 0)
		b := &pgx.Batch{}
		if paid {
			b.Queue("insert into afterwards_holds (session_id, account_id, amount_nano, until) values ($1, $2, $3, $4)", id, account, cost, w.now.Add(lease))
		}
		return w.Save(ctx, b) // locking it may have expired credit
	})
	return paid && err == nil, err
}
