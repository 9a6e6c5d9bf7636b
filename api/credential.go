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
