// Code generated from the service's OpenAPI document. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"

	"parley/api/wire"
)

// ListInvitations: List invitations.
// Those that are still good and were not accepted, the newest first.
func (c *Client) ListInvitations(ctx context.Context) iter.Seq2[wire.Invitation, error] {
	return each[wire.Invitation](ctx, c, url.Values{}, "v1", "invitations")
}

// CreateInvitation: Invite somebody.
// The answer is the only one that holds the link: send it to them. Nothing is mailed. It opens once, within seven
// days; an earlier one for the same address is dead. Who is new chooses a password with it, who is a user already
// signs in.
func (c *Client) CreateInvitation(ctx context.Context, body wire.NewInvitation) (*wire.CreatedInvitation, error) {
	return ask[wire.CreatedInvitation](ctx, c, http.MethodPost, c.address("v1", "invitations"), body)
}

// RevokeInvitation: Take an invitation back.
// Its link opens nothing from then on.
func (c *Client) RevokeInvitation(ctx context.Context, id string) error {
	return c.did(ctx, http.MethodDelete, c.address("v1", "invitations", id), nil)
}

// ListMembers: List the people of the account.
// Owners first. There are 100 at most, invitations counted.
func (c *Client) ListMembers(ctx context.Context) iter.Seq2[wire.Member, error] {
	return each[wire.Member](ctx, c, url.Values{}, "v1", "members")
}

// RemoveMemberQuery is the query of RemoveMember. Empty fields are not sent.
type RemoveMemberQuery struct {
	// What happens to keys that they made.
	Keys string
}

func (q RemoveMemberQuery) values() url.Values {
	return picked(map[string]string{"keys": q.Keys})
}

// RemoveMember: Remove somebody.
// They no longer see the account, and invitations that they made open nothing. The answer names the keys of the
// account that they made, also by a key of theirs, and that were good: with `keys=revoke` these end with them, else
// they stay good. The last owner cannot be removed.
func (c *Client) RemoveMember(ctx context.Context, userID string, q RemoveMemberQuery) (*wire.Removal, error) {
	return ask[wire.Removal](ctx, c, http.MethodDelete, c.query(q.values(), "v1", "members", userID), nil)
}

// UpdateMember: Change what somebody may do.
// Their role, whether they may listen in on calls, or speak in them; who may speak may listen. It counts from their
// next request on. The last owner stays one. A key makes owners only if it has the mark money, which owners have.
func (c *Client) UpdateMember(ctx context.Context, userID string, body MemberChangeBody) (*wire.Member, error) {
	return ask[wire.Member](ctx, c, http.MethodPatch, c.address("v1", "members", userID), body)
}

// MemberChangeBody: An object of the service's HTTP API.
type MemberChangeBody struct {
	// Whether they may listen in on calls; absent: it stays. Who may not listen may not speak.
	Listen bool `json:"listen,omitempty"`
	// What they are from now on; absent: it stays.
	Role string `json:"role,omitempty"`
	// Whether they may listen in on calls and speak in them; absent: it stays.
	Speak bool `json:"speak,omitempty"`
}
