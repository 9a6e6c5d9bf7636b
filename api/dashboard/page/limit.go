package page

import (
	"net/http"

	"parley/billing"
	"parley/store/ledger"
)

// limitField is the field of a limit's form, as the API calls it.
const limitField = "daily_limit"

// Limit is the limit of spending of the account, a key or an agent, and the form that
// sets it, for the template "limit-form" and whatever page has one as its Limit.
type Limit struct {
	*ledger.SpendingLimit
	At    string // where the form is sent
	Owner bool   // whether the user may set it
	Binds string // what counts towards it
	Form  *Form
}

// Used says how much of it was spent, in words.
func (v *Limit) Used() (string, error) {
	spent, err := USD(v.Spent)
	if err != nil {
		return "", err
	}
	if v.Limit == nil {
		if v.Spent == 0 {
			return "There is no limit", nil
		}
		return spent + " spent today, without a limit", nil
	}
	most, err := USD(*v.Limit)
	words := spent + " of " + most + " spent today"
	if v.Held == 0 || err != nil {
		return words, err
	}
	held, err := USD(v.Held)
	return words + ", " + held + " held", err
}

// Reached says whether the limit lets nothing more begin.
func (v *Limit) Reached() bool { return v.Limit != nil && v.Spent+v.Held >= *v.Limit }

// Limit reads the limit of the account or one of its keys or agents.
func (q *Request) Limit(subject, at, binds string) (*Limit, error) {
	l, err := q.Ledger.SpendingLimit(q.Context(), q.Account(), subject)
	if err != nil {
		return nil, err
	}
	v := &Limit{SpendingLimit: l, At: at, Owner: q.Principal().Money, Binds: binds, Form: &Form{}}
	if l.Limit != nil {
		v.Form = NewForm(limitField, l.Limit.String())
	}
	return v, nil
}

// SetLimit sets the limit that was entered, or none where nothing was, and goes to the page
// at back. Where that cannot be, again shows the form.
func (q *Request) SetLimit(subject, back string, again func(*Form) error) error {
	f, err := q.Form()
	if err != nil {
		return err
	}
	var limit *billing.Money
	said := "There is no daily limit any more."
	if f.Value(limitField) != "" {
		m := f.Amount(limitField, "")
		limit, said = &m, "The daily limit was saved."
	}
	set := map[string]any{limitField: limit}
	if done, err := q.Submit(f, http.MethodPatch, Path("/v1/spending-limits/", subject), set, nil, func() error { return again(f) }); !done {
		return err
	}
	return q.Done(back, said)
}
