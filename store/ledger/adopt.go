package ledger

import (
	"context"
	"errors"
	"strings"
	"time"

	"parley/billing"

	"parley/store"
)

// Progress is how far the books of a session are.
type Progress struct {
	Seq       int64 // of the last checkpoint that is stored
	Permitted int64 // line minutes
}

// OpenSession reads an open session of the account, for me to adopt: Node of what it returns is me, whose the session is not yet.
// ErrNotFound: the account has none, or it is closed.
func (l *Ledger) OpenSession(ctx context.Context, account, id string, me store.Node) (*Session, error) {
	s := &Session{ID: id, Account: account, Node: me}
	var version string
	err := l.db.One(ctx, "read session", `select s.kind, s.country, s.mobile, s.own_trunk, s.price_version, coalesce(u.key_id, '')
		from sessions s join session_usage u on u.session_id = s.id where s.account_id = $1 and s.id = $2 and u.open`,
		[]any{account, id}, &s.Terms.Kind, &s.Terms.Country, &s.Terms.Mobile, &s.Terms.OwnTrunk, &version, &s.Key)
	if err != nil {
		return nil, err
	}
	if s.Card, err = l.db.Card(ctx, l.db.Pool(), version); err != nil {
		return nil, err
	}
	s.Tariff, err = s.Card.Tariff(s.Terms)
	return s, err
}

// adoptSQL locks the usage first, as closing the session does. The lock on the node's row lasts until the commit: ending
// this life of the node waits for it, and finds the session.
const adoptSQL = `with u as materialized (select session_id, ckpt_seq, line_granted from session_usage
		where session_id = $2 and account_id = $1 and open and node_epoch = $4 for no key update),
	n as materialized (select node_id from nodes where node_id = $5 and epoch = $6 for key share),
	s as (update sessions s set node_id = n.node_id, node_epoch = $6, began_epoch = coalesce(s.began_epoch, s.node_epoch)
		from u, n where s.id = u.session_id and s.node_id = $3 returning s.id),
	x as (update session_usage set node_epoch = $6 from s where session_id = s.id)
	select u.ckpt_seq, u.line_granted from u join s on s.id = u.session_id`

// AdoptSession makes an open session that a life of a node has that of s.Node, and says how far its books are. From then on the
// former life is refused with ErrFenced. So is the caller, when from has the session no more or s.Node has a younger process.
func (l *Ledger) AdoptSession(ctx context.Context, s *Session, from store.Node) (p Progress, err error) {
	err = l.db.One(ctx, "adopt session", adoptSQL, []any{s.Account, s.ID, from.ID, from.Epoch, s.Node.ID, s.Node.Epoch}, &p.Seq, &p.Permitted)
	if errors.Is(err, store.ErrNotFound) {
		err = store.Fail("adopt session", store.ErrFenced)
	}
	return p, err
}

// Used is what a session that s.Node has has used by its last checkpoint. ErrFenced: that life has it not, or it is over.
func (l *Ledger) Used(ctx context.Context, s *Session) (u billing.Usage, err error) {
	into := make([]any, len(u))
	for i := range u {
		into[i] = &u[i]
	}
	err = l.db.One(ctx, "read usage", usedSQL, []any{s.Account, s.ID, s.Node.Epoch}, into...)
	if errors.Is(err, store.ErrNotFound) {
		err = store.Fail("read usage", store.ErrFenced)
	}
	return u, err
}

var usedSQL = "select " + strings.Join(Counters[:], ", ") + " from session_usage where account_id = $1 and session_id = $2 and node_epoch = $3 and open"

// NoteAway notes for how long in all nobody but the line was there in a session that s.Node has. ErrFenced: that life has it not.
func (l *Ledger) NoteAway(ctx context.Context, s *Session, away time.Duration) error {
	err := l.db.Must(ctx, "note absence", "update sessions set agent_away_ms = $4 where account_id = $1 and id = $2 and node_epoch = $3",
		s.Account, s.ID, s.Node.Epoch, away.Milliseconds())
	if errors.Is(err, store.ErrNotFound) {
		err = store.Fail("note absence", store.ErrFenced)
	}
	return err
}

// Holder is the life of a node that has a session, or had it when it ended; live is false then.
func (l *Ledger) Holder(ctx context.Context, account, id string) (n store.Node, live bool, err error) {
	err = l.db.One(ctx, "look for a session's node", "select node_id, node_epoch, state = 'live' from sessions where account_id = $1 and id = $2", []any{account, id}, &n.ID, &n.Epoch, &live)
	return n, live, err
}
