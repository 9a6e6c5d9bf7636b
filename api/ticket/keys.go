package ticket

import (
	"context"
	"strings"
	"time"

	"parley/api"
	"parley/store"
	"parley/store/people"
)

// Store is what tickets need of the store.
type Store interface {
	Now() time.Time // by the database's clock
	Agent(ctx context.Context, account, id string) (*store.Agent, error)
}

// People check the credentials that are no tickets. People.Store implements it.
type People interface {
	Authenticate(ctx context.Context, secret string) (people.Principal, error)
	CheckKey(ctx context.Context, p people.Principal) error
}

// Keys looks up whatever a client may send: tickets here, everything else in the
// store. It implements api.Keys.
type Keys struct {
	Signer *Signer
	Store  Store
	People People
}

// Authenticate implements api.Keys. A ticket is good as long as the key from which
// it was made: that is asked each time, so that a revocation counts at once on
// every node.
func (k Keys) Authenticate(ctx context.Context, secret string) (api.Principal, error) {
	if !strings.HasPrefix(secret, prefix) {
		p, err := k.People.Authenticate(ctx, secret)
		return api.PrincipalFor(p), err
	}
	p, err := k.Signer.Verify(secret, k.Store.Now())
	if err != nil {
		return api.Principal{}, err
	}
	if err := k.People.CheckKey(ctx, people.Principal{Account: p.Account, Key: p.Key}); err != nil {
		return api.Principal{}, err
	}
	return p, nil
}
