package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"parley/store"
)

// signed is keys of a test that know one browser.
type signed struct{ ring }

func (signed) SignedIn(r *http.Request) (Principal, error) {
	if c, err := r.Cookie("parley"); err != nil || c.Value != "good" {
		return Principal{}, ErrMissingKey
	}
	return Principal{Account: "s"}, nil
}

// TestSignIn: management takes the sign-in from the dashboard's own pages, and nothing
// else does.
func TestSignIn(t *testing.T) {
	keys := signed{ring{"sk_b": {Account: "b"}}}
	for _, tt := range []struct {
		name, method, target string
		access               Access
		header               string // names and values, parted by " | "
		want                 string // account; empty: 401
	}{
		{"a page's script", "GET", "/v1/keys", Management, "Sec-Fetch-Site | same-origin", "s"},
		{"a page's script that changes", "POST", "/v1/keys", Management, "Sec-Fetch-Site | same-origin", "s"},
		{"typed", "GET", "/v1/ledger.csv", Management, "Sec-Fetch-Site | none", "s"},
		{"typed that changes", "POST", "/v1/keys", Management, "Sec-Fetch-Site | none", ""},
		{"another site", "POST", "/v1/keys", Management, "Sec-Fetch-Site | cross-site", ""},
		{"another site reads", "GET", "/v1/keys", Management, "Sec-Fetch-Site | cross-site", ""},
		{"a neighbour", "POST", "/v1/keys", Management, "Sec-Fetch-Site | same-site", ""},
		{"a neighbour reads", "GET", "/v1/keys", Management, "Sec-Fetch-Site | same-site", ""},
		{"a site that says so itself", "DELETE", "/v1/keys/1", Management, "Sec-Fetch-Site | cross-site | Origin | http://example.com", ""},
		{"an old browser", "POST", "/v1/keys", Management, "Origin | http://example.com", "s"},
		{"an old browser, another site", "POST", "/v1/keys", Management, "Origin | http://evil.example", ""},
		{"an old browser, another port", "POST", "/v1/keys", Management, "Origin | http://example.com:81", ""},
		{"an old browser, no origin", "POST", "/v1/keys", Management, "Origin | null", ""},
		{"nobody says where from", "DELETE", "/v1/keys/1", Management, "", ""},
		{"a bad cookie", "GET", "/v1/keys", Management, "Sec-Fetch-Site | same-origin | Cookie | parley=bad", ""},
		{"sockets", "GET", "/ws/agent", Conversation, "Sec-Fetch-Site | same-origin", ""},
		{"a socket that asks for keys", "GET", "/ws/agent", Management, "Sec-Fetch-Site | same-origin", ""},
		{"services", "POST", "/callcenter/dial", Service, "Sec-Fetch-Site | same-origin", ""},
		{"tickets", "POST", "/ws-ticket", Minting, "Sec-Fetch-Site | same-origin", ""},
		{"services under /v1", "POST", "/v1/something", Service, "Sec-Fetch-Site | same-origin", ""},
		{"a key decides", "GET", "/v1/keys", Management, "Sec-Fetch-Site | same-origin | Authorization | Bearer sk_b", "b"},
		{"a bad key decides", "GET", "/v1/keys", Management, "Sec-Fetch-Site | same-origin | Authorization | Bearer sk_x", ""},
		{"an empty key decides", "GET", "/v1/keys", Management, "Sec-Fetch-Site | same-origin | Authorization | Bearer", ""},
		{"an empty key in the query decides", "GET", "/v1/keys?api_key=", Management, "Sec-Fetch-Site | same-origin", ""},
	} {
		r := httptest.NewRequest(tt.method, tt.target, nil)
		r.AddCookie(&http.Cookie{Name: "parley", Value: "good"})
		header := strings.Split(tt.header, " | ")
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		p, err := Authenticate(keys, r, tt.access)
		refused := errors.Is(err, ErrMissingKey) || errors.Is(err, store.ErrUnauthorized)
		if p.Account != tt.want || (err == nil) != (tt.want != "") || err != nil && !refused {
			t.Errorf("%s: %q, %v", tt.name, p.Account, err)
		}
	}
	r := httptest.NewRequest("GET", "/v1/keys", nil)
	r.AddCookie(&http.Cookie{Name: "parley", Value: "good"})
	if _, err := Authenticate(ring{}, r, Management); !errors.Is(err, ErrMissingKey) {
		t.Errorf("keys that know no browsers: %v", err)
	}
}

