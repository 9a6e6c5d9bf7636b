package dashboard

import (
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"parley/api"
	"parley/api/dashboard/account"
	"parley/api/dashboard/calls"
	"parley/api/dashboard/editor"
	"parley/api/dashboard/knowledge"
	"parley/api/dashboard/page"
	"parley/api/dashboard/report"
	"parley/api/dashboard/speech"
	"parley/api/dashboard/telephony"
	"parley/api/dashboard/trunk"
	"parley/store"
	"parley/store/people"
)

// pages are all addresses of the dashboard. Each group of pages is in a file or a package of its own.
func (d *Dashboard) pages() []page.Page {
	return slices.Concat(
		d.signInPages(),
		homePages(),
		d.findPages(),
		d.peoplePages(),
		setupPages(),
		operatorPages(),
		editor.Pages(),
		playgroundPages(),
		speech.Pages(),
		knowledge.Pages(),
		calls.Pages(),
		report.Pages(),
		telephony.Pages(),
		trunk.Pages(),
		account.Pages(),
		errorPages(),
	)
}

// errorPages answer what is no page.
func errorPages() []page.Page {
	return []page.Page{{Route: "GET " + page.Home + "/{rest...}", Open: page.Anybody, Serve: func(*page.Request) error { return api.ErrNotFound }}}
}

var navGroups = []page.NavGroup{
	{Title: "", Links: []page.NavLink{{Path: page.Home + "/", Title: "Overview"}}},
	{Title: "Build", Links: []page.NavLink{{Path: page.Home + "/agents", Title: "Agents"}, {Path: knowledge.At, Title: knowledge.Title}, {Path: page.Home + "/playground", Title: "Playground"}, {Path: speech.At, Title: speech.Title}, {Path: account.SoundsAt, Title: account.SoundsTitle, Telephony: true},
		{Path: account.EnginesAt, Title: account.EnginesTitle}}},
	{Title: "Calls", Links: []page.NavLink{{Path: page.Home + "/live", Title: "Live calls"}, {Path: page.Home + "/calls", Title: "Call history"}, {Path: calls.InsightsAt, Title: calls.InsightsTitle}, {Path: report.LatencyAt, Title: report.LatencyTitle},
		{Path: page.Home + "/bulk", Title: "Bulk dial", Telephony: true}, {Path: page.Home + "/numbers", Title: "Numbers", Telephony: true}, {Path: trunk.At, Title: trunk.Title, Telephony: true},
		{Path: telephony.MessagesAt, Title: telephony.MessagesTitle, Telephony: true}, {Path: telephony.DoNotCallAt, Title: telephony.DoNotCallTitle, Telephony: true}, {Path: telephony.ConsentsAt, Title: "Consents", Telephony: true}}},
	{Title: "Account", Links: []page.NavLink{{Path: page.Home + "/balance", Title: "Balance"}, {Path: page.Home + "/keys", Title: "API keys"}, {Path: account.SecretsAt, Title: "Secrets"}, {Path: account.RequestsAt, Title: "Requests"}, {Path: page.Home + "/webhooks", Title: "Webhooks"},
		{Path: page.Home + "/people", Title: "People"}, {Path: settingsAt, Title: settingsTitle}}},
	{Title: "Server", Links: []page.NavLink{{Path: setupAt, Title: "Setup check"}, {Path: nodesAt, Title: nodesTitle}, {Path: page.Home + "/operator", Title: "Accounts"}}},
}

// audiences are who may open the pages that can be read, by address.
func (d *Dashboard) audiences() map[string]page.Audience {
	all := map[string]page.Audience{}
	for _, p := range d.pages() {
		if path, ok := strings.CutPrefix(p.Route, "GET "); ok {
			all[strings.TrimSuffix(path, "{$}")] = p.Open
		}
	}
	return all
}

// navigation is what the user sees of it. The line whose address the page's own begins
// with is the current one.
func (d *Dashboard) navigation(q *page.Request) []page.NavGroup {
	var shown []page.NavGroup
	at, open := q.R.URL.Path, d.audiences()
	for _, g := range navGroups {
		var links []page.NavLink
		for _, l := range g.Links {
			who, there := open[l.Path]
			if !there || l.Telephony && !q.Telephony || who == page.Operators && !q.Browser.User.Operator() ||
				(who == page.Members || who == page.Owners) && q.Account() == "" {
				continue
			}
			l.Current = at == l.Path || l.Path != page.Home+"/" && strings.HasPrefix(at, l.Path+"/")
			links = append(links, l)
		}
		if len(links) > 0 {
			shown = append(shown, page.NavGroup{Title: g.Title, Links: links})
		}
	}
	return shown
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
func (d *Dashboard) handle(a *api.API, p page.Page) {
	method, path, _ := strings.Cut(p.Route, " ")
	route(a, method, path, p.Max, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy(r))
		w.Header().Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(self)")
		if d.Secure || r.TLS != nil { // elsewhere browsers complain of these
			w.Header().Set("Cross-Origin-Opener-Policy", "same-origin")
			w.Header().Set("Strict-Transport-Security", api.HSTS)
		}
		q := d.Request(w, r)
		if err := d.csrf.Check(r); err != nil {
			q.Fail(page.ErrOtherSite)
			return
		}
		ok, err := d.admit(q, p.Open)
		switch {
		case err != nil || !ok:
		case !api.Storable(r.URL.Path): // no identifier is so
			err = store.ErrNotFound
		default:
			err = p.Answer(q)
		}
		if errors.Is(err, errDeadLink) {
			err = q.PageWithStatus(http.StatusNotFound, "deadlink", "This link does not work", nil)
		}
		if err != nil {
			q.Fail(err)
		}
	}))
}

// admit finds out who sends a request. It answers those who may not open the page.
func (d *Dashboard) admit(q *page.Request, open page.Audience) (ok bool, err error) {
	if q.Browser, err = d.browser(q.R); err != nil {
		return false, err
	}
	b := q.Browser
	switch {
	case open == page.Anybody:
		return true, nil
	case b == nil:
		return false, toSignIn(q)
	case open == page.Operators && !b.User.Operator():
		return false, page.ErrNotYours
	case open == page.Users, open == page.Operators:
		return true, nil
	case b.Account == "" && q.R.Method == http.MethodGet:
		return false, q.Go(page.Home + "/accounts")
	case b.Account == "", open == page.Owners && b.Membership != people.RoleOwner:
		return false, page.ErrNotYours
	}
	return true, nil
}
