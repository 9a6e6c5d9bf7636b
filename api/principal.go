package api

import (
	"cmp"
	"context"
	"time"

	"parley/billing"
	"parley/store"
	"parley/store/people"
)

// Principal is whose credential a request carried.
type Principal struct {
	// Account is empty for an operator's key, and for an operator who has signed in and
	// belongs to no account.
	Account string
	Key     string // the API key that was sent, or from which the ticket was made
	User    string // who has signed in, or whose key an operator's is; empty: a key of the account's
	// Owner says that it may change who belongs to the account.
	Owner bool
	// Money says that it may change what is paid: automatic recharge, limits of spending.
	Money bool
	// Listens says that it may listen in on calls.
	Listens bool
	// Speaks says that it may speak in calls, too.
	Speaks bool
	// Operator says that it may look after the server's accounts.
	Operator bool
	// Ticket is set when a ticket was sent instead of the key.
	Ticket *Ticket
}

// PrincipalFor is what the store found out about a key or a sign-in.
func PrincipalFor(p people.Principal) Principal {
	return Principal{Account: p.Account, Key: p.Key, User: p.User, Owner: p.Owner, Money: p.Money, Listens: p.Listens, Speaks: p.Speaks, Operator: p.Operator}
}

// Ticket is what a short-lived credential may do.
type Ticket struct {
	ID      string // unique
	Expires time.Time
	// Agent makes it a session ticket: it opens conversations with this agent of
	// the account and nothing else.
	Agent string
	// Scope bounds what it opens; 0: all that tickets open.
	Scope Scope
	// MaxSessions, MaxDuration and MaxCost bound a session ticket; 0: no bound.
	MaxSessions int
	MaxDuration time.Duration
	MaxCost     billing.Money // of each conversation, whole cents
	// Variables are values of the agent's, and Metadata is of each call, of a session ticket.
	Variables, Metadata map[string]string
}

// Maker names who made what p makes: a user, or a key of the account's.
func (p Principal) Maker() string { return cmp.Or(p.User, p.Key) }

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
// ErrTicketScope or ErrRole. Sign-ins are good where only keys are.
const (
	Public       Access = iota // anybody, without a credential
	Service                    // keys and tickets
	Conversation               // these, and session tickets
	Management                 // keys only
	Minting                    // keys and tickets, sent in a header: a URL may be logged somewhere
	Owners                     // of keys only those that may change who belongs to the account
	Payers                     // of keys only those that may change what is paid
	Listeners                  // of keys only those that may listen in on calls
	Operators                  // operators' keys, which open nothing else
)

// keysOnly says whether tickets are refused.
func (a Access) keysOnly() bool {
	return a == Management || a == Owners || a == Payers || a == Listeners || a == Operators
}

func (a Access) allows(p Principal) error {
	switch {
	case p.Ticket != nil && (a.keysOnly() || p.Ticket.Agent != "" && a != Conversation):
		return ErrTicketScope
	case a == Operators && !p.Operator:
		return store.ErrNotFound // whether there is such an account or not
	case a == Operators:
		return nil
	case p.Operator && p.Account == "", a == Owners && !p.Owner, a == Payers && !p.Money, a == Listeners && !p.Listens:
		return ErrRole
	}
	return nil
}

type principalKey struct{} // of the Principal in a request's context

// PrincipalOf is who sent the request that ctx belongs to. It is the zero value on
// public routes, but for those that know keys.
func PrincipalOf(ctx context.Context) Principal {
	p, _ := ctx.Value(principalKey{}).(Principal)
	return p
}

// Scope is a set of groups of routes: what a ticket opens of that which tickets open.
type Scope uint8

// The groups of routes. Tickets keep their bits for ten minutes: a bit keeps its meaning.
const (
	Conversations Scope = 1 << iota // /ws/agent, /webrtc/agent
	Synthesis                       // /ws/tts, /ws, /tts, /api/tts
	Recognition                     // /ws/stt, /stt
	Denoising                       // /denoise
	Calls                           // /callcenter: dialling, bulk dialling, following, hanging up
	Numbers                         // /callcenter: numbers and the agents that answer them
	// /mcp belongs to Synthesis, Calls and Numbers; each of its tools checks what it opens.

	AnyScope = Conversations | Synthesis | Recognition | Denoising | Calls | Numbers
)

// ScopeNames are the names of the groups, in the order of their bits.
var ScopeNames = []string{"conversations", "synthesis", "recognition", "denoising", "calls", "numbers"}

// ScopeOf is the set of groups with these names; what has no such name is left out.
func ScopeOf(names []string) (s Scope) {
	for _, name := range names {
		for i, known := range ScopeNames {
			if name == known {
				s |= 1 << i
			}
		}
	}
	return s
}

// Names are the names of the groups in s.
func (s Scope) Names() (names []string) {
	for i, name := range ScopeNames {
		if s&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// opens says whether the scope of p's ticket, if it has one, includes the route. Tickets
// are made from all tickets, with what they open.
func (r Route) opens(p Principal) error {
	if r.Access == Minting || r.Access == Public {
		return nil
	}
	return p.Opens(r.Scope)
}

// Opens says whether the scope of p's ticket, if it has one, includes one of these groups: nil, or
// ErrTicketScope.
func (p Principal) Opens(s Scope) error {
	if t := p.Ticket; t != nil && t.Scope != 0 && t.Scope&s == 0 {
		return ErrTicketScope
	}
	return nil
}
