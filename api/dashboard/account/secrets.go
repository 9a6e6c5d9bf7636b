package account

import (
	"net/http"
	"strings"

	"parley/api/dashboard/page"
	"parley/api/wire"
)

const SecretsAt = page.Home + "/secrets"

func secretPages() []page.Page {
	return []page.Page{
		{Route: "GET " + SecretsAt, Serve: secretsPage},
		{Route: "POST " + SecretsAt, Form: storeSecret},
		{Route: "POST " + SecretsAt + "/{name}/delete", Serve: deleteSecret},
	}
}

// secretsView is the names of the account's secrets: their values are never shown.
type secretsView struct {
	Form *page.Form
	Rows []wire.AccountSecret
	Next string
}

func newSecretsView(q *page.Request, f *page.Form) (*secretsView, error) {
	rows, next, err := page.Listed[wire.AccountSecret](q, "/v1/secrets", SecretsAt, "cursor", "100", nil)
	return &secretsView{f, rows, next}, err
}

func secretsPage(q *page.Request) error {
	return q.Show("secrets", "Secrets")(newSecretsView(q, &page.Form{}))
}

func storeSecret(q *page.Request, f *page.Form) error {
	name := f.Need("name", "Enter a name, such as BOOKING_KEY.")
	in := map[string]any{"value": f.Need("value", "Enter the value.")}
	if hosts := strings.FieldsFunc(f.Value("hosts"), func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\r' }); len(hosts) > 0 {
		in["hosts"] = hosts
	}
	again := func() error {
		f.Values.Del("value") // it is not shown again
		return q.ShowInvalid("secrets", "secret-form", "Secrets")(newSecretsView(q, f))
	}
	if done, err := q.Submit(f, http.MethodPut, page.Path("/v1/secrets/", name), in, nil, again); !done {
		return err
	}
	return q.Done(SecretsAt, "The secret "+name+" is stored.")
}

func deleteSecret(q *page.Request) error {
	name := q.ID("name")
	return q.Do(http.MethodDelete, page.Path("/v1/secrets/", name), nil, SecretsAt, "The secret "+name+" was deleted.")
}
