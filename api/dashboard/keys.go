package dashboard

import (
	"net/http"

	"parley/api/manage"
	"parley/store/people"
)

const keysAt = home + "/keys"

func keyPages() []page {
	return []page{
		{route: "GET " + keysAt, serve: keysPage},
		{route: "POST " + keysAt, form: createKey},
		{route: "POST " + keysAt + "/{id}/revoke", serve: revokeKey},
		{route: "GET " + keysAt + "/{id}/limit", open: owners, serve: keyLimitPage},
		{route: "POST " + keysAt + "/{id}/limit", open: owners, serve: setKeyLimit},
	}
}

type keysView struct {
	Keys   []manage.APIKey
	Limits map[string]*limitView // of spending, by key
	Next   string                // address of older ones
	Form   *Form
	// Made is the key that was just made, and Secret what is shown of it this once.
	Made   *manage.APIKey
	Secret string
	Base   string // address of the server
	Owner  bool   // whether the user may make owners' keys, and such as change what is paid
}

// Roles are what a new key may do.
func (v *keysView) Roles() Field {
	return v.Form.Select("role", "What may it do?", people.RoleMember, []Option{{Value: people.RoleMember, Label: "Everything but people"},
		{Value: people.RoleOwner, Label: "People, too"}}, "plain")
}

// Revocable says whether the user may revoke a key: those of owners are theirs.
func (v *keysView) Revocable(k manage.APIKey) bool {
	return v.Owner || k.Role != people.RoleOwner && !k.Money
}

func (q *Request) keysView(f *Form) (*keysView, error) {
	keys, older, err := listed[manage.APIKey](q, "/v1/keys", keysAt, "cursor", "50", nil)
	if err != nil {
		return nil, err
	}
	limits, err := q.keyLimits()
	return &keysView{Keys: keys, Next: older, Limits: limits, Form: f, Base: q.base(), Owner: q.Principal().Owner}, err
}

// base is where others reach the server: the address that it was told is its own, else how
// the browser reached it.
func (q *Request) base() string {
	if q.Base != "" {
		return q.Base
	}
	scheme := "http://"
	if q.Secure || q.R.TLS != nil {
		scheme = "https://"
	}
	return scheme + q.R.Host
}

func keysPage(q *Request) error { return q.Show("keys", "API keys")(q.keysView(&Form{})) }

func createKey(q *Request, f *Form) error {
	name := f.Need("name", "Say what the key is for, so that you know later which one to revoke.")
	var made struct {
		manage.APIKey
		Secret string `json:"api_key"`
	}
	in := map[string]any{"name": name, "money": f.Value("money") != ""}
	if role := f.Value("role"); role != "" { // those who may not choose it are not asked
		in["role"] = role
	}
	done, err := q.Submit(f, http.MethodPost, "/v1/keys", in, &made)
	if err != nil {
		return err
	}
	if !done {
		return q.ShowInvalid("keys", "key-form", "API keys")(q.keysView(f))
	}
	v, err := q.keysView(&Form{})
	if err != nil {
		return err
	}
	v.Made, v.Secret = &made.APIKey, made.Secret
	return q.Page("keys", "API keys", v)
}

func revokeKey(q *Request) error {
	return q.Do(http.MethodDelete, Path("/v1/keys/", q.ID("id")), nil, keysAt, "The key was revoked. Requests with it are refused from now on.")
}
