package dashboard

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"parley/api"
	"parley/api/wire"
	"parley/store/people"
)

func peoplePages() []page {
	return []page{
		{route: "GET " + home + "/people", open: owners, serve: peoplePage},
		{route: "POST " + home + "/people", open: owners, form: invite},
		{route: "POST " + home + "/people/{user}/role", open: owners, form: changeMember},
		{route: "POST " + home + "/people/{user}/remove", open: owners, form: removeMember},
		{route: "POST " + home + "/people/invitations/{id}/revoke", open: owners, serve: revokeInvitation},
		{route: "GET " + home + "/invitation", open: anybody, serve: invitationPage},
		{route: "POST " + home + "/invitation", open: anybody, form: acceptInvitation},
		{route: "GET " + home + "/accounts", open: users, serve: accountsPage},
		{route: "POST " + home + "/accounts/switch", open: users, form: switchAccount},
	}
}

const peopleAt = home + "/people"

// InvitationLink is the path of the link with which a user joins an account.
func InvitationLink(token string) string { return home + "/invitation?token=" + url.QueryEscape(token) }

type peopleView struct {
	Members     []wire.Member
	Invitations []wire.Invitation
	Form        *Form
	Self        string // the user who looks
	Link        string // of the invitation that was just made, shown this once
	Invited     string // whom it is for
	Change      *Form  // of a member
}

// Sole says whether a member is the only owner, who stays one.
func (v *peopleView) Sole(m wire.Member) bool {
	return m.Role == people.RoleOwner && !slices.ContainsFunc(v.Members, func(o wire.Member) bool { return o.Role == people.RoleOwner && o.User != m.User })
}

// Roles are what an invitation offers.
func (v *peopleView) Roles() Field {
	return v.Form.Select("role", "Role", people.RoleMember, []Option{{Value: people.RoleMember, Label: "Member: all work with the account"},
		{Value: people.RoleOwner, Label: "Owner: people and what is paid, too"}}, "required")
}

func (q *Request) peopleView(f *Form) (*peopleView, error) {
	members, err := read[api.List[wire.Member]](q, "/v1/members")
	if err != nil {
		return nil, err
	}
	invitations, err := read[api.List[wire.Invitation]](q, "/v1/invitations")
	return &peopleView{Members: members.Data, Invitations: invitations.Data, Form: f, Self: q.Browser.User.ID, Change: &Form{}}, err
}

func peoplePage(q *Request) error { return q.Show("people", "People")(q.peopleView(&Form{})) }

func invite(q *Request, f *Form) error {
	email := f.Need("email", "Enter the address of the person to invite.")
	var made wire.CreatedInvitation
	again := func() error { return q.ShowInvalid("people", "invite-form", "People")(q.peopleView(f)) }
	if done, err := q.Submit(f, http.MethodPost, "/v1/invitations", map[string]string{"email": email, "role": f.Value("role")}, &made, again); !done {
		return err
	}
	v, err := q.peopleView(&Form{})
	if err != nil {
		return err
	}
	link, err := url.Parse(made.URL)
	if err != nil {
		return err
	}
	v.Link, v.Invited = q.base()+link.RequestURI(), made.Email // where others reach the server
	return q.Page("people", "People", v)
}

func changeMember(q *Request, f *Form) error {
	if err := q.Call(http.MethodPatch, Path("/v1/members/", q.ID("user")), map[string]string{"role": f.Value("role")}, nil); err != nil {
		return q.memberStays(f, err)
	}
	return q.Done(peopleAt, "The role was changed.")
}

// memberStays says above the members why one was not changed: another owner may have changed
// another meanwhile.
func (q *Request) memberStays(f *Form, err error) error {
	if api.ProblemOf(err).Status != http.StatusBadRequest {
		return err
	}
	f.Values = nil // it has no fields to put it beside
	if err := f.Refused(err); err != nil {
		return err
	}
	v, err := q.peopleView(&Form{})
	if err == nil {
		v.Change = f
	}
	return q.ShowInvalid("people", "main", "People")(v, err)
}

func removeMember(q *Request, f *Form) error {
	what, notice := "keep", "They no longer see this account."
	if f.Value("keys") != "" {
		what = "revoke"
	}
	var left wire.Removal
	if err := q.Call(http.MethodDelete, Path("/v1/members/", q.ID("user"))+"?keys="+what, nil, &left); err != nil {
		return q.memberStays(f, err)
	}
	names := make([]string, len(left.Keys))
	for i, k := range left.Keys {
		names[i] = k.Name
	}
	switch list := strings.Join(names, ", "); {
	case list == "":
	case what == "revoke":
		notice += " Keys that they made were revoked: " + list + "."
	default:
		notice += " Keys that they made are still good: " + list + "."
	}
	return q.Done(peopleAt, notice)
}

func revokeInvitation(q *Request) error {
	return q.Do(http.MethodDelete, Path("/v1/invitations/", q.ID("id")), nil, peopleAt, "The invitation was withdrawn; its link no longer works.")
}

// invitationView is the page that an invitation opens. Those who invite have the link, too, so it does not say
// whether the address is a user's.
type invitationView struct {
	Form       *Form
	Token      string
	Invitation *people.Invitation
	SignedIn   bool // it is for who is signed in
	Other      string
}

func (q *Request) invitationView(token string, f *Form) (*invitationView, error) {
	inv, err := q.People.Invitation(q.Context(), token)
	if err != nil {
		return nil, linked(err)
	}
	v := &invitationView{Form: f, Token: token, Invitation: inv}
	if b := q.Browser; b != nil {
		v.SignedIn = b.User.Email == inv.Email
		if !v.SignedIn {
			v.Other = b.User.Email
		}
	}
	return v, nil
}

func invitationPage(q *Request) error {
	return q.Show("invitation", "Invitation")(q.invitationView(q.R.URL.Query().Get("token"), &Form{}))
}

func acceptInvitation(q *Request, f *Form) error {
	v, err := q.invitationView(f.Value("token"), f)
	if err != nil {
		return err
	}
	by, hash := "", ""
	if v.SignedIn {
		by = q.Browser.User.ID
	} else if v.Other != "" {
		return q.Page("invitation", "Invitation", v)
	} else if hash, err = newPassword(q, f, v.Invitation.Email); err != nil {
		return err
	}
	if !f.OK() {
		return q.Invalid("invitation", "invitation-form", "Invitation", v)
	}
	user, err := q.People.AcceptInvitation(q.Context(), v.Token, by, hash)
	switch {
	case errors.Is(err, people.ErrUserExists):
		f.Fail("", "This address has a user already. Sign in to join.")
		return q.Invalid("invitation", "invitation-form", "Invitation", v)
	case err != nil:
		return linked(err)
	case by == "":
		return q.enter(user)
	}
	if err := q.People.SwitchAccount(q.Context(), q.Browser, v.Invitation.Account); err != nil {
		return err
	}
	return q.Go(home + "/")
}

type accountsView struct {
	Accounts []people.Membership
	Operator bool
}

// accountsPage lets a user choose what to look at, or says that there is nothing.
func accountsPage(q *Request) error {
	list, err := q.People.Memberships(q.Context(), q.Browser.User.ID)
	return q.Show("accounts", "Your accounts")(accountsView{list, q.Browser.User.Operator()}, err)
}

func switchAccount(q *Request, f *Form) error {
	if err := q.People.SwitchAccount(q.Context(), q.Browser, f.Value("account")); err != nil {
		return err
	}
	return q.Go(home + "/")
}
