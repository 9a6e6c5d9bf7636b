package session

import (
	"context"
	"errors"
	"iter"
	"time"

	"parley/billing"
	"parley/inference"
	"parley/media"
	"parley/store/ledger"
)

// errUnpaid is a completion that the model was not asked for.
var errUnpaid = errors.New("session: what is left does not pay for the model's input")

// budget is what a session may still cost.
type budget struct {
	ticket billing.Money  // that the conversation may cost altogether, as its ticket says; 0: no bound
	left   billing.Money  // for it and others by the last checkpoint, the overdraft counted
	daily  *billing.Money // by limits of spending; nil: none
	booked billing.Money  // of its cost at that checkpoint
}

// book takes what a checkpoint says, and what the session had cost then.
func (s *Session) book(r *ledger.CheckpointResult, cost billing.Money) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.budget.left, s.budget.daily, s.budget.booked = s.floorLeft(r.Pots), r.Room, cost
}

// floorLeft is how far the wallet is above the overdraft floor.
func (s *Session) floorLeft(p billing.Pots) billing.Money {
	return p.Spendable(s.stored.Terms.Kind.PaidOnly()) - p.Held + s.stored.Card.Wallet().Overdraft
}

// cost is what usage costs by the session's card.
func (s *Session) cost(u billing.Usage) billing.Money {
	bill, err := s.stored.Tariff.Price(u)
	if err != nil {
		return 0 // the ledger refuses it, too, and ends the session
	}
	return bill.Total()
}

// Cost is what the session has cost up to now, by the card it started with.
func (s *Session) Cost() billing.Money {
	_, used := s.usage(time.Now())
	return s.cost(used)
}

// refuses says why what costs more may not be used any more; nil: it may.
func (s *Session) refuses(more, cost billing.Money) *media.Ended {
	s.mu.Lock()
	defer s.mu.Unlock()
	since := cost - s.budget.booked
	switch {
	case more > s.budget.left-since:
		return &media.Ended{Reason: media.BalanceExhausted}
	case s.budget.daily != nil && more > *s.budget.daily-since:
		return &media.Ended{Reason: media.BalanceExhausted, Detail: media.Spending}
	case s.budget.ticket > 0 && cost+more > s.budget.ticket:
		return &media.Ended{Reason: media.BalanceExhausted, Detail: media.TicketSpent}
	}
	return nil
}

// payingModel is not asked what the session cannot pay for. Input is counted beforehand,
// because a caller can make it as long as they like; where its price is more than what is
// left the call ends as when that is used up.
type payingModel struct {
	inference.LLM
	s *Session
}

// Warm implements inference.Warmer. It costs nothing.
func (m *payingModel) Warm(ctx context.Context) { inference.Warm(ctx, m.LLM) }

// Complete implements inference.LLM.
func (m *payingModel) Complete(ctx context.Context, r inference.Request) iter.Seq2[inference.Delta, error] {
	_, used := m.s.usage(time.Now())
	input := billing.Usage{billing.ReplyIn: int64(inference.CountTokens(r.Characters()))}
	if why := m.s.refuses(m.s.cost(input), m.s.cost(used)); why != nil {
		m.s.sayGoodbye(why)
		return func(yield func(inference.Delta, error) bool) { yield(inference.Delta{}, errUnpaid) }
	}
	return m.s.noted(ctx, r, m.LLM.Info().Name, m.LLM.Complete(ctx, r))
}
