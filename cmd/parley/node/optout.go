package node

import (
	"context"

	"parley/pipeline/session"
)

// optOut puts the far end of a telephone call on its account's do-not-call list, for
// the agent's function of that name. It may be called again. store.ErrInvalid: the
// caller withholds their number.
func (n *Node) optOut(session *session.Session) func(context.Context) error {
	return func(ctx context.Context) error {
		return n.db.OptOut(ctx, session.Account(), "", session.ID(), n.db.Now())
	}
}
