package ledger

import (
	"context"

	"parley/store"
)

// RequestHangup notes that a call of the account is to be hung up and returns the
// life of the node that owns it, which should know: it learns of it by its next
// checkpoint at the latest (CheckpointResult.Hangup). A call that has ended has no
// owner, which is no error. The first request's time stays.
func (l *Ledger) RequestHangup(ctx context.Context, account, id string) (owner store.Node, err error) {
	type state struct {
		store.Node
		Open bool
	}
	// The row of the usage is all that is locked: nothing is waited for with it.
	s, err := store.First[state](ctx, l.db, "request hang-up", `
		with asked as (
			update session_usage set hangup_requested_at = coalesce(hangup_requested_at, $3)
			where session_id = $2 and account_id = $1 and open returning session_id)
		select s.node_id, s.node_epoch, exists (select from asked)
		from sessions s join calls c on c.session_id = s.id
		where s.account_id = $1 and s.id = $2`, account, id, l.db.Time(ctx))
	if err != nil || !s.Open {
		return store.Node{}, err
	}
	return s.Node, nil
}

// CallOwner is the life of the node that has a call of the account; none when the
// call has ended.
func (l *Ledger) CallOwner(ctx context.Context, account, id string) (store.Node, error) {
	n, err := store.First[store.Node](ctx, l.db, "read call's owner", `
		select case s.state when 'live' then s.node_id else '' end, case s.state when 'live' then s.node_epoch else 0 end
		from sessions s join calls c on c.session_id = s.id where s.account_id = $1 and s.id = $2`, account, id)
	if err != nil {
		return store.Node{}, err
	}
	return *n, nil
}
