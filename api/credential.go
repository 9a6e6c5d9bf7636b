package api

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"parley/store"
)

// Keys looks credentials up: API keys and tickets.
type Keys interface {
	Authenticate(ctx context.Context, secret string) (Principal, error)
}

// Credential is the credential of a request: the first present of Authorization,
// X-API-Key and the query decides, and the others are not looked at.
func Credential(r *http.Request) string {
	if c, ok := headerCredential(r); ok {
		return c
	}
	return r.URL.Query().Get("api_key")
}

func headerCredential(r *http.Request) (string, bool) {
	if h := r.Header.Get("Authorization"); h != "" {
		scheme, value, _ := strings.Cut(h, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return h, true // no key has this form: it is refused as unknown
		}
		return strings.TrimSpace(value), true
	}
	k := r.Header.Get("X-API-Key")
	return k, k != ""
}

// Authenticate finds out who sent a request and whether they may use a route, or
// returns ErrMissingKey, ErrBackOff when the address has failed too often, ErrRateLimited,
// ErrTicketScope, or the store's refusal.
func Authenticate(keys Keys, r *http.Request, access Access) (Principal, error) {
	secret := Credential(r)
	if access == Minting {
		secret, _ = headerCredential(r)
	}
	if secret == "" {
		return signedIn(keys, r, access)
	}
	v, _ := r.Context().Value(guardKey{}).(*passage)
	if v != nil && v.barred() {
		return Principal{}, ErrBackOff
	}
	p, err := keys.Authenticate(r.Context(), secret)
	switch {
	case v == nil:
	case errors.Is(err, store.ErrUnauthorized):
		v.wrong()
	case err == nil && !v.right(p):
		err = ErrRateLimited
	}
	if err != nil {
		return Principal{}, err
	}
	return p, access.allows(p)
}

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
