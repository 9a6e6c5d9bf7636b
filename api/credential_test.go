package api

import (
	"context"
	"errors"
	"net/http/httptest"
	"testing"

	"parley/store"
)

func TestCredential(t *testing.T) {
	for _, tt := range []struct{ name, authorization, key, query, want string }{
		{"none", "", "", "", ""},
		{"bearer", "Bearer sk_a", "", "", "sk_a"},
		{"bearer in any case", "bEARER  sk_a ", "", "", "sk_a"},
		{"key", "", "sk_b", "", "sk_b"},
		{"query", "", "", "?api_key=sk_c", "sk_c"},
		{"query after another", "", "", "?agent_id=x&api_key=wst_c", "wst_c"},
		{"all", "Bearer sk_a", "sk_b", "?api_key=sk_c", "sk_a"},
		{"key and query", "", "sk_b", "?api_key=sk_c", "sk_b"},
		{"another scheme", "Basic c2s=", "sk_b", "?api_key=sk_c", "Basic c2s="},
		{"an empty bearer", "Bearer", "sk_b", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/"+tt.query, nil)
			if tt.authorization != "" {
				r.Header.Set("Authorization", tt.authorization)
			}
			if tt.key != "" {
				r.Header.Set("X-API-Key", tt.key)
			}
			if got := Credential(r); got != tt.want {
				t.Errorf("credential %q, want %q", got, tt.want)
			}
		})
	}
}

// ring is the keys of a test.
type ring map[string]Principal

func (k ring) Authenticate(_ context.Context, secret string) (Principal, error) {
	if secret == "sk_away" {
		return Principal{}, store.ErrUnavailable
	}
	p, ok := k[secret]
	if !ok {
		return Principal{}, store.ErrUnauthorized
	}
	return p, nil
}

func TestAuthenticate(t *testing.T) {
	keys := ring{"sk_b": {Account: "b"}, "sk_c": {Account: "c"}}
	for _, tt := range []struct {
		authorization, target string
		want                  string
		err                   error
	}{
		{"", "/", "", ErrMissingKey},
		{"", "/?api_key=sk_c", "c", nil},
		{"Bearer sk_b", "/?api_key=sk_c", "b", nil},
		{"Bearer sk_x", "/?api_key=sk_c", "", store.ErrUnauthorized}, // and not c
		{"Bearer ", "/?api_key=sk_c", "", ErrMissingKey},
		{"Bearer sk_away", "/", "", store.ErrUnavailable},
	} {
		r := httptest.NewRequest("GET", tt.target, nil)
		if tt.authorization != "" {
			r.Header.Set("Authorization", tt.authorization)
		}
		if p, err := Authenticate(keys, r, Service); p.Account != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%q, %s: %q, %v", tt.authorization, tt.target, p.Account, err)
		}
	}
}
