package ledger

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"parley/billing"

	"parley/store"
)

// priceOf computes a session's bill by a card.
func priceOf(card *billing.RateCard, terms billing.Terms, u billing.Usage) (billing.Bill, error) {
	tariff, err := card.Tariff(terms)
	if err != nil {
		return billing.Bill{}, err
	}
	return tariff.Price(u)
}

// postUsage prices the session's usage and queues what is not in the ledger yet: bonus
// credit first, soonest expiry first, unless the session may use none, the rest
// from the paid pot. The counters are those of several reports at their highest,
// so the total is never below what has accrued. The caller saves w and s.
func (w *Tx) postUsage(ctx context.Context, b *pgx.Batch, s *session) error {
	card, err := w.ledger.db.Card(ctx, w, s.version)
	if err != nil {
		return err
	}
	bill, err := priceOf(card, s.terms, s.usage)
	if err != nil {
		return fmt.Errorf("session %s: %w", s.id, err)
	}
	if s.postingNo > 0 {
		if err := subtractPosted(ctx, w, s.id, &bill); err != nil {
			return err
		}
	}
	due := bill.Total()
	bonus := billing.Money(0)
	if !s.terms.Kind.PaidOnly() {
		bonus = min(due, w.pots.Bonus)
	}
	if bonus > 0 {
		lots, err := w.lots(ctx)
		if err != nil {
			return err
		}
		w.use(b, lots, bonus)
	}
	accrued := &w.pots.AccruedAny
	if s.terms.Kind.PaidOnly() {
		accrued = &w.pots.AccruedPaid
	}
	*accrued -= s.amount - s.posted
	s.queuePosting(b, w, bill, bonus)
	s.posted += due
	before := s.amount
	s.amount = s.posted
	return s.charge(ctx, w, s.amount-before)
}

// subtractPosted leaves in bill what earlier postings of the session did not
// charge. Each component was rounded from its total, so the parts add up to it.
func subtractPosted(ctx context.Context, tx pgx.Tx, id string, bill *billing.Bill) error {
	type item struct {
		Component string
		Quantity  int64
		Amount    billing.Money
	}
	posted, err := store.Rows[item](ctx, tx, `select component, sum(qty)::bigint, sum(amount_nano)::bigint from usage_records
		where session_id = $1 group by component`, id)
	for _, p := range posted {
		for c := range bill {
			if billing.Component(c).String() == p.Component {
				bill[c].Quantity -= p.Quantity
				bill[c].Amount -= p.Amount
			}
		}
	}
	return err
}

// queuePosting queues the receipt and the transfers of what is left in bill, bonus
// of it from the bonus pot.
func (s *session) queuePosting(b *pgx.Batch, w *Tx, bill billing.Bill, bonus billing.Money) {
	posting, leg := s.postingNo+1, 0
	move := func(pot string, c billing.Component, amount billing.Money) {
		if amount == 0 {
			return
		}
		t := transfer{idem: fmt.Sprintf("sess:%s:%d", s.id, posting), leg: leg, debit: pot, credit: "revenue:" + c.String(),
			amount: amount, kind: UsageKind, session: &s.id, version: &s.version}
		b.Queue(insertTransfer, w.apply(t)...)
		leg++
	}
	for i, item := range bill {
		if item.Quantity == 0 { // nothing new, or not rated
			continue
		}
		c := billing.Component(i)
		s.postingNo = posting
		b.Queue(`insert into usage_records (session_id, posting_no, component, qty, unit_price_nano, amount_nano, price_version, posted_at)
			values ($1, $2, $3, $4, $5, $6, $7, $8)`, s.id, posting, c.String(), item.Quantity, item.UnitPrice, item.Amount, s.version, w.now)
		fromBonus := min(item.Amount, bonus)
		bonus -= fromBonus
		move(potBonus, c, fromBonus)
		move(PotPaid, c, item.Amount-fromBonus)
	}
}
