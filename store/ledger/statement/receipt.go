package statement

import (
	"context"
	"time"

	"parley/billing"
	"parley/store"
)

// Receipt is what a session cost, call or not.
type Receipt struct {
	Session      string
	Kind         billing.Kind
	PriceVersion string
	OpenedAt     time.Time
	StartedAt    *time.Time      // when its clock started; nil: never, it costs nothing
	EndedAt      *time.Time      // nil while it lasts
	Accrued      billing.Money   // while it lasts: used, and in no line yet
	Engines      *store.ServedBy // of a call that has ended; nil: not known
	Lines        []ReceiptLine   `db:"-"` // at most one for each component, by name
}

// ReceiptLine is one component, all postings together.
type ReceiptLine struct {
	Component string
	Quantity  int64 // in billed units
	UnitPrice billing.Money
	Amount    billing.Money
}

// Total is the sum of the lines: what the ledger charged for the session.
func (r *Receipt) Total() billing.Money {
	var sum billing.Money
	for _, l := range r.Lines {
		sum += l.Amount
	}
	return sum
}

// ReadReceipt returns the receipt of a session of the account.
func ReadReceipt(ctx context.Context, db *store.DB, account, session string) (*Receipt, error) {
	var r *Receipt
	err := db.Statement(ctx, account, func(s *store.Statement) (err error) {
		r, err = store.Row[Receipt](ctx, s.Tx,
			`select s.id, s.kind, s.price_version, s.opened_at, u.started_at, `+store.EndedAt+`, u.amount_nano - u.posted_nano, c.engines
			from sessions s join session_usage u on u.session_id = s.id left join calls c on c.session_id = s.id where s.account_id = $1 and s.id = $2`, s.Account(), session)
		if err != nil {
			return err
		}
		// One card and one country: a component has one price.
		r.Lines, err = store.Rows[ReceiptLine](ctx, s.Tx, `select r.component, sum(r.qty)::bigint, max(r.unit_price_nano),
			sum(r.amount_nano)::bigint from usage_records r join sessions s on s.id = r.session_id
			where s.account_id = $1 and s.id = $2 group by 1 order by 1`, s.Account(), session)
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}
