package campaign

import (
	"context"

	"parley/billing/destination"
	"parley/store"
)

// Window is the time of day in which an account calls people.
type Window struct {
	Hours *destination.Hours
	Zone  string // by whose clocks: a zone's name, or "destination"
}

// Window returns the account's. ErrNotFound: it calls people at any time.
func (s *Store) Window(ctx context.Context, account string) (*Window, error) {
	return store.First[Window](ctx, s.db, "read call window",
		"select jsonb_build_object('From', hours_from, 'To', hours_to), hours_zone from accounts where id = $1 and hours_zone is not null", account)
}

// SetWindow sets the account's; nil: it calls people at any time. Batches that were queued before keep theirs.
func (s *Store) SetWindow(ctx context.Context, account string, w *Window) error {
	var from, to *int
	var zone *string
	if w != nil {
		from, to, zone = &w.Hours.From, &w.Hours.To, &w.Zone
	}
	return s.db.Must(ctx, "set call window", "update accounts set hours_from = $2, hours_to = $3, hours_zone = $4 where id = $1", account, from, to, zone)
}
