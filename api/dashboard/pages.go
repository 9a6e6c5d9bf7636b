package dashboard

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"parley/api"
	"parley/store"
	"parley/store/people"
)

// pages are all addresses of the dashboard. Each group of pages is in a file of its own.
func pages() []page {
	return slices.Concat(
		signInPages(),
		homePages(),
		keyPages(),
		webhookPages(),
		peoplePages(),
		enginePages(),
		setupPages(),
		operatorPages(),
		agentPages(),
		playgroundPages(),
		balancePages(),
		callPages(),
		numberPages(),
		bulkPages(),
		errorPages(),
	)
}

// errorPages answer what is no page.
func errorPages() []page {
	return []page{{route: "GET " + home + "/{rest...}", open: anybody, serve: func(*Request) error { return api.ErrNotFound }}}
}

// navGroup is a part of the navigation.
type navGroup struct {
	Title string
	Links []navLink
}

// navLink is a line of it. It is shown when there is a page at its address that the
// user may open.
type navLink struct {
	Path, Title string
	Current     bool
	telephony   bool
}

var navGroups = []navGroup{
	{"", []navLink{{Path: home + "/", Title: "Overview"}}},
	{"Build", []navLink{{Path: home + "/agents", Title: "Agents"}, {Path: home + "/playground", Title: "Playground"},
		{Path: enginesAt, Title: enginesTitle}}},
	{"Calls", []navLink{{Path: home + "/live", Title: "Live calls"}, {Path: home + "/calls", Title: "Call history"},
		{Path: home + "/bulk", Title: "Bulk dial", telephony: true}, {Path: home + "/numbers", Title: "Numbers", telephony: true}}},
	{"Account", []navLink{{Path: home + "/balance", Title: "Balance"}, {Path: home + "/keys", Title: "API keys"}, {Path: home + "/webhooks", Title: "Webhooks"},
		{Path: home + "/people", Title: "People"}}},
	{"Server", []navLink{{Path: setupAt, Title: "Setup check"}, {Path: home + "/operator", Title: "Accounts"}}},
}

// audiences are who may open the pages that can be read, by address.
func audiences() map[string]audience {
	all := map[string]audience{}
	for _, p := range pages() {
		if path, ok := strings.CutPrefix(p.route, "GET "); ok {
			all[strings.TrimSuffix(path, "{$}")] = p.open
		}
	}
	return all
}

// navigation is what the user sees of it. The line whose address the page's own begins
// with is the current one.
func navigation(q *Request) []navGroup {
	var shown []navGroup
	at, open := q.R.URL.Path, audiences()
	for _, g := range navGroups {
		var links []navLink
		for _, l := range g.Links {
			who, there := open[l.Path]
			if !there || l.telephony && !q.Telephony || who == operators && !q.Browser.User.Operator() ||
				(who == members || who == owners) && q.Account() == "" {
				continue
			}
			l.Current = at == l.Path || l.Path != home+"/" && strings.HasPrefix(at, l.Path+"/")
			links = append(links, l)
		}
		if len(links) > 0 {
			shown = append(shown, navGroup{g.Title, links})
		}
	}
	return shown
}

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
