package operator

import (
	"context"

	"parley/api"
	"parley/api/manage"
	"parley/api/wire"
	"parley/store/people"
)

// users serves who signs in to the server.
type users struct{ people *people.Store }

func mountUsers(a *api.API, p *people.Store) {
	const all, one = "/v1/operator/users", "/v1/operator/users/{id}"
	m := users{p}
	api.Register(a, routes.Get(all, "list-users", "List who signs in to the server", "Newest first."), m.list)
	api.Register(a, routes.Patch(one, "update-user", "Disable a user, or take an operator's role away",
		"A disabled user cannot sign in: their sign-ins, links and invitations end at once, and their operator's keys open nothing. Operators are made "+
			"on the server only (`parley admin user role`). The answer names the keys of accounts that somebody who is disabled made, also by a key of "+
			"theirs, and that were good: with `keys=revoke` these end, else they stay good."), m.change)
	api.Register(a, routes.Delete(one, "delete-user", "Delete a user",
		"With their sign-ins, operator's keys and memberships. The last owner of an account that has other people cannot go. The answer is as for "+
			"somebody who is disabled."), m.remove)
}

func viewUser(u *people.User) wire.User {
	return wire.User{ID: u.ID, Email: u.Email, Role: u.Role, CreatedAt: u.CreatedAt, SignedInAt: u.SignedInAt, DisabledAt: u.DisabledAt}
}

func (m users) list(ctx context.Context, in *api.Paging) (*api.Listed[wire.User], error) {
	return api.Pages(in.Limit, func(u people.User) string { return u.ID }, viewUser)(m.people.Users(ctx, in.Page()))
}

type userInput struct {
	ID   string `path:"id" doc:"The user's identifier." example:"usr_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Keys string `query:"keys" doc:"What happens to keys of accounts that they made." enum:"keep,revoke" default:"keep"`
}

type userChange struct {
	ID   string `path:"id" doc:"The user's identifier." example:"usr_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Keys string `query:"keys" doc:"What happens to keys of accounts that they made." enum:"keep,revoke" default:"keep"`
	Body struct {
		Role     string `json:"role,omitempty" doc:"member takes an operator's role away." enum:"member"`
		Disabled *bool  `json:"disabled,omitempty" doc:"Whether they may not sign in."`
	}
}

func (m users) change(ctx context.Context, in *userChange) (*api.Reply[wire.ChangedUser], error) {
	u, err := m.people.User(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	var keys []people.Key
	if in.Body.Role != "" {
		err = m.people.ChangeRole(ctx, u.ID, in.Body.Role)
	}
	if d := in.Body.Disabled; err == nil && d != nil {
		if *d {
			keys, err = m.people.DisableUser(ctx, u.ID, in.Keys == "revoke")
		} else {
			err = m.people.EnableUser(ctx, u.ID)
		}
	}
	if err == nil {
		u, err = m.people.User(ctx, u.ID)
	}
	if err != nil {
		return nil, err
	}
	return api.Body(wire.ChangedUser{User: viewUser(u), Removal: manage.Removed(keys)}), nil
}

func (m users) remove(ctx context.Context, in *userInput) (*api.Reply[wire.Removal], error) {
	u, err := m.people.User(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return api.Show(manage.Removed)(m.people.DeleteUser(ctx, u.ID, in.Keys == "revoke"))
}
