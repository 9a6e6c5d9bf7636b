package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parley/api"
	"parley/billing"
	"parley/pipeline/session"
	"parley/store"
	"parley/store/ledger"
)

// webTerms price a conversation over a socket.
var webTerms = billing.Terms{Kind: billing.Web}

// quietClient ends a conversation without a stored agent in which nobody has
// spoken for so long: clients reconnect with nobody listening.
const quietClient = time.Minute

// notFound says that an agent does not exist, whoever owns it.
func notFound(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("%w: %w", api.ErrNoAgent, err)
	}
	return err
}

// refusal is the manager's refusal in the words of the error table.
func refusal(err error) error {
	if errors.Is(err, session.ErrDraining) || errors.Is(err, session.ErrFull) {
		return fmt.Errorf("%w: %w", api.ErrDraining, err)
	}
	return notFound(err)
}

// mayStart says whether an account may start work now, before it asks for any.
// Whether it may at once with what it does already shows when it asks.
func (n *Node) mayStart(ctx context.Context, p api.Principal) error {
	a, err := ledger.New(n.db).Account(ctx, p.Account)
	switch {
	case err != nil:
		return err
	case a.Suspended:
		return store.ErrSuspended
	case a.OpenDisputes > 0:
		return store.ErrDisputed
	case a.Pots.Spendable(false) < n.db.RateCard().Wallet().MinSessionStart:
		return store.ErrInsufficientBalance
	}
	return ledger.New(n.db).MaySpend(ctx, p.Account, p.Key, n.db.Now())
}
