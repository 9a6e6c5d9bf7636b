package dashboard

import (
	"parley/api/dashboard/page"
	"parley/api/wire"
	"parley/store/people"
)

const (
	settingsAt    = page.Home + "/me"
	settingsTitle = "Settings"
)

// settingsView is what somebody may set for themselves, and what holds for the account that they look at.
type settingsView struct {
	Form             *page.Form // changes the password
	Email            string
	Demo             bool // the user is the demonstration's, who has no password
	Role             string
	Themes           []page.Option
	*wire.OwnAccount // nil: none is looked at
}

// newSettings reads the account, where one is looked at.
func newSettings(q *page.Request, f *page.Form) (*settingsView, error) {
	b := q.Browser
	v := &settingsView{Form: f, Email: b.User.Email, Demo: b.Demo, Role: roleWords[b.Membership], Themes: q.Themes()}
	if b.User.Operator() {
		v.Role = "Operator"
	}
	if q.Account() == "" {
		return v, nil
	}
	a, err := page.Read[wire.OwnAccount](q, "/v1/account")
	v.OwnAccount = &a
	return v, err
}

// roleWords are the roles in an account.
var roleWords = map[string]string{people.RoleOwner: "Owner", people.RoleMember: "Member"}

func settingsPage(q *page.Request) error {
	return q.Show("me", settingsTitle)(newSettings(q, &page.Form{}))
}
