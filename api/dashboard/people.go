package dashboard

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"parley/api"
	"parley/api/dashboard/page"
	"parley/api/wire"
	"parley/store/people"
)

func (d *Dashboard) peoplePages() []page.Page {
	return []page.Page{
		{Route: "GET " + page.Home + "/people", Open: page.Owners, Serve: peoplePage},
		{Route: "POST " + page.Home + "/people", Open: page.Owners, Form: invite},
		{Route: "POST " + page.Home + "/people/{user}/role", Open: page.Owners, Form: changeMember},
		{Route: "POST " + page.Home + "/people/{user}/calls", Open: page.Owners, Form: letTakePart},
		{Route: "POST " + page.Home + "/people/{user}/remove", Open: page.Owners, Form: removeMember},
		{Route: "POST " + page.Home + "/people/invitations/{id}/revoke", Open: page.Owners, Serve: revokeInvitation},
		{Route: "GET " + page.Home + "/invitation", Open: page.Anybody, Serve: invitationPage},
		{Route: "POST " + page.Home + "/invitation", Open: page.Anybody, Form: d.acceptInvitation},
		{Route: "GET " + page.Home + "/accounts", Open: page.Users, Serve: accountsPage},
		{Route: "POST " + page.Home + "/accounts/switch", Open: page.Users, Form: switchAccount},
	}
}

const peopleAt = page.Home + "/people"

// InvitationLink is the path of the link with which a user joins an account.
func InvitationLink(token string) string {
	return page.Home + "/invitation?token=" + url.QueryEscape(token)
}

type peopleView struct {
	Members     []wire.Member
	Invitations []wire.Invitation
	Form        *page.Form
	Self        string     // the user who looks
	Link        string     // of the invitation that was just made, shown this once
	Invited     string     // whom it is for
	Change      *page.Form // of a member
}

// Sole says whether a member is the only owner, who stays one.
func (v *peopleView) Sole(m wire.Member) bool {
	return m.Role == people.RoleOwner && !slices.ContainsFunc(v.Members, func(o wire.Member) bool { return o.Role == people.RoleOwner && o.User != m.User })
}

// Roles are what an invitation offers.
func (v *peopleView) Roles() page.Field {
	return v.Form.Select("role", "Role", people.RoleMember, []page.Option{{Value: people.RoleMember, Label: "Member: all work with the account"},
		{Value: people.RoleOwner, Label: "Owner: people and what is paid, too"}}, "required")
}

func newPeopleView(q *page.Request, f *page.Form) (*peopleView, error) {
	members, err := page.Read[api.List[wire.Member]](q, "/v1/members")
	if err != nil {
		return nil, err
	}
	invitations, err := page.Read[api.List[wire.Invitation]](q, "/v1/invitations")
	return &peopleView{Members: members.Data, Invitations: invitations.Data, Form: f, Self: q.Browser.User.ID, Change: &page.Form{}}, err
}

func peoplePage(q *page.Request) error {
	return q.Show("people", "People")(newPeopleView(q, &page.Form{}))
}

func invite(q *page.Request, f *page.Form) error {
	email := f.Need("email", "Enter the address of the person to invite.")
	var made wire.CreatedInvitation
	again := func() error { return q.ShowInvalid("people", "invite-form", "People")(newPeopleView(q, f)) }
	if done, err := q.Submit(f, http.MethodPost, "/v1/invitations", map[string]string{"email": email, "role": f.Value("role")}, &made, again); !done {
		return err
	}
	v, err := newPeopleView(q, &page.Form{})
	if err != nil {
		return err
	}
	link, err := url.Parse(made.URL)
	if err != nil {
		return err
	}
	v.Link, v.Invited = q.Origin()+link.RequestURI(), made.Email // where others reach the server
	return q.Page("people", "People", v)
}

func changeMember(q *page.Request, f *page.Form) error {
	if err := q.Call(http.MethodPatch, page.Path("/v1/members/", q.ID("user")), map[string]string{"role": f.Value("role")}, nil); err != nil {
		return memberStays(q, f, err)
	}
	return q.Done(peopleAt, "The role was changed.")
}

// letTakePart says what a member may do in calls that are going on.
func letTakePart(q *page.Request, f *page.Form) error {
	part := f.Value("part")
	may := map[string]bool{"listen": part != "", "speak": part == "speak"}
	if err := q.Call(http.MethodPatch, page.Path("/v1/members/", q.ID("user")), may, nil); err != nil {
		return err
	}
	return q.Done(peopleAt, "What they may do in calls was changed.")
}

// memberStays says above the members why one was not changed: another owner may have changed
// another meanwhile.
func memberStays(q *page.Request, f *page.Form, err error) error {
	if api.ProblemOf(err).Status != http.StatusBadRequest {
		return err
	}
	f.Values = nil // it has no fields to put it beside
	if err := f.Refused(err); err != nil {
		return err
	}
	v, err := newPeopleView(q, &page.Form{})
	if err == nil {
		v.Change = f
	}
	return q.ShowInvalid("people", "main", "People")(v, err)
}

func removeMember(q *page.Request, f *page.Form) error {
	what, notice := "keep", "They no longer see this account."
	if f.Value("keys") != "" {
		what = "revoke"
	}
	var left wire.Removal
	if err := q.Call(http.MethodDelete, page.Path("/v1/members/", q.ID("user"))+"?keys="+what, nil, &left); err != nil {
		return memberStays(q, f, err)
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

func revokeInvitation(q *page.Request) error {
	return q.Do(http.MethodDelete, page.Path("/v1/invitations/", q.ID("id")), nil, peopleAt, "The invitation was withdrawn; its link no longer works.")
}

// invitationView is the page that an invitation opens. Those who invite have the link, too, so it does not say
// whether the address is a user's.
type invitationView struct {
	Form       *page.Form
	Token      string
	Invitation *people.Invitation
	SignedIn   bool // it is for who is signed in
	Other      string
}

func newInvitationView(q *page.Request, token string, f *page.Form) (*invitationView, error) {
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

func invitationPage(q *page.Request) error {
	return q.Show("invitation", "Invitation")(newInvitationView(q, q.R.URL.Query().Get("token"), &page.Form{}))
}

func (d *Dashboard) acceptInvitation(q *page.Request, f *page.Form) error {
	v, err := newInvitationView(q, f.Value("token"), f)
	if err != nil {
		return err
	}
	by, hash := "", ""
	if v.SignedIn {
		by = q.Browser.User.ID
	} else if v.Other != "" {
		return q.Page("invitation", "Invitation", v)
	} else if hash, err = d.newPassword(q, f, v.Invitation.Email); err != nil {
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
		return d.enter(q, user)
	}
	if err := q.People.SwitchAccount(q.Context(), q.Browser, v.Invitation.Account); err != nil {
		return err
	}
	return q.Go(page.Home + "/")
}

type accountsView struct {
	Accounts []people.Membership
	Operator bool
}

// accountsPage lets a user choose what to look at, or says that there is nothing.
func accountsPage(q *page.Request) error {
	list, err := q.People.Memberships(q.Context(), q.Browser.User.ID)
	return q.Show("accounts", "Your accounts")(accountsView{list, q.Browser.User.Operator()}, err)
}

func switchAccount(q *page.Request, f *page.Form) error {
	if err := q.People.SwitchAccount(q.Context(), q.Browser, f.Value("account")); err != nil {
		return err
	}
	return q.Go(page.Home + "/")
}
