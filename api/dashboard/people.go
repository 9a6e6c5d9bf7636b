package dashboard

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"parley/api"
	"parley/api/manage"
	"parley/store"
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

// InvitationLink is the path of the link with which somebody joins an account.
func InvitationLink(token string) string { return home + "/invitation?token=" + url.QueryEscape(token) }

type peopleView struct {
	Members     []manage.Member
	Invitations []manage.Invitation
	Form        *Form
	Self        string // the user who looks
	Link        string // of the invitation that was just made, shown this once
	Invited     string // whom it is for
	Change      *Form  // of a member
}

// Sole says whether a member is the only owner, who stays one.
func (v *peopleView) Sole(m manage.Member) bool {
	return m.Role == people.RoleOwner && !slices.ContainsFunc(v.Members, func(o manage.Member) bool { return o.Role == people.RoleOwner && o.User != m.User })
}

// Roles are what an invitation offers.
func (v *peopleView) Roles() Field {
	return v.Form.Select("role", "Role", people.RoleMember, []Option{{Value: people.RoleMember, Label: "Member: all work with the account"},
		{Value: people.RoleOwner, Label: "Owner: people and what is paid, too"}}, "required")
}

func (q *Request) peopleView(f *Form) (*peopleView, error) {
	var members struct{ Data []manage.Member }
	if err := q.Call(http.MethodGet, "/v1/members", nil, &members); err != nil {
		return nil, err
	}
	var invitations struct{ Data []manage.Invitation }
	err := q.Call(http.MethodGet, "/v1/invitations", nil, &invitations)
	return &peopleView{Members: members.Data, Invitations: invitations.Data, Form: f, Self: q.Browser.User.ID, Change: &Form{}}, err
}

func peoplePage(q *Request) error {
	v, err := q.peopleView(&Form{})
	if err != nil {
		return err
	}
	return q.Page("people", "People", v)
}

func invite(q *Request, f *Form) error {
	email := f.Need("email", "Enter the address of whom you invite.")
	var made manage.CreatedInvitation
	if f.OK() {
		in := map[string]string{"email": email, "role": f.Value("role")}
		if err := f.Refused(q.Call(http.MethodPost, "/v1/invitations", in, &made)); err != nil {
			return err
		}
	}
	ok := f.OK()
	if ok {
		f = &Form{}
	}
	v, err := q.peopleView(f)
	if err != nil {
		return err
	}
	if !ok {
		return q.Invalid("people", "invite-form", "People", v)
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

// memberStays says above the members why one was not changed: somebody else may have changed
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
	if err != nil {
		return err
	}
	v.Change = f
	return q.Invalid("people", "main", "People", v)
}

func removeMember(q *Request, f *Form) error {
	what, told := "keep", "They no longer see this account."
	if f.Value("keys") != "" {
		what = "revoke"
	}
	var left manage.Removal
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
		told += " Keys that they made were revoked: " + list + "."
	default:
		told += " Keys that they made are still good: " + list + "."
	}
	return q.Done(peopleAt, told)
}

func revokeInvitation(q *Request) error {
	if err := q.Call(http.MethodDelete, Path("/v1/invitations/", q.ID("id")), nil, nil); err != nil {
		return err
	}
	return q.Done(peopleAt, "The invitation was taken back; its link opens nothing.")
}

// invitationView is what somebody sees who was invited. Whoever invites has the link, too, so it does not say whether
// the address is a user's.
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
		return nil, err
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
	v, err := q.invitationView(q.R.URL.Query().Get("token"), &Form{})
	if errors.Is(err, store.ErrNotFound) {
		return deadLink(q)
	}
	if err != nil {
		return err
	}
	return q.Page("invitation", "Invitation", v)
}

func acceptInvitation(q *Request, f *Form) error {
	v, err := q.invitationView(f.Value("token"), f)
	if errors.Is(err, store.ErrNotFound) {
		return deadLink(q)
	}
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
	case errors.Is(err, store.ErrNotFound):
		return deadLink(q)
	case errors.Is(err, people.ErrUserExists):
		f.Fail("", "This address has a user already. Sign in to join.")
		return q.Invalid("invitation", "invitation-form", "Invitation", v)
	case err != nil:
		return err
	case by == "":
		if _, err := q.d.open(q, user, false); err != nil {
			return err
		}
	default:
		if err := q.People.SwitchAccount(q.Context(), q.Browser, v.Invitation.Account); err != nil {
			return err
		}
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
	if err != nil {
		return err
	}
	return q.Page("accounts", "Your accounts", accountsView{list, q.Browser.User.Operator()})
}

func switchAccount(q *Request, f *Form) error {
	if err := q.People.SwitchAccount(q.Context(), q.Browser, f.Value("account")); err != nil {
		return err
	}
	return q.Go(home + "/")
}
