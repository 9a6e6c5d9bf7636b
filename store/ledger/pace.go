package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/store"
)

// Paced is ErrPace, and when the next call from the number may begin.
type Paced struct{ Until time.Time }

// Error implements error.
func (p *Paced) Error() string {
	return fmt.Sprintf("%v, until %s", store.ErrPace, p.Until.Format(time.RFC3339))
}

// Unwrap is ErrPace.
func (p *Paced) Unwrap() error { return store.ErrPace }

// pace is Paced for an outbound call from a number that has placed as many in the last hour as its account wants of it. Carriers
// and those who rate numbers take one that calls and calls for a nuisance, signed (STIR, RFC 8224) or not. Calls that nobody
// answered count: they are what is complained about. The wallet's lock keeps two calls from counting the same ones.
func (w *Tx) pace(ctx context.Context, s Start) error {
	if s.Terms.Kind != billing.Outbound {
		return nil
	}
	const hour = time.Hour
	oldest, err := store.Scalar[time.Time](ctx, w, `select last.opened_at from numbers n cross join lateral (
			select o.opened_at from calls c join sessions o on o.id = c.session_id
			where c.account_id = n.account_id and c.from_number = n.e164 and c.session_id >= $3 and o.kind = 'outbound'
			order by c.session_id desc offset n.calls_per_hour - 1 limit 1) last
		where n.account_id = $1 and n.e164 = $2 and n.calls_per_hour is not null and n.state in ('owned', 'grace')`,
		w.account, s.From, store.FloorID(store.SessionID, w.now.Add(-hour)))
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return &Paced{Until: oldest.Add(hour)}
}
