package dashboard

import (
	"net/http"
	"regexp"
	"strings"

	"parley/api"
	"parley/store"
	"parley/store/people"
)

// audience is who may open a page.
type audience uint8

// Who may open a page. The zero value is what most pages want.
const (
	members   audience = iota // who is signed in and looks at an account of theirs
	owners                    // of these its owners
	users                     // who is signed in, with an account or without
	operators                 // of these the operators
	anybody                   // without a sign-in
)

// page is one address of the dashboard.
type page struct {
	route string // method and path, as "GET /app/keys" or "POST /app/keys/{id}/revoke"
	open  audience
	max   int64 // bytes of the body; 0: 64 KiB
	// serve answers; form answers a form that was sent.
	serve func(*Request) error
	form  func(*Request, *Form) error
}

func (p *page) answer(q *Request) error {
	if p.form == nil {
		return p.serve(q)
	}
	f, err := q.Form()
	if err != nil {
		return err
	}
	return p.form(q, f)
}

// hostLike are the hosts that may be named in a policy.
var hostLike = regexp.MustCompile(`^[A-Za-z0-9.\-:\[\]]+$`)

// policy is what browsers let these pages do. There are no inline scripts or styles.
// Sockets of this server are named for browsers that do not count them as 'self'.
func policy(r *http.Request) string {
	sockets := ""
	if hostLike.MatchString(r.Host) {
		scheme := "ws"
		if r.TLS != nil {
			scheme = "wss"
		}
		sockets = " " + scheme + "://" + r.Host
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'" + sockets +
		"; media-src 'self' blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
}

// handle adds a page with what is the same for all: headers, the refusal of other
// sites' pages, the sign-in, errors.
func (d *Dashboard) handle(a *api.API, p page) {
	method, path, _ := strings.Cut(p.route, " ")
	route(a, method, path, p.max, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy(r))
		w.Header().Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(self)")
		if d.Secure || r.TLS != nil { // elsewhere browsers complain of these
			w.Header().Set("Cross-Origin-Opener-Policy", "same-origin")
			w.Header().Set("Strict-Transport-Security", api.HSTS)
		}
		q := &Request{Services: &d.Services, W: w, R: r, d: d}
		if err := d.csrf.Check(r); err != nil {
			q.fail(errOtherSite)
			return
		}
		ok, err := d.admit(q, p.open)
		switch {
		case err != nil || !ok:
		case !api.Storable(r.URL.Path): // no identifier is so
			err = store.ErrNotFound
		default:
			err = p.answer(q)
		}
		if err != nil {
			q.fail(err)
		}
	}))
}

// admit finds out who sends a request. It answers those who may not open the page.
func (d *Dashboard) admit(q *Request, open audience) (ok bool, err error) {
	if q.Browser, q.token, err = d.browser(q.R); err != nil {
		return false, err
	}
	b := q.Browser
	switch {
	case open == anybody:
		return true, nil
	case b == nil:
		return false, q.toSignIn()
	case open == operators && !b.User.Operator():
		return false, errNotYours
	case open == users, open == operators:
		return true, nil
	case b.Account == "" && q.R.Method == http.MethodGet:
		return false, q.Go(home + "/accounts")
	case b.Account == "", open == owners && b.Membership != people.RoleOwner:
		return false, errNotYours
	}
	return true, nil
}
