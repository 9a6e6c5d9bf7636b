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

// Paced is ErrPace with the time at which the number may call again.
type Paced struct{ Until time.Time }

// Error implements error.
func (p *Paced) Error() string {
	return fmt.Sprintf("%v, until %s", store.ErrPace, p.Until.Format(time.RFC3339))
}

// Unwrap is ErrPace.
func (p *Paced) Unwrap() error { return store.ErrPace }

// paceTime is the time over which calls are counted.
const paceTime = time.Hour

// pacedNumbers are the numbers of account $1 that have reached their limit of calls since the identifier $2, and when the oldest of
// those calls began.
const pacedNumbers = `select n.e164, last.opened_at from numbers n cross join lateral (
		select o.opened_at from calls c join sessions o on o.id = c.session_id
		where c.account_id = n.account_id and c.from_number = n.e164 and c.session_id >= $2 and o.kind = 'outbound'
		order by c.session_id desc offset n.calls_per_hour - 1 limit 1) last
	where n.account_id = $1 and n.calls_per_hour is not null and n.state in ('owned', 'grace')`

// pace refuses an outbound call with Paced if its number has reached its limit of calls within the last hour. Carriers and call
// analytics label numbers that place many calls as spam, whether or not the calls are signed (STIR, RFC 8224). Unanswered calls
// count, too: they cause complaints. The wallet's lock makes the count exact.
func (w *Tx) pace(ctx context.Context, s Start) error {
	if s.Terms.Kind != billing.Outbound {
		return nil
	}
	var number string
	var oldest time.Time
	err := w.QueryRow(ctx, pacedNumbers+" and n.e164 = $3", w.account, store.FloorID(store.SessionID, w.now.Add(-paceTime)), s.From).Scan(&number, &oldest)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return &Paced{Until: oldest.Add(paceTime)}
}

// Paced returns the numbers of an account from which StartSession would now refuse a call as Paced.
func (l *Ledger) Paced(ctx context.Context, account string) (map[string]bool, error) {
	type row struct {
		Number string
		Oldest time.Time
	}
	rows, err := store.List[row](ctx, l.db, "list paced numbers", pacedNumbers, account, store.FloorID(store.SessionID, l.db.Time(ctx).Add(-paceTime)))
	paced := map[string]bool{}
	for _, r := range rows {
		paced[r.Number] = true
	}
	return paced, err
}
