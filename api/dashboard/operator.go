package dashboard

import (
	"errors"
	"net/url"
	"strconv"
	"strings"

	"parley/api"
	"parley/store"
)

func operatorPages() []page {
	const one = home + "/operator/{id}"
	return []page{
		{route: "GET " + home + "/operator", open: operators, serve: operatorPage},
		{route: "POST " + home + "/operator", open: operators, serve: createAccount},
		{route: "GET " + one, open: operators, serve: operatorAccount},
		{route: "POST " + one + "/suspend", open: operators, serve: suspendAccount},
		{route: "POST " + one + "/concurrency", open: operators, serve: changeConcurrency},
		{route: "POST " + one + "/resolve", open: operators, serve: resolveDispute},
	}
}

const (
	operatorAt    = home + "/operator"
	accountsAPage = 50 // accounts of a page
)

type operatorView struct {
	Accounts []store.Account
	Next     string
	Form     *Form
}

func (q *Request) operatorView(f *Form) (*operatorView, error) {
	list, err := q.DB.Accounts(q.Context(), store.Page{After: q.R.URL.Query().Get("cursor"), Limit: accountsAPage + 1})
	if err != nil {
		return nil, err
	}
	v := &operatorView{Accounts: list, Form: f}
	if len(list) > accountsAPage {
		v.Accounts = list[:accountsAPage]
		v.Next = operatorAt + "?cursor=" + url.QueryEscape(list[accountsAPage-1].ID)
	}
	return v, nil
}

func operatorPage(q *Request) error {
	v, err := q.operatorView(&Form{})
	if err != nil {
		return err
	}
	return q.Page("operator", "Accounts", v)
}

// createAccount makes an account that the operator owns at first, who then invites
// whose it is.
func createAccount(q *Request) error {
	f, err := q.Form()
	if err != nil {
		return err
	}
	name := f.Need("name", "Give the account a name.")
	if len(name) > 200 {
		f.Fail("name", "Take at most 200 characters.")
	}
	if !f.OK() {
		v, err := q.operatorView(f)
		if err != nil {
			return err
		}
		return q.Invalid("operator", "account-form", "Accounts", v)
	}
	a, err := q.DB.OwnAccount(q.Context(), q.Browser.User.ID, name, q.Card(), q.Now())
	if err != nil {
		return err
	}
	return q.Done(Path(operatorAt+"/", a.ID), "The account was made, and you own it. Switch to it in the menu at the top to invite whose it is.")
}

type operatorAccountView struct {
	Account  *store.Account
	Members  []store.Membership
	Form     *Form
	Standard int // the rate card's concurrency
}

func (q *Request) operatorAccount(f *Form) (*operatorAccountView, error) {
	a, err := q.DB.Account(q.Context(), q.ID("id"))
	if err != nil {
		return nil, err
	}
	v := &operatorAccountView{Account: a, Form: f, Standard: q.Card().Wallet().ConcurrencyDefault}
	if a.FirstTopupAt == nil {
		v.Standard = q.Card().Wallet().ConcurrencyBeforeTopup
	}
	if f == nil {
		v.Form = &Form{}
		if a.Concurrency != nil {
			v.Form = NewForm("concurrency", strconv.Itoa(*a.Concurrency))
		}
	}
	v.Members, err = q.DB.Members(q.Context(), a.ID)
	return v, err
}

func operatorAccount(q *Request) error {
	v, err := q.operatorAccount(nil)
	if err != nil {
		return err
	}
	return q.Page("operator-account", v.Account.Name, v)
}

func (q *Request) changeAccount(c store.AccountChange, notice string) error {
	if err := q.DB.ChangeAccount(q.Context(), q.ID("id"), c, q.Now()); err != nil {
		return err
	}
	return q.Done(Path(operatorAt+"/", q.ID("id")), notice)
}

func suspendAccount(q *Request) error {
	f, err := q.Form()
	if err != nil {
		return err
	}
	yes := f.Value("suspended") == "yes"
	if yes {
		return q.changeAccount(store.AccountChange{Suspended: &yes}, "The account is suspended: no new call or job starts. What is in progress goes on.")
	}
	return q.changeAccount(store.AccountChange{Suspended: &yes}, "The account is no longer suspended.")
}

func changeConcurrency(q *Request) error {
	f, err := q.Form()
	if err != nil {
		return err
	}
	n := 0
	if text := f.Value("concurrency"); text != "" {
		if n, err = strconv.Atoi(text); err != nil {
			f.Fail("concurrency", "Enter a whole number.")
		}
	}
	c := store.AccountChange{Concurrency: &n}
	if err := c.Check(); err != nil {
		f.Fail("concurrency", sentence(why(err)))
	}
	if !f.OK() {
		v, err := q.operatorAccount(f)
		if err != nil {
			return err
		}
		return q.Invalid("operator-account", "concurrency-form", v.Account.Name, v)
	}
	return q.changeAccount(c, "The limit was changed.")
}

func resolveDispute(q *Request) error {
	if err := q.DB.ResolveDispute(q.Context(), q.ID("id"), "", q.Now()); err != nil {
		return err
	}
	return q.Done(Path(operatorAt+"/", q.ID("id")), "All disputes of the account are resolved.")
}

// why is what the store says about what is not allowed.
func why(err error) string {
	if p := api.ProblemOf(err); p.Detail != "" {
		return p.Detail
	}
	if _, what, ok := strings.Cut(err.Error(), store.ErrInvalid.Error()+": "); ok && errors.Is(err, store.ErrInvalid) {
		return what
	}
	return api.ProblemOf(err).Message
}
