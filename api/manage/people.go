package manage

import (
	"context"
	"net/http"

	"parley/api"
	"parley/api/wire"
	"parley/store"
	"parley/store/people"
)

// members serves the people of an account to its owners.
type members struct {
	people *people.Store
	link   func(token string) string
}

// MountPeople adds the routes of the people of an account. link makes the address that opens
// an invitation out of its secret.
func MountPeople(a *api.API, p *people.Store, link func(token string) string) {
	const member = "/v1/members/{user_id}"
	m := members{p, link}
	api.Register(a, peopleRoutes.Get("/v1/members", "list-members", "List the people of the account",
		"Owners first. There are 100 at most, invitations counted."), m.members)
	api.Register(a, peopleRoutes.Patch(member, "update-member", "Change what somebody may do",
		"Their role, whether they may listen in on calls, or speak in them; who may speak may listen. It counts from their next request on. The last owner stays one. A key makes owners only if it has the mark money, which owners have.", http.StatusNotFound), m.change)
	api.Register(a, peopleRoutes.Delete(member, "remove-member", "Remove somebody",
		"They no longer see the account, and invitations that they made open nothing. The answer names the keys of the account that they made, also by "+
			"a key of theirs, and that were good: with `keys=revoke` these end with them, else they stay good. The last owner cannot be removed.", http.StatusNotFound), m.remove)

	api.Register(a, peopleRoutes.Get("/v1/invitations", "list-invitations", "List invitations",
		"Those that are still good and were not accepted, the newest first."), m.invitations)
	api.Register(a, peopleRoutes.Post("/v1/invitations", "create-invitation", "Invite somebody",
		"The answer is the only one that holds the link: send it to them. Nothing is mailed. It opens once, within seven days; an earlier one for the "+
			"same address is dead. Who is new chooses a password with it, who is a user already signs in.").Created().ShownOnce(), m.invite)
	api.Register(a, peopleRoutes.Delete("/v1/invitations/{id}", "revoke-invitation", "Take an invitation back", "Its link opens nothing from then on.", http.StatusNotFound), m.revoke)
}

// peopleRoutes describes routes for those who may change who belongs to an account.
var peopleRoutes = api.Group{Tag: "People", Access: api.Owners, OwnPagesOnly: true, MaxBody: maxBody}

// Members are the people of an account, as they are shown.
func Members(list []people.Membership) []wire.Member { return api.Views(list, viewMember) }

func viewMember(m *people.Membership) wire.Member {
	return wire.Member{User: m.User, Email: m.Email, Role: m.Role, Listen: m.Listens, Speak: m.Speaks, CreatedAt: m.CreatedAt, SignedInAt: m.SignedInAt}
}

func viewInvitation(i *people.Invitation) wire.Invitation {
	return wire.Invitation{ID: i.ID, Email: i.Email, Role: i.Role, CreatedAt: i.CreatedAt, ExpiresAt: i.ExpiresAt, InvitedBy: api.Some(i.InvitedBy)}
}

func (m members) members(ctx context.Context, in *api.ShortPaging) (*api.Listed[wire.Member], error) {
	return api.Pages(in.Limit, func(m people.Membership) string { return m.Place() }, viewMember)(m.people.Members(ctx, api.AccountOf(ctx), api.Paging(*in).Page()))
}

type memberInput struct {
	User string `path:"user_id" doc:"The user's identifier." example:"usr_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Keys string `query:"keys" doc:"What happens to keys that they made." enum:"keep,revoke" default:"keep"`
}

type memberChange struct {
	User string `path:"user_id" doc:"The user's identifier." example:"usr_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Body struct {
		Role   string `json:"role,omitempty" required:"false" doc:"What they are from now on; absent: it stays." enum:"owner,member"`
		Listen *bool  `json:"listen,omitempty" required:"false" doc:"Whether they may listen in on calls; absent: it stays. Who may not listen may not speak."`
		Speak  *bool  `json:"speak,omitempty" required:"false" doc:"Whether they may listen in on calls and speak in them; absent: it stays."`
	}
}

func (m members) change(ctx context.Context, in *memberChange) (*api.Reply[wire.Member], error) {
	p := api.PrincipalOf(ctx)
	account := p.Account
	switch {
	case in.Body.Role == "" && in.Body.Listen == nil && in.Body.Speak == nil:
		return nil, api.Bad("body: say what changes, role, listen or speak")
	case !mayMake(p, in.Body.Role):
		return nil, api.ErrRole
	}
	if in.Body.Role != "" {
		if err := m.people.ChangeMember(ctx, account, in.User, in.Body.Role); err != nil {
			return nil, err
		}
	}
	if in.Body.Listen != nil {
		if err := m.people.LetListen(ctx, account, in.User, *in.Body.Listen); err != nil {
			return nil, err
		}
	}
	if in.Body.Speak != nil {
		if err := m.people.LetSpeak(ctx, account, in.User, *in.Body.Speak); err != nil {
			return nil, err
		}
	}
	list, err := m.people.Members(ctx, account, store.Page{})
	if err != nil {
		return nil, err
	}
	for _, v := range Members(list) {
		if v.User == in.User {
			return api.Body(v), nil
		}
	}
	return nil, store.ErrNotFound // removed since
}

// mayMake says whether p may give a role: owners may change what is paid, so
// who makes one must be able to.
func mayMake(p api.Principal, role string) bool { return role != people.RoleOwner || p.Money }

func (m members) remove(ctx context.Context, in *memberInput) (*api.Reply[wire.Removal], error) {
	return api.Show(Removed)(m.people.RemoveMember(ctx, api.AccountOf(ctx), in.User, in.Keys == "revoke"))
}

func (m members) invitations(ctx context.Context, in *api.ShortPaging) (*api.Listed[wire.Invitation], error) {
	return api.Pages(in.Limit, func(i people.Invitation) string { return i.ID }, viewInvitation)(m.people.Invitations(ctx, api.AccountOf(ctx), api.Paging(*in).Page()))
}

func (m members) invite(ctx context.Context, in *struct{ Body wire.NewInvitation }) (*api.Secret[wire.CreatedInvitation], error) {
	p := api.PrincipalOf(ctx)
	if !mayMake(p, in.Body.Role) {
		return nil, api.ErrRole
	}
	inv, token, err := m.people.Invite(ctx, p.Account, in.Body.Email, in.Body.Role, p.User)
	if err != nil {
		return nil, ofField("email", err)
	}
	return api.NotStored(wire.CreatedInvitation{Invitation: viewInvitation(inv), URL: m.link(token)}), nil
}

func (m members) revoke(ctx context.Context, in *struct {
	ID string `path:"id" doc:"The invitation's identifier." example:"inv_06er5bt0v9k1o7m2q3s4t5u6v0"`
}) (*struct{}, error) {
	return nil, m.people.RevokeInvitation(ctx, api.AccountOf(ctx), in.ID)
}
