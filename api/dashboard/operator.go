package dashboard

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"parley/api/operator"
)

func operatorPages() []page {
	const one = home + "/operator/{id}"
	return []page{
		{route: "GET " + home + "/operator", open: operators, serve: operatorPage},
		{route: "POST " + home + "/operator", open: operators, form: createAccount},
		{route: "GET " + one, open: operators, serve: operatorAccount},
		{route: "POST " + one + "/suspend", open: operators, form: suspendAccount},
		{route: "POST " + one + "/concurrency", open: operators, form: changeConcurrency},
		{route: "POST " + one + "/resolve", open: operators, serve: resolveDispute},
	}
}

const (
	operatorAt    = home + "/operator"
	accountsRoute = "/v1/operator/accounts"
	accountsAPage = 50 // accounts of a page
)

type operatorView struct {
	Accounts []operator.Account
	Next     string
	Form     *Form
}

func (q *Request) operatorView(f *Form) (*operatorView, error) {
	var list struct {
		Data []operator.Account
		Next *string `json:"next_cursor"`
	}
	query := url.Values{"limit": {strconv.Itoa(accountsAPage)}, "cursor": {q.R.URL.Query().Get("cursor")}}
	if err := q.Call(http.MethodGet, accountsRoute+"?"+query.Encode(), nil, &list); err != nil {
		return nil, err
	}
	v := &operatorView{Accounts: list.Data, Form: f}
	if list.Next != nil {
		v.Next = operatorAt + "?cursor=" + url.QueryEscape(*list.Next)
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
func createAccount(q *Request, f *Form) error {
	name := f.Need("name", "Give the account a name.")
	var made operator.AccountDetail
	if f.OK() {
		if err := f.Refused(q.Call(http.MethodPost, accountsRoute, map[string]string{"name": name}, &made)); err != nil {
			return err
		}
	}
	if !f.OK() {
		v, err := q.operatorView(f)
		if err != nil {
			return err
		}
		return q.Invalid("operator", "account-form", "Accounts", v)
	}
	return q.Done(Path(operatorAt+"/", made.ID), "The account was made, and you own it. Switch to it in the menu at the top to invite whose it is.")
}

type operatorAccountView struct {
	Account *operator.AccountDetail
	Form    *Form
}

func (q *Request) operatorAccount(f *Form) (*operatorAccountView, error) {
	v := &operatorAccountView{Account: &operator.AccountDetail{}, Form: f}
	if err := q.Call(http.MethodGet, Path(accountsRoute+"/", q.ID("id")), nil, v.Account); err != nil {
		return nil, err
	}
	if f == nil {
		v.Form = &Form{}
		if n := v.Account.Concurrency; n != nil {
			v.Form = NewForm("concurrency", strconv.Itoa(*n))
		}
	}
	return v, nil
}

func operatorAccount(q *Request) error {
	v, err := q.operatorAccount(nil)
	if err != nil {
		return err
	}
	return q.Page("operator-account", v.Account.Name, v)
}

func (q *Request) changeAccount(change map[string]any, notice string) error {
	if err := q.Call(http.MethodPatch, Path(accountsRoute+"/", q.ID("id")), change, nil); err != nil {
		return err
	}
	return q.Done(Path(operatorAt+"/", q.ID("id")), notice)
}

func suspendAccount(q *Request, f *Form) error {
	if f.Value("suspended") == "yes" {
		return q.changeAccount(map[string]any{"suspended": true}, "The account is suspended: no new call or job starts. What is in progress goes on.")
	}
	return q.changeAccount(map[string]any{"suspended": false}, "The account is no longer suspended.")
}

func changeConcurrency(q *Request, f *Form) error {
	n := 0
	if text := f.Value("concurrency"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			f.Fail("concurrency", "Enter a whole number.")
		} else if n < 1 || n > operator.MaxConcurrency {
			f.Fail("concurrency", fmt.Sprintf("From 1 to %d; empty goes back to the rate card's.", operator.MaxConcurrency))
		}
	}
	if !f.OK() {
		v, err := q.operatorAccount(f)
		if err != nil {
			return err
		}
		return q.Invalid("operator-account", "concurrency-form", v.Account.Name, v)
	}
	return q.changeAccount(map[string]any{"concurrency": n}, "The limit was changed.")
}

func resolveDispute(q *Request) error {
	if err := q.Call(http.MethodPost, Path(accountsRoute+"/", q.ID("id"), "/resolve-disputes"), nil, nil); err != nil {
		return err
	}
	return q.Done(Path(operatorAt+"/", q.ID("id")), "All disputes of the account are resolved.")
}
