package page

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"parley/api"
	"parley/store/people"
)

// Errors of pages, which the error page explains.
var (
	ErrOtherSite = api.Detail(api.ErrTicketScope, "This came from a page of another site, and nothing was done.")
	ErrNotYours  = errors.New("not for this user")
)

// Request is one request of a page, with who sends it. One goroutine uses it.
type Request struct {
	*Services
	W http.ResponseWriter
	R *http.Request
	// Browser is the sign-in; nil: none, which only public pages see.
	Browser *people.Browser
	site    *Site
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
func (q *Request) Principal() api.Principal { return PrincipalOf(q.Browser) }

// PrincipalOf is whom a sign-in speaks for; nil: nobody.
func PrincipalOf(b *people.Browser) api.Principal {
	if b == nil {
		return api.Principal{}
	}
	return api.PrincipalFor(b.Principal())
}

// Call asks one of the API's routes on behalf of the account: see api.API.Call. What is
// put into the path must be escaped: see Path.
func (q *Request) Call(method, address string, in, out any) error {
	return q.CallWith(q.Context(), method, address, in, out)
}

// CallWith is Call in a context that says more of the request, such as api.WithIfMatch.
func (q *Request) CallWith(ctx context.Context, method, address string, in, out any) error {
	return q.site.API.Call(ctx, q.Principal(), method, address, in, out)
}

// Upload is Call for a POST whose body is no JSON, such as a form with a file. It is read while it comes.
func (q *Request) Upload(address, contentType string, body io.Reader, out any) error {
	return q.site.API.Send(q.Context(), q.Principal(), http.MethodPost, address, contentType, body, out)
}

// Relay answers with what one of the API's routes answers.
func (q *Request) Relay(address string) error {
	return q.site.API.Relay(q.Context(), q.W, q.Principal(), address)
}

// Read is what one of the API's routes answers with.
func Read[T any](q *Request, address string) (T, error) {
	var out T
	err := q.Call(http.MethodGet, address, nil, &out)
	return out, err
}

// Listed reads a part of a list of the API, of limit entries that filter lets through. The
// address of the page says by its parameter cursor where the part begins; older is the address
// of the page with what follows, empty at the end of the list. at is the page's own path.
func Listed[T any](q *Request, route, at, cursor, limit string, filter url.Values) (list []T, older string, err error) {
	query, next := url.Values{"limit": {limit}}, url.Values{}
	for name, value := range filter {
		query[name], next[name] = value, value
	}
	if from := q.R.URL.Query().Get(cursor); from != "" {
		query.Set("cursor", from)
	}
	found, err := Read[api.List[T]](q, route+"?"+query.Encode())
	if err == nil && found.NextCursor != nil {
		next.Set(cursor, *found.NextCursor)
		older = at + "?" + next.Encode()
	}
	return found.Data, older, err
}

// Do has one of the API's routes change something, and says so on the page at path.
func (q *Request) Do(method, address string, in any, path, notice string) error {
	if err := q.Call(method, address, in, nil); err != nil {
		return err
	}
	return q.Done(path, notice)
}

// Submit has one of the API's routes do what a form asks for, unless something is wrong with
// the form. What the API says is wrong with it goes into the form, see Form.Refused. Where it was
// not done, the request is answered: again shows the form once more.
func (q *Request) Submit(f *Form, method, address string, in, out any, again func() error) (done bool, err error) {
	if f.OK() {
		err = f.Refused(q.Call(method, address, in, out))
	}
	if err == nil && !f.OK() {
		return false, again()
	}
	return err == nil, err
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

// Origin is where others reach the server, without a final slash: its configured address, else
// how the browser reached it.
func (q *Request) Origin() string {
	if q.Base != "" {
		return q.Base
	}
	scheme := "http://"
	if q.Secure || q.R.TLS != nil {
		scheme = "https://"
	}
	return scheme + q.R.Host
}

// HTMX says whether a script of the page asks, and wants a part of it.
func (q *Request) HTMX() bool { return q.R.Header.Get("HX-Request") == "true" }

// ID is a part of the path that the route names.
func (q *Request) ID(name string) string { return q.R.PathValue(name) }

// Page answers with the template of that name in its layout.
func (q *Request) Page(name, title string, data any) error {
	return q.PageWithStatus(http.StatusOK, name, title, data)
}

// PageWithStatus is Page with another status than 200.
func (q *Request) PageWithStatus(code int, name, title string, data any) error {
	v, err := q.view(name, title, data)
	if err != nil {
		return err
	}
	return q.site.views.write(q.W, code, name, v.layout, v)
}

// Show is Page for data that may not have been found:
//
//	return q.Show("keys", "API keys")(q.keysView(&Form{}))
func (q *Request) Show(name, title string) func(data any, err error) error {
	return found(func(data any) error { return q.Page(name, title, data) })
}

// found shows data that may not have been found.
func found(show func(data any) error) func(data any, err error) error {
	return func(data any, err error) error {
		if err != nil {
			return err
		}
		return show(data)
	}
}

// StopAsking is the status that has htmx end what it asks for now and then.
const StopAsking = 286

// Part answers with a part of a page, which its template file defines under part.
func (q *Request) Part(name, part string, data any) error {
	return q.site.views.write(q.W, http.StatusOK, name, part, data)
}

// ShowPart is Part for data that may not have been found, as Show is Page.
func (q *Request) ShowPart(name, part string) func(data any, err error) error {
	return found(func(data any) error { return q.Part(name, part, data) })
}

// Invalid answers a form that cannot be taken (422): a script gets the part of the page
// that is the form, everybody else the whole page.
func (q *Request) Invalid(name, part, title string, data any) error {
	if q.HTMX() {
		return q.site.views.write(q.W, http.StatusUnprocessableEntity, name, part, data)
	}
	return q.PageWithStatus(http.StatusUnprocessableEntity, name, title, data)
}

// ShowInvalid is Invalid for data that may not have been found, as Show is Page.
func (q *Request) ShowInvalid(name, part, title string) func(data any, err error) error {
	return found(func(data any) error { return q.Invalid(name, part, title, data) })
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
	Request              string // names it for the operator; empty: not known
}

func faultOf(err error) fault {
	if errors.Is(err, ErrNotYours) {
		return fault{http.StatusForbidden, "This is not for you", "Your role does not include this page. An owner of the account or an operator can change that.", "", ""}
	}
	p := api.ProblemOf(err)
	f := fault{p.Status, "This did not work", p.Message, p.Code, ""}
	if p.Detail != "" {
		f.Message = Sentence(p.Detail)
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

// Fail answers with an error: a page, or a sentence above the page that asked.
func (q *Request) Fail(err error) {
	f := faultOf(err)
	f.Request = api.RequestIDOf(q.Context())
	log := api.LogOf(q.Context(), q.Log)
	if after := api.ProblemOf(err).RetryAfter; after > 0 {
		q.W.Header().Set("Retry-After", strconv.Itoa(after))
	}
	if f.Status >= 500 && q.Context().Err() == nil {
		log.Error("a page failed", "path", q.R.URL.Path, "err", err)
	}
	if q.HTMX() {
		q.W.Header().Set("HX-Retarget", "#notices")
		q.W.Header().Set("HX-Reswap", "innerHTML")
		err = q.site.views.write(q.W, f.Status, "error", "alert", f)
	} else {
		err = q.PageWithStatus(f.Status, "error", f.Title, f)
	}
	if err != nil { // the database is away, perhaps: a page that needs nothing
		log.Error("an error page failed", "err", err)
		http.Error(q.W, f.Title+". "+f.Message+" "+f.Request, f.Status)
	}
}
