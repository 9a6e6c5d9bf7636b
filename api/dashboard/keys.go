package dashboard

import (
	"parley/store/people"

	"net/http"
	"net/url"

	"parley/api/manage"
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
	var list struct {
		Data []manage.APIKey `json:"data"`
		Next *string         `json:"next_cursor"`
	}
	cursor := q.R.URL.Query().Get("cursor")
	if err := q.Call(http.MethodGet, "/v1/keys?limit=50&cursor="+url.QueryEscape(cursor), nil, &list); err != nil {
		return nil, err
	}
	limits, err := q.keyLimits()
	if err != nil {
		return nil, err
	}
	v := &keysView{Keys: list.Data, Limits: limits, Form: f, Base: q.base(), Owner: q.Principal().Owner}
	if list.Next != nil {
		v.Next = keysAt + "?cursor=" + url.QueryEscape(*list.Next)
	}
	return v, nil
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

func keysPage(q *Request) error {
	v, err := q.keysView(&Form{})
	if err != nil {
		return err
	}
	return q.Page("keys", "API keys", v)
}

func createKey(q *Request, f *Form) error {
	name := f.Need("name", "Say what the key is for, so that you know later which one to revoke.")
	var made struct {
		manage.APIKey
		Secret string `json:"api_key"`
	}
	if f.OK() {
		in := map[string]any{"name": name, "money": f.Value("money") != ""}
		if role := f.Value("role"); role != "" { // those who may not choose it are not asked
			in["role"] = role
		}
		if err := f.Refused(q.Call(http.MethodPost, "/v1/keys", in, &made)); err != nil {
			return err
		}
	}
	ok := f.OK()
	if ok {
		f = &Form{}
	}
	v, err := q.keysView(f)
	if err != nil {
		return err
	}
	if !ok {
		return q.Invalid("keys", "key-form", "API keys", v)
	}
	v.Made, v.Secret = &made.APIKey, made.Secret
	return q.Page("keys", "API keys", v)
}

func revokeKey(q *Request) error {
	if err := q.Call(http.MethodDelete, Path("/v1/keys/", q.ID("id")), nil, nil); err != nil {
		return err
	}
	return q.Done(keysAt, "The key was revoked. Requests with it are refused from now on.")
}
