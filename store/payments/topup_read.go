package payments

import (
	"context"
	"time"

	"parley/store"
)

// Rhythm of reads of top-ups without an event.
const (
	topupLook    = 5 * time.Minute     // after the page was made, and at least between two reads
	topupRest    = 24 * time.Hour      // at most between two reads
	topupLooksIn = 30 * 24 * time.Hour // then it is not asked about any more: pages expire after a day
)

// DueTopUp hands out an open top-up of a provider, of any account, that the provider is to
// be asked about now, to one caller; ErrNotFound: there is none. It is due again when as
// much time has gone by as since it began, so its claimant may die.
func (s *Store) DueTopUp(ctx context.Context, provider string) (*TopUp, error) {
	// What is locked is being reconciled. The lock comes without the wallet's, so nothing waits here.
	return store.First[TopUp](ctx, s.db, "claim top-up",
		`update topups set look_at = $2::timestamptz + greatest($3::interval, least($2 - created_at, $4::interval))
		where id = (select id from topups where state in ('created', 'pending') and checkout_id <> '' and provider = $1
			and coalesce(look_at, created_at) <= $2 and created_at between $2 - $5::interval and $2 - $3::interval
			order by coalesce(look_at, created_at) limit 1 for no key update skip locked)
		returning `+topupColumns, provider, s.db.Time(ctx), topupLook, topupRest, topupLooksIn)
}
