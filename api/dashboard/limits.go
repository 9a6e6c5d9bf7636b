package dashboard

import (
	"net/http"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
	"parley/store/people"
)

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
	l, err := ledger.New(q.DB).SpendingLimit(q.Context(), q.Account(), subject, q.Now())
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
// at back. It returns the form where that cannot be.
func (q *Request) setLimit(subject, back string) (*Form, error) {
	f, err := q.Form()
	if err != nil {
		return nil, err
	}
	var limit *billing.Money
	said := "There is no daily limit any more."
	if f.Value(limitField) != "" {
		m := f.amount(limitField, "")
		limit, said = &m, "The daily limit was saved."
	}
	if f.OK() {
		in := map[string]any{limitField: limit}
		err := q.Call(http.MethodPatch, Path("/v1/spending-limits/", subject), in, nil)
		if err == nil {
			return nil, q.Done(back, said)
		}
		if err := f.Refused(err); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// accountLimit is that of the account.
func (q *Request) accountLimit() (*limitView, error) {
	return q.limit(q.Account(), balanceAt+"/limit", "All that the account is charged counts, months of numbers aside.")
}

func setAccountLimit(q *Request) error {
	f, err := q.setLimit(q.Account(), balanceAt)
	if f == nil || err != nil {
		return err
	}
	v, err := q.balanceView()
	if err != nil {
		return err
	}
	v.Limit.Form = f
	return q.Invalid("balance", "limit-form", "Balance", v)
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
	if v.Limit.Form, err = q.setLimit(v.Key.ID, keysAt); v.Limit.Form == nil || err != nil {
		return err
	}
	return q.Invalid("key-limit", "limit-form", v.Key.Name, v)
}

// keyLimits are those of the account's keys that have one, by key.
func (q *Request) keyLimits() (map[string]*limitView, error) {
	all, err := ledger.New(q.DB).SpendingLimits(q.Context(), q.Account(), store.Page{}, q.Now())
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
	if v.Limit.Form, err = q.setLimit(v.ID, Path(agentsAt+"/", v.ID)); v.Limit.Form == nil || err != nil {
		return err
	}
	return q.Invalid("agent", "limit-form", v.Title, v)
}
