package numbers

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"parley/store"
	"parley/store/ledger"
)

// Release ends the account's use of a number, for good and at once. One that was
// bought is releasing until FinishRelease; one that was given by hand can be imported
// again.
func (s *Store) Release(ctx context.Context, account, id string) error {
	return s.ledger.Locked(ctx, "release number", account, func(w *ledger.Tx) error {
		b := &pgx.Batch{}
		m, err := lockMonth(ctx, w, account, id, false)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			tag, err := w.Exec(ctx, `update numbers set state = 'released', released_at = $3, agent_id = null
				where account_id = $1 and id = $2 and carrier = '' and state <> 'released'`, account, id, w.Now())
			if err != nil {
				return err
			}
			if tag.RowsAffected() == 0 {
				return store.ErrNotFound
			}
			return w.Conclude(ctx, b)
		case err != nil:
			return err
		case m.State == Releasing, m.State == Released:
			return store.ErrNotFound
		case m.State == Grace:
			err = w.ClearWarnings(ctx, store.WarnNumberPastDue, m.about())
		}
		if err != nil {
			return err
		}
		m.markReleasing(w.Now())
		m.save(b)
		return w.Conclude(ctx, b)
	})
}

// Turning to a carrier again waits 15 s, then twice as long each time, up to an hour.
const claimed = `update numbers set tries = tries + 1, try_at = $2::timestamptz + least(interval '1 hour', interval '15 seconds' * power(2, least(tries, 10)))
	where id in (select id from numbers where carrier = $1 and try_at <= $2
		order by try_at, id limit $3 for update skip locked)
	returning `

// Claim returns at most limit numbers about which their carrier must be turned
// to now: orders that are not done, active numbers whose calls do not come here yet,
// and those that are releasing. Each comes again, later each time, until Reconcile,
// Routed or FinishRelease; until then no other node gets it.
func (s *Store) Claim(ctx context.Context, carrier string, limit int) ([]Number, error) {
	return store.List[Number](ctx, s.db, "claim numbers", claimed+columns, carrier, s.db.Time(ctx), limit)
}

// Routed notes that the carrier sends the calls of an active number here.
func (s *Store) Routed(ctx context.Context, id string) error {
	return s.db.Do(ctx, "note route", "update numbers set routed = true, try_at = null, tries = 0 where id = $1 and "+working, id)
}

// FinishRelease notes that the carrier has taken a number back.
func (s *Store) FinishRelease(ctx context.Context, id string) error {
	return s.db.Do(ctx, "finish release", `update numbers set state = 'released', routed = false, try_at = null
		where id = $1 and state = 'releasing' and activated_at is not null`, id)
}

// ByOrder returns the number of an order of a carrier, of any account.
func (s *Store) ByOrder(ctx context.Context, carrier, reference string) (*Number, error) {
	return store.First[Number](ctx, s.db, "read order", selectNumber+"carrier = $1 and order_ref = $2", carrier, reference)
}
