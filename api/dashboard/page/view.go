package page

import (
	"net/http"

	"parley/store/ledger"
	"parley/store/people"
)

// view is what a layout shows.
type view struct {
	Title    string
	Data     any
	Nav      []NavGroup
	Browser  *people.Browser
	Accounts []people.Membership // the user's
	Account  *ledger.Account     // that is looked at; nil: none
	Notices  []string            // what operators or owners must know first
	Low      string              // what to say about the balance; empty: nothing
	Notice   string              // what was just done
	Demo     bool
	At       string // the address of the page, for forms that come back to it; empty: it is no page by itself
	Theme    string // that the browser has chosen: light or dark; empty: that of the system

	layout string
}

// view gathers it. Who is not signed in gets a layout without navigation.
func (q *Request) view(name, title string, data any) (*view, error) {
	v := &view{Title: title, Data: data, Browser: q.Browser, Theme: theme(q.R), layout: "bare"}
	if q.R.Method == http.MethodGet {
		v.At = q.R.URL.RequestURI()
	}
	if q.Browser == nil {
		return v, nil
	}
	var err error
	v.layout, v.Notice, v.Demo = "layout", q.Browser.Notice, q.Browser.Demo
	v.Nav = q.site.navigation(q)
	for _, a := range q.Notices {
		switch {
		case q.Browser.User.Operator():
			v.Notices = append(v.Notices, a.Operator)
		case q.Browser.Membership == people.RoleOwner:
			v.Notices = append(v.Notices, a.Owner)
		}
	}
	if v.Notice != "" {
		if err := q.People.PutNotice(q.Context(), q.Browser, ""); err != nil {
			return nil, err
		}
	}
	if v.Accounts, err = q.People.Memberships(q.Context(), q.Browser.User.ID); err != nil {
		return nil, err
	}
	if q.Browser.Account == "" {
		return v, nil
	}
	if v.Account, err = q.Ledger.Account(q.Context(), q.Browser.Account); err != nil {
		return nil, err
	}
	v.Low = q.low(v.Account)
	return v, nil
}

// low is what people must know about an account before anything else.
func (q *Request) low(a *ledger.Account) string {
	switch balance := a.Balance(); {
	case a.OpenDisputes > 0:
		return "A payment is disputed: no new call or job starts until that is resolved."
	case a.Suspended:
		return "The account is suspended: no new call or job starts."
	case balance < q.Card().Wallet().MinSessionStart:
		return "The balance is too low: no new call or job starts. Top up to go on."
	case balance < q.Card().Wallet().AutoRecharge.Threshold:
		return "The balance is low. Calls in progress end when it is used up."
	}
	return ""
}
