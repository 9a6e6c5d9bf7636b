package dashboard

import (
	"fmt"
	"net/http"
	"strconv"

	"parley/api"
	"parley/api/dashboard/page"
	"parley/api/operator"
	"parley/api/wire"
)

func operatorPages() []page.Page {
	const one = page.Home + "/operator/{id}"
	return []page.Page{
		{Route: "GET " + page.Home + "/operator", Open: page.Operators, Serve: operatorPage},
		{Route: "POST " + page.Home + "/operator", Open: page.Operators, Form: createAccount},
		{Route: "GET " + one, Open: page.Operators, Serve: operatorAccount},
		{Route: "POST " + one + "/suspend", Open: page.Operators, Form: suspendAccount},
		{Route: "POST " + one + "/concurrency", Open: page.Operators, Form: changeConcurrency},
		{Route: "POST " + one + "/resolve", Open: page.Operators, Serve: resolveDispute},
	}
}

const (
	operatorAt    = page.Home + "/operator"
	accountsRoute = "/v1/operator/accounts"
)

type operatorView struct {
	Accounts []wire.Account
	Next     string
	Form     *page.Form
}

func newOperatorView(q *page.Request, f *page.Form) (*operatorView, error) {
	accounts, older, err := page.Listed[wire.Account](q, accountsRoute, operatorAt, "cursor", "50", nil)
	return &operatorView{Accounts: accounts, Next: older, Form: f}, err
}

func operatorPage(q *page.Request) error {
	return q.Show("operator", "Accounts")(newOperatorView(q, &page.Form{}))
}

// createAccount makes an account that the operator owns at first, who then invites
// whose it is.
func createAccount(q *page.Request, f *page.Form) error {
	name := f.Need("name", "Give the account a name.")
	var made wire.AccountDetail
	again := func() error { return q.ShowInvalid("operator", "account-form", "Accounts")(newOperatorView(q, f)) }
	if done, err := q.Submit(f, http.MethodPost, accountsRoute, map[string]string{"name": name}, &made, again); !done {
		return err
	}
	return q.Done(page.Path(operatorAt+"/", made.ID), "The account was made, and you own it. Switch to it in the menu at the top to invite whose it is.")
}

type operatorAccountView struct {
	Account *wire.AccountDetail
	Form    *page.Form
}

func newOperatorAccount(q *page.Request, f *page.Form) (*operatorAccountView, error) {
	a, err := page.Read[*wire.AccountDetail](q, page.Path(accountsRoute+"/", q.ID("id")))
	v := &operatorAccountView{Account: a, Form: f}
	if f == nil && err == nil {
		v.Form = &page.Form{}
		if n := v.Account.Concurrency; n != nil {
			v.Form = page.NewForm("concurrency", strconv.Itoa(*n))
		}
	}
	return v, err
}

func operatorAccount(q *page.Request) error {
	v, err := newOperatorAccount(q, nil)
	if err != nil {
		return err
	}
	return q.Page("operator-account", v.Account.Name, v)
}

func changeAccount(q *page.Request, change map[string]any, notice string) error {
	return q.Do(http.MethodPatch, page.Path(accountsRoute+"/", q.ID("id")), change, page.Path(operatorAt+"/", q.ID("id")), notice)
}

func suspendAccount(q *page.Request, f *page.Form) error {
	if f.Value("suspended") == "yes" {
		return changeAccount(q, map[string]any{"suspended": true}, "The account is suspended: no new call or job starts. What is in progress goes on.")
	}
	return changeAccount(q, map[string]any{"suspended": false}, "The account is no longer suspended.")
}

func changeConcurrency(q *page.Request, f *page.Form) error {
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
		v, err := newOperatorAccount(q, f)
		if err != nil {
			return err
		}
		return q.Invalid("operator-account", "concurrency-form", v.Account.Name, v)
	}
	return changeAccount(q, map[string]any{"concurrency": n}, "The limit was changed.")
}

func resolveDispute(q *page.Request) error {
	return q.Do(http.MethodPost, page.Path(accountsRoute+"/", q.ID("id"), "/resolve-disputes"), nil, page.Path(operatorAt+"/", q.ID("id")), "All disputes of the account are resolved.")
}

func setupPages() []page.Page {
	return []page.Page{
		{Route: "GET " + nodesAt, Open: page.Operators, Serve: nodesPage},
		{Route: "GET " + setupAt, Open: page.Operators, Serve: setupPage},
		{Route: "GET " + setupAt + "/checks", Open: page.Operators, Serve: setupChecks},
	}
}

const setupAt = page.Home + "/setup"

// Check is one as the page shows it.
type Check wire.Check

// Tone is the colour of a check, and Word says it without one.
func (c Check) Tone() string {
	return map[string]string{"ok": "good", "warn": "warn", "fail": "bad"}[c.Status]
}

// Word is how it went.
func (c Check) Word() string {
	return map[string]string{"ok": "OK", "warn": "Restricted", "fail": "Broken"}[c.Status]
}

// setupView is all checks, the worst first.
type setupView struct {
	Checks      []Check // nil: they are still to be made
	Broken, Odd int
}

// setupPage does not wait for the checks, which take seconds: the page asks for them.
func setupPage(q *page.Request) error { return q.Page("setup", "Setup check", setupView{}) }

// setupChecks makes them. Without scripts it is a page of its own.
func setupChecks(q *page.Request) error {
	found, err := page.Read[api.List[Check]](q, "/v1/operator/checks")
	if err != nil {
		return err
	}
	v := setupView{}
	for _, status := range []string{"fail", "warn", "ok"} {
		for _, c := range found.Data {
			if c.Status == status {
				v.Checks = append(v.Checks, c)
			}
		}
		switch status {
		case "fail":
			v.Broken = len(v.Checks)
		case "warn":
			v.Odd = len(v.Checks) - v.Broken
		}
	}
	if q.HTMX() {
		return q.Part("setup", "setup-checks", v)
	}
	return q.Page("setup", "Setup check", v)
}
