package history

import (
	"context"
	"time"

	"parley/store"
)

// Listener is somebody who listens in on a call, or did.
type Listener struct {
	ID         string
	Credential string // the user, the account's key, or the agent
	Email      string // the user's address; empty: it is a key, or they are gone
	Host       string // where a stream of it went; empty: they heard it themselves
	JoinedAt   time.Time
	LeftAt     *time.Time // nil: they still listen, or their server was lost
	SpokeAt    *time.Time // when they first spoke in the agent's place; nil: they have not
	Failure    string     // why a stream could not begin, or ended before its call; empty: neither
}

// Joined notes that a credential of the account begins to listen in on a call, or has it sent to a host. ErrNotFound: the account has
// no such call.
func (h *Store) Joined(ctx context.Context, account, call, credential, host string) (id string, err error) {
	now := h.db.Time(ctx)
	id = store.NewID(store.ListenerID, now)
	return id, h.db.Must(ctx, "note listener", `insert into call_listeners (id, account_id, session_id, credential, joined_at, host)
		select $1, account_id, session_id, $4, $5, nullif($6, '') from calls where account_id = $2 and session_id = $3`, id, account, call, credential, now, host)
}

// Left notes that somebody listens no more, and why that is if it is a failure; empty: it is none. Noting it again changes nothing.
func (h *Store) Left(ctx context.Context, id, failure string) error {
	_, err := h.db.Pool().Exec(ctx, `update call_listeners set left_at = coalesce(left_at, $2), failure = case when left_at is null then nullif($3, '') else failure end
		where id = $1`, id, h.db.Time(ctx), failure)
	return store.Fail("note listener", err)
}

// Spoke notes that somebody who listens speaks in the agent's place. Noting it again changes nothing.
func (h *Store) Spoke(ctx context.Context, id string) error {
	_, err := h.db.Pool().Exec(ctx, "update call_listeners set spoke_at = coalesce(spoke_at, $2) where id = $1", id, h.db.Time(ctx))
	return store.Fail("note supervisor", err)
}

// Listeners are those of a call of the account, in the order in which they joined.
func (h *Store) Listeners(ctx context.Context, account, call string) ([]Listener, error) {
	return store.List[Listener](ctx, h.db, "list listeners", `select l.id, l.credential, coalesce(u.email, ''), coalesce(l.host, ''), l.joined_at, l.left_at, l.spoke_at, coalesce(l.failure, '')
		from call_listeners l left join users u on u.id = l.credential where l.account_id = $1 and l.session_id = $2 order by l.id`, account, call)
}
