package dashboard

import (
	"net/http"

	"parley/api/wire"
	"parley/billing"
	"parley/store"
	"parley/store/ledger"
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
	Keys   []wire.APIKey
	Limits map[string]*limitView // of spending, by key
	Next   string                // address of older ones
	Form   *Form
	// Made is the key that was just made, and Secret what is shown of it this once.
	Made   *wire.APIKey
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
func (v *keysView) Revocable(k wire.APIKey) bool {
	return v.Owner || k.Role != people.RoleOwner && !k.Money
}

func (q *Request) keysView(f *Form) (*keysView, error) {
	keys, older, err := listed[wire.APIKey](q, "/v1/keys", keysAt, "cursor", "50", nil)
	if err != nil {
		return nil, err
	}
	limits, err := q.keyLimits()
	return &keysView{Keys: keys, Next: older, Limits: limits, Form: f, Base: q.base(), Owner: q.Principal().Owner}, err
}

// base is where others reach the server: its configured address, else how
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
	var made wire.CreatedKey
	in := map[string]any{"name": name, "money": f.Value("money") != ""}
	if role := f.Value("role"); role != "" { // those who may not choose it are not asked
		in["role"] = role
	}
	again := func() error { return q.ShowInvalid("keys", "key-form", "API keys")(q.keysView(f)) }
	if done, err := q.Submit(f, http.MethodPost, "/v1/keys", in, &made, again); !done {
		return err
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

// limitField is the field of a limit's form, as the API calls it.
const limitField = "daily_limit"

// limitView is the limit of spending of the account, a key or an agent, and the form that
// sets it, for the template "limit-form" and whatever page has one as its Limit.
type limitView struct {
	*ledger.SpendingLimit
	At    string // where the form is sent
	Owner bool   // whether the user may set it
	Binds string // what counts towards it
	Form  *Form
}

// Used says how much of it was spent, in words.
func (v *limitView) Used() (string, error) {
	spent, err := usd(v.Spent)
	if err != nil {
		return "", err
	}
	if v.Limit == nil {
		if v.Spent == 0 {
			return "There is no limit", nil
		}
		return spent + " spent today, without a limit", nil
	}
	most, err := usd(*v.Limit)
	words := spent + " of " + most + " spent today"
	if v.Held == 0 || err != nil {
		return words, err
	}
	held, err := usd(v.Held)
	return words + ", " + held + " held", err
}

// Reached says whether the limit lets nothing more begin.
func (v *limitView) Reached() bool { return v.Limit != nil && v.Spent+v.Held >= *v.Limit }

// limit reads the limit of the account or one of its keys or agents.
func (q *Request) limit(subject, at, binds string) (*limitView, error) {
	l, err := q.Ledger.SpendingLimit(q.Context(), q.Account(), subject)
	if err != nil {
		return nil, err
	}
	v := &limitView{SpendingLimit: l, At: at, Owner: q.Principal().Money, Binds: binds, Form: &Form{}}
	if l.Limit != nil {
		v.Form = NewForm(limitField, l.Limit.String())
	}
	return v, nil
}

// setLimit sets the limit that was entered, or none where nothing was, and goes to the page
// at back. Where that cannot be, again shows the form.
func (q *Request) setLimit(subject, back string, again func(*Form) error) error {
	f, err := q.Form()
	if err != nil {
		return err
	}
	var limit *billing.Money
	said := "There is no daily limit any more."
	if f.Value(limitField) != "" {
		m := f.amount(limitField, "")
		limit, said = &m, "The daily limit was saved."
	}
	set := map[string]any{limitField: limit}
	if done, err := q.Submit(f, http.MethodPatch, Path("/v1/spending-limits/", subject), set, nil, func() error { return again(f) }); !done {
		return err
	}
	return q.Done(back, said)
}

// accountLimit is that of the account.
func (q *Request) accountLimit() (*limitView, error) {
	return q.limit(q.Account(), balanceAt+"/limit", "All that the account is charged counts, months of numbers aside.")
}

func setAccountLimit(q *Request) error {
	return q.setLimit(q.Account(), balanceAt, func(f *Form) error {
		return q.balanceAgain("limit-form", func(v *balanceView) { v.Limit.Form = f })
	})
}

// keyLimitView is the page with the limit of a key.
type keyLimitView struct {
	Key   *people.Key
	Limit *limitView
}

func (q *Request) keyLimit() (*keyLimitView, error) {
	k, err := q.People.Key(q.Context(), q.Account(), q.ID("id"))
	if err != nil {
		return nil, err
	}
	l, err := q.limit(k.ID, Path(keysAt+"/", k.ID, "/limit"), "What the key asks for counts, with its tickets and batches.")
	return &keyLimitView{k, l}, err
}

func keyLimitPage(q *Request) error {
	v, err := q.keyLimit()
	if err != nil {
		return err
	}
	return q.Page("key-limit", v.Key.Name, v)
}

func setKeyLimit(q *Request) error {
	v, err := q.keyLimit()
	if err != nil {
		return err
	}
	return q.setLimit(v.Key.ID, keysAt, func(f *Form) error {
		v.Limit.Form = f
		return q.Invalid("key-limit", "limit-form", v.Key.Name, v)
	})
}

// keyLimits are those of the account's keys that have one, by key.
func (q *Request) keyLimits() (map[string]*limitView, error) {
	all, err := q.Ledger.SpendingLimits(q.Context(), q.Account(), store.Page{})
	of := make(map[string]*limitView, len(all))
	for i := range all {
		of[all[i].Subject] = &limitView{SpendingLimit: &all[i]}
	}
	return of, err
}

func setAgentLimit(q *Request) error {
	v, err := q.agentEdited()
	if err != nil {
		return err
	}
	return q.setLimit(v.ID, Path(agentsAt+"/", v.ID), func(f *Form) error {
		v.Limit.Form = f
		return q.Invalid("agent", "limit-form", v.Title, v)
	})
}
