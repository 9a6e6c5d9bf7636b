package ledger

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"

	"parley/store"
)

// afterwards charges something to a session that has closed, by the session's own card,
// in one transaction with what f writes. f says with true that it has written it just
// now, having added to the counters what is to be charged: only then anything is posted,
// and webhooks get the events. So it is done once, however often it is tried, if f
// writes once. The wallet and the session are locked while f runs.
func (l *Ledger) afterwards(ctx context.Context, doing, account, id string,
	f func(w *Tx, s *session) (wrote bool, events []store.Event, err error)) (wrote bool, err error) {
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
		if wrote, events, err = f(w, s); err != nil || !wrote {
			return err
		}
		if s.usage != before {
			b := &pgx.Batch{}
			if err := w.post(ctx, b, s); err != nil {
				return err
			}
			s.save(b)
			if err := w.conclude(ctx, b); err != nil {
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
		paid = !w.suspended && w.disputes == 0 && w.pots.Covers(held+cost, s.terms.Kind.PaidOnly(), 0)
		b := &pgx.Batch{}
		if paid {
			b.Queue("insert into afterwards_holds (session_id, account_id, amount_nano, until) values ($1, $2, $3, $4)", id, account, cost, w.now.Add(lease))
		}
		return w.Save(ctx, b) // lockWallet may have expired credit
	})
	return paid && err == nil, err
}

// summarize notes a completion that a call's summary took, and counts its tokens.
func (s *session) summarize(ctx context.Context, tx pgx.Tx, g store.Generation) error {
	g.InTokens, g.OutTokens = max(0, g.InTokens), max(0, g.OutTokens)
	in, out := billing.SummaryIn, billing.SummaryOut
	if g.Own {
		in, out = billing.OwnIn, billing.OwnOut
	}
	s.usage[in] += g.InTokens
	s.usage[out] += g.OutTokens
	return store.Do(ctx, tx, `insert into call_generations (session_id, ordinal, gen, turn, kind, outcome, in_tokens, out_tokens, source, engine, own)
		select session_id, (select coalesce(max(ordinal) + 1, 0) from call_generations where session_id = $1), 0, 0, 'summary', $2, $3, $4, $5, nullif($6, ''), $7
		from calls where session_id = $1`, s.id, g.Outcome, g.InTokens, g.OutTokens, g.Source, g.Engine, g.Own)
}

// summarizeAll is summarize for all that one try took, which holds nothing any more.
func (s *session) summarizeAll(ctx context.Context, tx pgx.Tx, took ...store.Generation) error {
	if _, err := tx.Exec(ctx, "delete from afterwards_holds where session_id = $1", s.id); err != nil {
		return err
	}
	for _, g := range took {
		if err := s.summarize(ctx, tx, g); err != nil {
			return err
		}
	}
	return nil
}
