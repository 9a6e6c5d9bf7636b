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

// Completion is an answer of a model about a call that is over.
type Completion struct {
	store.Generation
	Cached int64         // of InTokens, those that the vendor had kept
	Model  string        // empty: the vendor's usual one
	Costs  billing.Costs // what its vendor charges the operator
}

// paid are the components that a completion's tokens are charged as.
func (c *Completion) paid() (in, out billing.Component) {
	if c.Own {
		return billing.OwnIn, billing.OwnOut
	}
	return billing.SummaryIn, billing.SummaryOut
}

// uses are what is stored of what the completion used, at a session's prices.
func (c *Completion) uses(tariff *billing.Tariff) (list []store.EngineUse) {
	in, out := c.paid()
	paid := map[billing.Unit]billing.Component{billing.TokensIn: in, billing.TokensInCached: in, billing.TokensOut: out}
	cached := min(max(0, c.Cached), c.InTokens)
	for _, of := range []struct {
		unit billing.Unit
		n    int64
	}{{billing.TokensIn, c.InTokens - cached}, {billing.TokensInCached, cached}, {billing.TokensOut, c.OutTokens}} {
		if of.n > 0 {
			u := store.EngineUse{Stage: "llm", Engine: c.Engine, Model: c.Model, Own: c.Own, Unit: of.unit, Quantity: of.n, Source: c.Source}
			u.Settle(c.Costs, tariff, paid)
			list = append(list, u)
		}
	}
	return list
}

// saveUses adds what engines have used to what is stored of a session.
func saveUses(b *pgx.Batch, session string, uses []store.EngineUse) {
	for _, u := range uses {
		b.Queue(`insert into call_engine_usage (session_id, ordinal, stage, engine, model, own, unit, quantity, source, cost_nano, price_nano)
			values ($1, (select coalesce(max(ordinal) + 1, 0) from call_engine_usage where session_id = $1), $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
			session, u.Stage, u.Engine, u.Model, u.Own, u.Unit, u.Quantity, u.Source, u.Cost, u.Price)
	}
}

// summarize notes a completion that a call's summary took, and counts its tokens.
func (s *session) summarize(b *pgx.Batch, c Completion, tariff *billing.Tariff) {
	c.InTokens, c.OutTokens = max(0, c.InTokens), max(0, c.OutTokens)
	in, out := c.paid()
	s.usage[in] += c.InTokens
	s.usage[out] += c.OutTokens
	b.Queue(`insert into call_generations (session_id, ordinal, gen, turn, kind, outcome, in_tokens, out_tokens, source, engine, own)
		select session_id, (select greatest(coalesce(max(ordinal) + 1, 0), $8) from call_generations where session_id = $1), 0, 0, 'summary', $2, $3, $4, $5, nullif($6, ''), $7
		from calls where session_id = $1`, s.id, c.Outcome, c.InTokens, c.OutTokens, c.Source, c.Engine, c.Own, store.AfterCall)
	saveUses(b, s.id, c.uses(tariff))
}

// summarizeAll is summarize for all that one try took, which holds nothing any more.
func (s *session) summarizeAll(ctx context.Context, w *Tx, took ...Completion) error {
	card, err := w.ledger.db.Card(ctx, w, s.version)
	if err != nil {
		return err
	}
	tariff, err := card.Tariff(s.terms)
	if err != nil {
		return err
	}
	b := &pgx.Batch{}
	b.Queue("delete from afterwards_holds where session_id = $1", s.id)
	for _, c := range took {
		s.summarize(b, c, &tariff)
	}
	return store.Send(ctx, w, b)
}
