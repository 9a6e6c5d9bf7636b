package api

import (
	"context"
	"time"
)

// Principal is whose credential a request carried.
type Principal struct {
	Account string
	Key     string // the API key that was sent, or from which the ticket was made
	// Ticket is set when a ticket was sent instead of the key.
	Ticket *Ticket
}

// Ticket is what a short-lived credential may do.
type Ticket struct {
	ID      string // unique
	Expires time.Time
	// Agent makes it a session ticket: it opens conversations with this agent of
	// the account and nothing else.
	Agent string
	// MaxSessions and MaxDuration bound a session ticket; 0: no bound.
	MaxSessions int
	MaxDuration time.Duration
}

// Credential tells the credentials of an account apart.
func (p Principal) Credential() string {
	if p.Ticket != nil {
		return p.Ticket.ID
	}
	return p.Key
}

// Access is who may use a route.
type Access uint8

// Who may use a route. A credential that is good but not enough is answered with
// ErrTicketScope.
const (
	Public       Access = iota // anybody, without a credential
	Service                    // keys and tickets
	Conversation               // these, and session tickets
	Management                 // keys only
	Minting                    // keys and tickets, sent in a header: a URL may be logged somewhere
)

func (a Access) allows(p Principal) error {
	switch {
	case p.Ticket == nil:
		return nil
	case a == Management, p.Ticket.Agent != "" && a != Conversation:
		return ErrTicketScope
	}
	return nil
}

type principalKey struct{} // of the Principal in a request's context

// PrincipalOf is who sent the request that ctx belongs to. It is the zero value on
// public routes.
func PrincipalOf(ctx context.Context) Principal {
	p, _ := ctx.Value(principalKey{}).(Principal)
	return p
}
