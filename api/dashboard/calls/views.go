package calls

import (
	"errors"
	"net/http"
	"net/url"

	"parley/api"
	"parley/api/dashboard/page"
	"parley/store/people"
)

// savedViews are the filters of the history of calls that a user keeps, and the form that keeps another or renames the
// one that is looked at.
type savedViews struct {
	Query string // what is looked at, as a view keeps it; empty: all calls
	Views []people.View
	Now   *people.View // the one that is looked at; nil: none
	Named *page.Form   // with the name that was refused
}

// viewOf are the filters and the order in the address of the page; those that are not set are not there, so that what
// is the same is written the same.
func viewOf(asked url.Values) url.Values {
	out := url.Values{}
	for _, name := range callFilters {
		if value := asked.Get(name); value != "" {
			out.Set(name, value)
		}
	}
	return out
}

// addViews adds the user's views.
func addViews(q *page.Request, v *callsView) (err error) {
	v.Named = &page.Form{}
	v.Views, err = q.People.Views(q.Context(), q.Browser.User.ID, q.Account())
	for i := range v.Views {
		if v.Views[i].Query == v.Query {
			v.Now = &v.Views[i]
			v.Named = page.NewForm("name", v.Now.Name)
			break
		}
	}
	return err
}

// At is the address of a view.
func (v *savedViews) At(of people.View) string { return page.CallsAt + "?" + of.Query }

// viewIn is what a form says is looked at.
func viewIn(f *page.Form) url.Values {
	asked, _ := url.ParseQuery(f.Values.Get("query")) // of what is damaged the rest
	return viewOf(asked)
}

// named finishes what a form with a name asks for, or shows the page again with what is wrong with the name.
func named(q *page.Request, f *page.Form, notice string, err error) error {
	view := viewIn(f)
	if err == nil {
		return q.Done(page.CallsAt+"?"+view.Encode(), notice)
	}
	if errors.Is(err, people.ErrViewName) {
		f.Fail("name", "Another view has this name.")
	} else if api.ProblemOf(err).Status != http.StatusBadRequest {
		return err
	} else if err = f.Refused(err); err != nil {
		return err
	}
	v, err := newCallsView(q, view)
	if err != nil {
		return err
	}
	v.Named = f
	return q.Invalid("calls", "calls", "Call history", v)
}

func saveView(q *page.Request, f *page.Form) error {
	err := q.People.SaveView(q.Context(), q.Browser.User.ID, q.Account(), f.Value("name"), viewIn(f).Encode())
	return named(q, f, "The view was saved.", err)
}

func renameView(q *page.Request, f *page.Form) error {
	err := q.People.RenameView(q.Context(), q.Browser.User.ID, q.Account(), q.ID("id"), f.Value("name"))
	return named(q, f, "The view was renamed.", err)
}

func deleteView(q *page.Request) error {
	if err := q.People.DeleteView(q.Context(), q.Browser.User.ID, q.Account(), q.ID("id")); err != nil {
		return err
	}
	return q.Done(page.CallsAt, "The view was deleted.")
}
