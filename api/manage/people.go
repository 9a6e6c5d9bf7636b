package manage

import (
	"context"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"parley/api"
	"parley/store"
)

// people serves who belongs to an account, to its owners.
type people struct {
	db   *store.DB
	link func(token string) string
}

// MountPeople adds the routes of the people of an account. link is the address with which
// whoever was invited opens the account, for the secret of an invitation.
func MountPeople(a *api.API, db *store.DB, link func(token string) string) {
	const tag, member = "People", "/v1/members/{user_id}"
	m := people{db, link}
	api.Register(a, owners(route(http.MethodGet, "/v1/members", "list-members", tag, "List the people of the account",
		"Owners first. There are 100 at most, invitations counted.")), m.members)
	api.Register(a, owners(route(http.MethodPatch, member, "change-member", tag, "Change somebody's role",
		"It counts from their next request on. The last owner stays one. A key makes owners only if it has the mark money, which owners have.", notFound)), m.change)
	remove := owners(route(http.MethodDelete, member, "remove-member", tag, "Remove somebody",
		"They no longer see the account, and invitations that they made open nothing. The answer names the keys of the account that they made, also by "+
			"a key of theirs, and that were good: with `keys=revoke` these end with them, else they stay good. The last owner cannot be removed.", notFound))
	api.Register(a, remove, m.remove)

	api.Register(a, owners(route(http.MethodGet, "/v1/invitations", "list-invitations", tag, "List invitations",
		"Those that are still good and were not accepted, the newest first.")), m.invitations)
	invite := owners(route(http.MethodPost, "/v1/invitations", "create-invitation", tag, "Invite somebody",
		"The answer is the only one that holds the link: send it to them. Nothing is mailed. It opens once, within seven days; an earlier one for the "+
			"same address is dead. Who is new chooses a password with it, who is a user already signs in."))
	invite.DefaultStatus = http.StatusCreated
	api.Register(a, invite, m.invite)
	revoke := owners(route(http.MethodDelete, "/v1/invitations/{id}", "revoke-invitation", tag, "Take an invitation back", "Its link opens nothing from then on.", notFound))
	revoke.DefaultStatus = http.StatusNoContent
	api.Register(a, revoke, m.revoke)
}

// owners leaves a route to those who may change who belongs to an account.
func owners(r api.Route) api.Route {
	r.Access = api.Owners
	return r
}

// Member is somebody who belongs to an account.
type Member struct {
	User       string     `json:"user_id" doc:"Names them in requests." example:"usr_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Email      string     `json:"email" doc:"With which they sign in." example:"ana@example.com"`
	Role       string     `json:"role" doc:"Owners invite and remove people, too." enum:"owner,member"`
	CreatedAt  time.Time  `json:"created_at" doc:"When they joined."`
	SignedInAt *time.Time `json:"signed_in_at" doc:"When they signed in last, to whichever account; null: never."`
}

// Members are the people of an account, as they are shown.
func Members(list []store.Membership) []Member {
	out := make([]Member, len(list))
	for i, m := range list {
		out[i] = Member{m.User, m.Email, m.Role, m.CreatedAt, m.SignedInAt}
	}
	return out
}

// Invitation is that somebody may join an account.
type Invitation struct {
	ID        string    `json:"id" doc:"Names it in requests; it is no secret." example:"inv_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Email     string    `json:"email" doc:"Whom it is for." example:"luis@example.com"`
	Role      string    `json:"role" doc:"What they will be." enum:"owner,member"`
	InvitedBy *string   `json:"invited_by" doc:"The address of who invited them; null: an API key, or somebody who is no longer there."`
	CreatedAt time.Time `json:"created_at" doc:"When it was made."`
	ExpiresAt time.Time `json:"expires_at" doc:"Until when its link is good."`
}

func viewInvitation(i *store.Invitation) Invitation {
	v := Invitation{ID: i.ID, Email: i.Email, Role: i.Role, CreatedAt: i.CreatedAt, ExpiresAt: i.ExpiresAt}
	if i.InvitedBy != "" {
		v.InvitedBy = &i.InvitedBy
	}
	return v
}

type memberList struct {
	Data []Member `json:"data" doc:"The people, owners first." nullable:"false"`
	More
}

type memberListOutput struct{ Body memberList }

func (m people) members(ctx context.Context, in *shortInput) (*memberListOutput, error) {
	page := pageInput(*in)
	list, err := m.db.Members(ctx, api.PrincipalOf(ctx).Account, page.page())
	if err != nil {
		return nil, Explained(err)
	}
	list, rest := cut(page, list, func(m store.Membership) string { return m.Place() })
	return &memberListOutput{memberList{Members(list), rest}}, nil
}

