package dashboard

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"parley/api"
	"parley/store/people"
)

// Errors of pages, which the error page explains.
var (
	errOtherSite = api.Detail(api.ErrTicketScope, "This came from a page of another site, and nothing was done.")
	errNotYours  = errors.New("not for this user")
)

// Request is one request of a page, with who sends it. One goroutine uses it.
type Request struct {
	*Services
	W http.ResponseWriter
	R *http.Request
	// Browser is the sign-in; nil: none, which only pages for anybody see.
	Browser *people.Browser
	token   string // of the sign-in

	d *Dashboard
}

// Context ends when the client goes away.
func (q *Request) Context() context.Context { return q.R.Context() }

// Account is the account that is looked at; empty: none.
func (q *Request) Account() string {
	if q.Browser == nil {
		return ""
	}
	return q.Browser.Account
}

// Principal is whom the request speaks for towards the API.
func (q *Request) Principal() api.Principal { return principalOf(q.Browser) }

func principalOf(b *people.Browser) api.Principal {
	if b == nil {
		return api.Principal{}
	}
	return api.PrincipalFor(b.Principal())
}

// Call asks one of the API's routes on behalf of the account: see api.API.Call. What is
// put into the path must be escaped: see Path.
func (q *Request) Call(method, address string, in, out any) error {
	return q.d.api.Call(q.Context(), q.Principal(), method, address, in, out)
}

// Path escapes what is put between the fixed parts of an address: Path("/v1/keys/", id).
func Path(parts ...string) string {
	var b strings.Builder
	for i, p := range parts {
		if i%2 == 1 {
			p = url.PathEscape(p)
		}
		b.WriteString(p)
	}
	return b.String()
}

// HTMX says whether a script of the page asks, and wants a part of it.
func (q *Request) HTMX() bool { return q.R.Header.Get("HX-Request") == "true" }

// ID is a part of the path that the route names.
func (q *Request) ID(name string) string { return q.R.PathValue(name) }

// Page answers with the template of that name in its layout.
func (q *Request) Page(name, title string, data any) error {
	return q.page(http.StatusOK, name, title, data)
}

func (q *Request) page(code int, name, title string, data any) error {
	v, err := q.view(name, title, data)
	if err != nil {
		return err
	}
	return q.d.views.write(q.W, code, name, v.layout, v)
}

// Part answers with a part of a page, which its template file defines under part.
func (q *Request) Part(name, part string, data any) error {
	return q.d.views.write(q.W, http.StatusOK, name, part, data)
}

// Invalid answers a form that cannot be taken (422): a script gets the part of the page
// that is the form, everybody else the whole page.
func (q *Request) Invalid(name, part, title string, data any) error {
	if q.HTMX() {
		return q.d.views.write(q.W, http.StatusUnprocessableEntity, name, part, data)
	}
	return q.page(http.StatusUnprocessableEntity, name, title, data)
}

// Done says on the next page what was done, and goes there.
func (q *Request) Done(path, notice string) error {
	if err := q.People.PutNotice(q.Context(), q.Browser, notice); err != nil {
		return err
	}
	return q.Go(path)
}

// Go has the browser open another page.
func (q *Request) Go(path string) error {
	if q.HTMX() {
		q.W.Header().Set("HX-Redirect", path) // a script would follow a redirection itself
		q.W.WriteHeader(http.StatusOK)
		return nil
	}
	q.W.Header().Set("Location", path)
	q.W.WriteHeader(http.StatusSeeOther)
	return nil
}

// fault is what the error page shows.
type fault struct {
	Status               int
	Title, Message, Code string
}

func faultOf(err error) fault {
	if errors.Is(err, errNotYours) {
		return fault{http.StatusForbidden, "This is not for you", "Your role does not include this page. An owner of the account or an operator can change that.", ""}
	}
	p := api.ProblemOf(err)
	f := fault{p.Status, "This did not work", p.Message, p.Code}
	if p.Detail != "" {
		f.Message = sentence(p.Detail)
	}
	switch p.Status {
	case http.StatusNotFound:
		f.Title, f.Message = "There is nothing here", "It was deleted, or it belongs to another account, or the address has a mistake in it."
	case http.StatusForbidden:
		f.Title = "This is not allowed"
	case http.StatusServiceUnavailable:
		f.Title = "Not at the moment"
	}
	return f
}

// fail answers with an error: a page, or a sentence above the page that asked.
func (q *Request) fail(err error) {
	f := faultOf(err)
	if after := api.ProblemOf(err).RetryAfter; after > 0 {
		q.W.Header().Set("Retry-After", strconv.Itoa(after))
	}
	if f.Status >= 500 && q.Context().Err() == nil {
		q.Log.Error("a page failed", "path", q.R.URL.Path, "err", err)
	}
	if q.HTMX() {
		q.W.Header().Set("HX-Retarget", "#notices")
		q.W.Header().Set("HX-Reswap", "innerHTML")
		err = q.d.views.write(q.W, f.Status, "error", "alert", f)
	} else {
		err = q.page(f.Status, "error", f.Title, f)
	}
	if err != nil { // the database is away, perhaps: a page that needs nothing
		q.Log.Error("an error page failed", "err", err)
		http.Error(q.W, f.Title+". "+f.Message, f.Status)
	}
}

// Stamp is now, as the store keeps it.
func (q *Request) Stamp() time.Time { return q.Now() }
