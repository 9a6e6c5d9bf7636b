package account

import (
	"net/http"

	"parley/api/dashboard/page"
	"parley/api/wire"
	"parley/store"
	"parley/store/people"
)

const keysAt = page.Home + "/keys"

func keyPages() []page.Page {
	return []page.Page{
		{Route: "GET " + keysAt, Serve: keysPage},
		{Route: "POST " + keysAt, Form: createKey},
		{Route: "POST " + keysAt + "/{id}/revoke", Serve: revokeKey},
		{Route: "GET " + keysAt + "/{id}/limit", Open: page.Owners, Serve: keyLimitPage},
		{Route: "POST " + keysAt + "/{id}/limit", Open: page.Owners, Serve: setKeyLimit},
	}
}

type keysView struct {
	Keys   []wire.APIKey
	Limits map[string]*page.Limit // of spending, by key
	Next   string                 // address of older ones
	Form   *page.Form
	// Made is the key that was just made, and Secret what is shown of it this once.
	Made   *wire.APIKey
	Secret string
	Base   string // address of the server
	Owner  bool   // whether the user may make owners' keys, and such as change what is paid
}

// Roles are what a new key may do.
func (v *keysView) Roles() page.Field {
	return v.Form.Select("role", "What may it do?", people.RoleMember, []page.Option{{Value: people.RoleMember, Label: "All but members"},
		{Value: people.RoleOwner, Label: "Owner"}}, "plain")
}

// Parts are what a new key may do in calls that are going on.
func (v *keysView) Parts() page.Field {
	return v.Form.Select("part", "In live calls", "", []page.Option{{Value: "", Label: "Nothing"}, {Value: "listen", Label: "Listen"},
		{Value: "speak", Label: "Listen and speak"}}, "plain")
}

// Revocable says whether the user may revoke a key: those of owners are theirs.
func (v *keysView) Revocable(k wire.APIKey) bool {
	return v.Owner || k.Role != people.RoleOwner && !k.Money
}

func newKeysView(q *page.Request, f *page.Form) (*keysView, error) {
	keys, older, err := page.Listed[wire.APIKey](q, "/v1/keys", keysAt, "cursor", "50", nil)
	if err != nil {
		return nil, err
	}
	limits, err := keyLimits(q)
	return &keysView{Keys: keys, Next: older, Limits: limits, Form: f, Base: q.Origin(), Owner: q.Principal().Owner}, err
}

func keysPage(q *page.Request) error { return q.Show("keys", "API keys")(newKeysView(q, &page.Form{})) }

func createKey(q *page.Request, f *page.Form) error {
	name := f.Need("name", "Say what the key is for, so that you know later which one to revoke.")
	var made wire.CreatedKey
	in := map[string]any{"name": name, "money": f.Value("money") != ""}
	if part := f.Value("part"); part != "" {
		in[part] = true
	}
	if role := f.Value("role"); role != "" { // those who may not choose it are not asked
		in["role"] = role
	}
	again := func() error { return q.ShowInvalid("keys", "key-form", "API keys")(newKeysView(q, f)) }
	if done, err := q.Submit(f, http.MethodPost, "/v1/keys", in, &made, again); !done {
		return err
	}
	v, err := newKeysView(q, &page.Form{})
	if err != nil {
		return err
	}
	v.Made, v.Secret = &made.APIKey, made.Secret
	return q.Page("keys", "API keys", v)
}

func revokeKey(q *page.Request) error {
	return q.Do(http.MethodDelete, page.Path("/v1/keys/", q.ID("id")), nil, keysAt, "The key was revoked. Requests with it are refused from now on.")
}

// accountLimit is that of the account.
func accountLimit(q *page.Request) (*page.Limit, error) {
	return q.Limit(q.Account(), balanceAt+"/limit", "All that the account is charged counts, months of numbers aside.")
}

func setAccountLimit(q *page.Request) error {
	return q.SetLimit(q.Account(), balanceAt, func(f *page.Form) error {
		return balanceAgain(q, "limit-form", func(v *balanceView) { v.Limit.Form = f })
	})
}

// keyLimitView is the page with the limit of a key.
type keyLimitView struct {
	Key   *people.Key
	Limit *page.Limit
}

func keyLimit(q *page.Request) (*keyLimitView, error) {
	k, err := q.People.Key(q.Context(), q.Account(), q.ID("id"))
	if err != nil {
		return nil, err
	}
	l, err := q.Limit(k.ID, page.Path(keysAt+"/", k.ID, "/limit"), "What the key asks for counts, with its tickets and batches.")
	return &keyLimitView{k, l}, err
}

func keyLimitPage(q *page.Request) error {
	v, err := keyLimit(q)
	if err != nil {
		return err
	}
	return q.Page("key-limit", v.Key.Name, v)
}

func setKeyLimit(q *page.Request) error {
	v, err := keyLimit(q)
	if err != nil {
		return err
	}
	return q.SetLimit(v.Key.ID, keysAt, func(f *page.Form) error {
		v.Limit.Form = f
		return q.Invalid("key-limit", "limit-form", v.Key.Name, v)
	})
}

// keyLimits are those of the account's keys that have one, by key.
func keyLimits(q *page.Request) (map[string]*page.Limit, error) {
	all, err := q.Ledger.SpendingLimits(q.Context(), q.Account(), store.Page{})
	of := make(map[string]*page.Limit, len(all))
	for i := range all {
		of[all[i].Subject] = &page.Limit{SpendingLimit: &all[i]}
	}
	return of, err
}