type memberInput struct {
	User string `path:"user_id" doc:"The user's identifier." example:"usr_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Keys string `query:"keys" doc:"What happens to keys that they made." enum:"keep,revoke" default:"keep"`
}

// Removal is what somebody leaves behind.
type Removal struct {
	Keys []APIKey `json:"keys" doc:"The keys that they made and that were good, the newest first; revoked_at is null of those that still are." nullable:"false"`
}

type removalOutput struct{ Body Removal }

// held says whether the database can hold a text; what it cannot hold names nothing there.
func held(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }

type memberChange struct {
	User string `path:"user_id" doc:"The user's identifier." example:"usr_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Body struct {
		Role string `json:"role" doc:"What they are from now on." enum:"owner,member"`
	}
}

type memberOutput struct{ Body Member }

func (m people) change(ctx context.Context, in *memberChange) (*memberOutput, error) {
	if !held(in.User) {
		return nil, store.ErrNotFound
	}
	p := api.PrincipalOf(ctx)
	if !mayMake(p, in.Body.Role) {
		return nil, api.ErrRole
	}
	account := p.Account
	if err := m.db.ChangeMember(ctx, account, in.User, in.Body.Role); err != nil {
		return nil, Explained(err)
	}
	list, err := m.db.Members(ctx, account, store.Page{})
	if err != nil {
		return nil, err
	}
	for _, v := range Members(list) {
		if v.User == in.User {
			return &memberOutput{v}, nil
		}
	}
	return nil, store.ErrNotFound // removed since
}

// mayMake says whether somebody may be given a role: owners may change what is paid, so
// who makes one must be able to.
func mayMake(p api.Principal, role string) bool { return role != store.RoleOwner || p.Money }

func (m people) remove(ctx context.Context, in *memberInput) (*removalOutput, error) {
	if !held(in.User) {
		return nil, store.ErrNotFound
	}
	keys, err := m.db.RemoveMember(ctx, api.PrincipalOf(ctx).Account, in.User, in.Keys == "revoke", m.db.Now())
	if err != nil {
		return nil, Explained(err)
	}
	return &removalOutput{Removal{Keys(keys)}}, nil
}

type invitationList struct {
	Data []Invitation `json:"data" doc:"The invitations, the newest first." nullable:"false"`
	More
}

type invitationListOutput struct{ Body invitationList }

func (m people) invitations(ctx context.Context, in *shortInput) (*invitationListOutput, error) {
	page := pageInput(*in)
	list, err := m.db.Invitations(ctx, api.PrincipalOf(ctx).Account, page.page(), m.db.Now())
	if err != nil {
		return nil, Explained(err)
	}
	list, rest := cut(page, list, func(i store.Invitation) string { return i.ID })
	out := &invitationListOutput{invitationList{make([]Invitation, len(list)), rest}}
	for i := range list {
		out.Body.Data[i] = viewInvitation(&list[i])
	}
	return out, nil
}

// CreatedInvitation is the only answer that holds an invitation's link.
type CreatedInvitation struct {
	Invitation
	URL string `json:"url" doc:"The link to send to them, shown this once." example:"https://voice.example.com/app/invitation?token=…"`
}

type createdInvitationOutput struct {
	CacheControl string `header:"Cache-Control"`
	Body         CreatedInvitation
}

type newInvitation struct {
	Email string `json:"email" doc:"Of whoever is invited." minLength:"3" maxLength:"254" example:"luis@example.com"`
	Role  string `json:"role,omitempty" doc:"What they will be." enum:"owner,member" default:"member"`
}

func (m people) invite(ctx context.Context, in *struct{ Body newInvitation }) (*createdInvitationOutput, error) {
	p := api.PrincipalOf(ctx)
	if !mayMake(p, in.Body.Role) {
		return nil, api.ErrRole
	}
	inv, token, err := m.db.Invite(ctx, p.Account, in.Body.Email, in.Body.Role, p.User, m.db.Now())
	if err != nil {
		return nil, ofField("email", err)
	}
	return &createdInvitationOutput{CacheControl: "no-store", Body: CreatedInvitation{viewInvitation(inv), m.link(token)}}, nil
}

func (m people) revoke(ctx context.Context, in *struct {
	ID string `path:"id" doc:"The invitation's identifier." example:"inv_06er5bt0v9k1o7m2q3s4t5u6v0"`
}) (*struct{}, error) {
	return nil, Unknown(m.db.RevokeInvitation(ctx, api.PrincipalOf(ctx).Account, in.ID))
}
