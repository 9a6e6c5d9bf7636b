package api

import (
	"errors"
	"testing"

	"parley/store"
)

// TestRoles is every kind of credential at every kind of route.
func TestRoles(t *testing.T) {
	key, owner := Principal{Account: "a", Key: "k"}, Principal{Account: "a", Key: "k", Owner: true}
	payer := Principal{Account: "a", Key: "k", Money: true}
	user := Principal{Account: "a", Key: "usr-web", User: "usr"}
	runs := Principal{Account: "a", Key: "usr-web", User: "usr", Operator: true} // and is a member of an account
	operator := Principal{Key: "okey", User: "usr", Operator: true}
	ticket, session := key, owner
	ticket.Ticket, session.Ticket = &Ticket{}, &Ticket{Agent: "ag"}
	scope, role, unknown := ErrTicketScope, ErrRole, error(store.ErrNotFound)
	for _, tt := range []struct {
		access                                                            Access
		key, owner, payer, user, runs, operator, ticket, session, nothing error
	}{
		{Service, nil, nil, nil, nil, nil, role, nil, scope, nil},
		{Conversation, nil, nil, nil, nil, nil, role, nil, nil, nil},
		{Management, nil, nil, nil, nil, nil, role, scope, scope, nil},
		{Minting, nil, nil, nil, nil, nil, role, nil, scope, nil},
		{Owners, role, nil, role, role, role, role, scope, scope, role},
		{Payers, role, role, nil, role, role, role, scope, scope, role},
		{Operators, unknown, unknown, unknown, unknown, nil, nil, scope, scope, unknown},
	} {
		for _, c := range []struct {
			what string
			p    Principal
			want error
		}{
			{"a key", key, tt.key}, {"an owner's key", owner, tt.owner}, {"a key with the mark", payer, tt.payer}, {"a member", user, tt.user}, {"an operator who is a member", runs, tt.runs},
			{"an operator's key", operator, tt.operator}, {"a ticket", ticket, tt.ticket}, {"a session ticket", session, tt.session},
			{"nobody", Principal{}, tt.nothing},
		} {
			if err := tt.access.allows(c.p); !errors.Is(err, c.want) || c.want == nil && err != nil {
				t.Errorf("access %d, %s: %v, want %v", tt.access, c.what, err, c.want)
			}
		}
	}
}
