package api

import (
	"net/http"
	"strings"
)

// SignIns is what Keys may do besides: find out who has signed in to the dashboard.
type SignIns interface {
	// SignedIn is whom the sign-in of the browser that sent the request speaks for, or
	// ErrMissingKey when it has none. Who belongs to no account has none in it.
	SignedIn(r *http.Request) (Principal, error)
}

// managementPrefix begins the addresses that a sign-in opens. Sockets, above all, are
// not among them: they are open to pages of all sites.
const managementPrefix = "/v1/"

// signedIn is what a request without a credential is answered: management takes the
// dashboard's own sign-in in its place, from the dashboard's own pages.
func signedIn(keys Keys, r *http.Request, access Access) (Principal, error) {
	s, ok := keys.(SignIns)
	_, sent := headerCredential(r)
	if !ok || sent || r.URL.Query().Has("api_key") || !access.keysOnly() || !strings.HasPrefix(r.URL.Path, managementPrefix) || !FromOwnPage(r) {
		return Principal{}, ErrMissingKey
	}
	p, err := s.SignedIn(r)
	if err == nil && p.Account == "" && access != Operators {
		err = ErrMissingKey
	}
	if err != nil {
		return Principal{}, err
	}
	return p, access.allows(p)
}

// FromOwnPage says whether a request comes from a page of this server, as far as the
// browser says so; what changes nothing may also be asked for by a person (typed,
// from a bookmark). Without a word of the browser's only the latter is believed: a
// program has no sign-in.
func FromOwnPage(r *http.Request) bool {
	safe := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "same-origin":
		return true
	case "none":
		return safe
	case "": // an old browser, or a page without TLS that is not on this machine
		origin := r.Header.Get("Origin")
		if origin == "" {
			return safe
		}
		_, host, ok := strings.Cut(origin, "://")
		return ok && strings.EqualFold(host, r.Host)
	}
	return false
}
