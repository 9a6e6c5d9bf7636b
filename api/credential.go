package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"parley/store"
)

// Principal is whose credential a request carried.
type Principal = store.Principal

// Keys looks credentials up.
type Keys interface {
	Authenticate(ctx context.Context, secret string, now time.Time) (Principal, error)
}

// Credential is the credential of a request: the first present of Authorization,
// X-API-Key and the query decides, and the others are not looked at.
func Credential(r *http.Request) string {
	if h := r.Header.Get("Authorization"); h != "" {
		scheme, value, _ := strings.Cut(h, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return h // no key has this form: it is refused as unknown
		}
		return strings.TrimSpace(value)
	}
	if k := r.Header.Get("X-API-Key"); k != "" {
		return k
	}
	return r.URL.Query().Get("api_key")
}

// Authenticate finds out who sent a request, or ErrMissingKey, ErrBackOff when the
// address has failed too often, or the store's refusal.
func Authenticate(keys Keys, r *http.Request) (Principal, error) {
	secret := Credential(r)
	if secret == "" {
		return Principal{}, ErrMissingKey
	}
	g, _ := r.Context().Value(guardKey{}).(*visit)
	if g != nil && g.barred() {
		return Principal{}, ErrBackOff
	}
	p, err := keys.Authenticate(r.Context(), secret, time.Now())
	if g != nil {
		g.tried(err == nil, errors.Is(err, store.ErrUnauthorized))
	}
	return p, err
}
