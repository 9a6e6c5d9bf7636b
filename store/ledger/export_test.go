package ledger

import (
	"context"
	"time"

	"parley/billing"

	"parley/store"
)

// UsageRecord is one line of a session's receipt, posting by posting.
type UsageRecord struct {
	Posting      int    // 1, 2...: a long session is posted in parts
	Component    string // name of a billing.Component
	Quantity     int64  // in billed units
	UnitPrice    billing.Money
	Amount       billing.Money
	PriceVersion string
	PostedAt     time.Time
}

// UsageRecords returns the receipt of a session of the account; none while nothing
// of it is posted.
func (l *Ledger) UsageRecords(ctx context.Context, account, session string) ([]UsageRecord, error) {
	return store.List[UsageRecord](ctx, l.db, "read receipt", `select r.posting_no, r.component, r.qty,
		r.unit_price_nano, r.amount_nano, r.price_version, r.posted_at
		from usage_records r join sessions s on s.id = r.session_id
		where r.session_id = $1 and s.account_id = $2 order by r.posting_no, r.component`, session, account)
}
