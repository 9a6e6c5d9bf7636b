package dashboard

import (
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"

	"parley/api"
	"parley/store"
	"parley/store/people"
)

// The cookie of a sign-in. Where the server is reached by https its name keeps other
// hosts from setting it (RFC 6265bis section 4.1.3.2).
const (
	cookieName       = "parley"
	secureCookieName = "__Host-parley"
)

func (d *Dashboard) cookie(r *http.Request) *http.Cookie {
	c := &http.Cookie{Name: cookieName, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, MaxAge: int(people.BrowserMost.Seconds())}
	if d.Secure || r.TLS != nil {
		c.Name, c.Secure = secureCookieName, true
	}
	return c
}

// token is the secret that a browser sent; empty: none. Of several cookies with the
// name the first counts.
func (d *Dashboard) token(r *http.Request) string {
	c, err := r.Cookie(d.cookie(r).Name)
	if err != nil {
		return ""
	}
	return c.Value
}

// browser finds the sign-in that a request carries; nil when there is none. One of a
// demonstration is good only while the server is one.
func (d *Dashboard) browser(r *http.Request) (*people.Browser, string, error) {
	token := d.token(r)
	if token == "" {
		return nil, "", nil
	}
	b, err := d.People.Browser(r.Context(), token)
	switch {
	case errors.Is(err, store.ErrUnauthorized):
		return nil, "", nil
	case err != nil:
		return nil, "", err
	case b.Demo && d.Demo == "":
		return nil, "", nil
	}
	return b, token, nil
}

// SignedIn implements api.SignIns.
func (d *Dashboard) SignedIn(r *http.Request) (api.Principal, error) {
	b, _, err := d.browser(r)
	if err == nil && b == nil {
		err = api.ErrMissingKey
	}
	return principalOf(b), err
}

// open begins a sign-in, with a secret that was never there before; an earlier one of
// the browser ends.
func (d *Dashboard) open(q *Request, user string, demo bool) (token string, err error) {
	if old := d.token(q.R); old != "" {
		if err := d.People.CloseBrowser(q.Context(), old); err != nil {
			return "", err
		}
	}
	token, err = d.People.OpenBrowser(q.Context(), user, demo)
	if err != nil {
		return "", err
	}
	c := d.cookie(q.R)
	c.Value = token
	http.SetCookie(q.W, c)
	return token, nil
}

// forget takes the cookie away.
func (d *Dashboard) forget(q *Request) {
	c := d.cookie(q.R)
	c.MaxAge = -1
	http.SetCookie(q.W, c)
}

// toSignIn asks who it is, and remembers where they wanted to go.
func (q *Request) toSignIn() error {
	to := home + "/sign-in"
	if at := q.R.URL.RequestURI(); q.R.Method == http.MethodGet && !q.HTMX() && at != home+"/" {
		to += "?next=" + url.QueryEscape(at)
	}
	return q.Go(to)
}

// within is an address of the dashboard to go on to, else its first page.
func within(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Host != "" || u.Scheme != "" || !strings.HasPrefix(next, home+"/") || strings.ContainsAny(next, "\\\r\n") ||
		!strings.HasPrefix(path.Clean(u.Path)+"/", home+"/") {
		return home + "/"
	}
	return next
}