// browsers are keys of a test that know everybody's browser.
type browsers struct {
	ring
	who Principal
}

func (b browsers) SignedIn(*http.Request) (Principal, error) { return b.who, nil }

// TestSignInRoles: a sign-in opens what the user's roles do.
func TestSignInRoles(t *testing.T) {
	r := httptest.NewRequest("GET", "/v1/x", nil)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	for _, tt := range []struct {
		who                           Principal
		management, owners, operators error
	}{
		{Principal{Account: "a"}, nil, ErrRole, store.ErrNotFound},
		{Principal{Account: "a", Owner: true}, nil, nil, store.ErrNotFound},
		{Principal{Account: "a", Operator: true}, nil, ErrRole, nil},
		{Principal{Operator: true}, ErrMissingKey, ErrMissingKey, nil},
		{Principal{}, ErrMissingKey, ErrMissingKey, store.ErrNotFound},
	} {
		for access, want := range map[Access]error{Management: tt.management, Owners: tt.owners, Operators: tt.operators, Service: ErrMissingKey, Minting: ErrMissingKey} {
			if _, err := Authenticate(browsers{who: tt.who}, r, access); !errors.Is(err, want) || want == nil && err != nil {
				t.Errorf("%+v at %d: %v, want %v", tt.who, access, err, want)
			}
		}
	}
}

// TestCall: pages meet the same checks as everybody, without a credential.
func TestCall(t *testing.T) {
	a := New(ring{})
	type note struct {
		Account, Text, Match string
	}
	type input struct {
		ID    string `path:"id"`
		Match string `header:"If-Match"`
		Body  struct {
			Text string `json:"text" minLength:"2"`
		}
	}
	Register(a, Route{Access: Management, Operation: huma.Operation{Method: http.MethodPost, Path: "/v1/notes/{id}", OperationID: "make-note"}},
		func(ctx context.Context, in *input) (*struct{ Body note }, error) {
			if in.ID != "a/b" {
				return nil, Detail(ErrNotFound, "id: "+in.ID)
			}
			return &struct{ Body note }{note{PrincipalOf(ctx).Account, in.Body.Text, in.Match}}, nil
		})
	a.Handler(Options{})
	me := Principal{Account: "acc", Key: "usr"}
	var out note
	ctx := WithIfMatch(t.Context(), `"7"`)
	if err := a.Call(ctx, me, http.MethodPost, "/v1/notes/a%2Fb", map[string]string{"text": "hello"}, &out); err != nil || out != (note{"acc", "hello", `"7"`}) {
		t.Errorf("%+v, %v", out, err)
	}
	for _, tt := range []struct {
		who     Principal
		address string
		in      any
		code    string
		detail  string
	}{
		{me, "/v1/notes/a%2Fb", map[string]string{"text": "x"}, "validation.invalid_request_format", "body.text: expected length >= 2"},
		{me, "/v1/notes/c", map[string]string{"text": "hello"}, "request.not_found", "id: c"},
		{me, "/v1/nothing", nil, "request.not_found", ""},
		{Principal{Account: "acc", Ticket: &Ticket{}}, "/v1/notes/a%2Fb", map[string]string{"text": "hello"}, "auth.ticket_not_allowed", ""},
	} {
		err := a.Call(t.Context(), tt.who, http.MethodPost, tt.address, tt.in, nil)
		if p := ProblemOf(err); err == nil || p.Code != tt.code || p.Detail != tt.detail {
			t.Errorf("%s: %+v, %v", tt.address, p, err)
		}
	}
	// What comes from outside cannot say that it comes from within.
	w := httptest.NewRecorder()
	a.mux.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/notes/a%2Fb", strings.NewReader(`{"text":"hello"}`)))
	var p Problem
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.Code != "auth.missing_key" {
		t.Errorf("%s, %v", w.Body, err)
	}
}
