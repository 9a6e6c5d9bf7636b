package dashboard

import (
	"net/http"

	"parley/api/operator"
)

func setupPages() []page {
	return []page{
		{route: "GET " + setupAt, open: operators, serve: setupPage},
		{route: "GET " + setupAt + "/checks", open: operators, serve: setupChecks},
	}
}

const setupAt = home + "/setup"

// Check is one as the page shows it.
type Check operator.Check

// Tone is the colour of a check, and Word says it without one.
func (c Check) Tone() string {
	return map[string]string{"ok": "good", "warn": "warn", "fail": "bad"}[c.Status]
}

// Word is how it went.
func (c Check) Word() string {
	return map[string]string{"ok": "In order", "warn": "Restricted", "fail": "Broken"}[c.Status]
}

// setupView is all checks, the worst first.
type setupView struct {
	Checks      []Check // nil: they are still to be made
	Broken, Odd int
}

// setupPage does not wait for the checks, which take seconds: the page asks for them.
func setupPage(q *Request) error { return q.Page("setup", "Setup check", setupView{}) }

// setupChecks makes them. Without scripts it is a page of its own.
func setupChecks(q *Request) error {
	var found struct{ Data []Check }
	if err := q.Call(http.MethodGet, "/v1/operator/checks", nil, &found); err != nil {
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
