package history

import (
	"context"
	"time"

	"parley/store"
)

// Listener is somebody who listens in on a call, or did.
type Listener struct {
	ID         string
	Credential string // the user, or the account's key
	Email      string // the user's address; empty: it is a key, or they are gone
	JoinedAt   time.Time
	LeftAt     *time.Time // nil: they still listen, or their server was lost
	SpokeAt    *time.Time // when they first spoke in the agent's place; nil: they have not
}

// Joined notes that a credential of the account begins to listen in on a call. ErrNotFound: the account has no such call.
func (h *Store) Joined(ctx context.Context, account, call, credential string) (id string, err error) {
	now := h.db.Time(ctx)
	id = store.NewID(store.ListenerID, now)
	return id, h.db.Must(ctx, "note listener", `insert into call_listeners (id, account_id, session_id, credential, joined_at)
		select $1, account_id, session_id, $4, $5 from calls where account_id = $2 and session_id = $3`, id, account, call, credential, now)
}

// Left notes that somebody listens no more. Noting it again changes nothing.
func (h *Store) Left(ctx context.Context, id string) error {
	_, err := h.db.Pool().Exec(ctx, "update call_listeners set left_at = coalesce(left_at, $2) where id = $1", id, h.db.Time(ctx))
	return store.Fail("note listener", err)
}

// Spoke notes that somebody who listens speaks in the agent's place. Noting it again changes nothing.
func (h *Store) Spoke(ctx context.Context, id string) error {
	_, err := h.db.Pool().Exec(ctx, "update call_listeners set spoke_at = coalesce(spoke_at, $2) where id = $1", id, h.db.Time(ctx))
	return store.Fail("note supervisor", err)
}

// Listeners are those of a call of the account, in the order in which they joined.
func (h *Store) Listeners(ctx context.Context, account, call string) ([]Listener, error) {
	return store.List[Listener](ctx, h.db, "list listeners", `select l.id, l.credential, coalesce(u.email, ''), l.joined_at, l.left_at, l.spoke_at
		from call_listeners l left join users u on u.id = l.credential where l.account_id = $1 and l.session_id = $2 order by l.id`, account, call)
}
