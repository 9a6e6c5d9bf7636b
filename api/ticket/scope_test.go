package ticket

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
)

// TestScopedTickets open their groups of routes and no others, and so do tickets that are
// made from them, which live no longer.
func TestScopedTickets(t *testing.T) {
	d := newDesk(t)
	for _, tt := range []struct {
		body, credential string
		status, expires  int
		scope            api.Scope
		field            string
	}{
		{`{"scope":["synthesis","calls"],"expires_in":60}`, "sk_a", 200, 60, api.Synthesis | api.Calls, ""},
		{`{"scope":["numbers"]}`, "sk_a", 200, 600, api.Numbers, ""},
		{`{"expires_in":5}`, "sk_a", 200, 5, 0, ""},
		{`{"scope":[]}`, "sk_a", 400, 0, 0, "scope"},
		{`{"scope":["management"]}`, "sk_a", 400, 0, 0, "scope"},
		{`{"scope":["calls"],"expires_in":601}`, "sk_a", 400, 0, 0, "expires_in"},
		{`{"scope":["calls"],"expires_in":0}`, "sk_a", 400, 0, 0, "expires_in"},
		{`{"scope":["calls"]}`, d.signed(api.Ticket{Expires: time.Now().Add(time.Minute)}), 403, 0, 0, ""},
		{`{"scope":["calls"]}`, "", 401, 0, 0, ""},
	} {
		status, got := d.post("/v1/tickets", tt.credential, tt.body)
		if status != tt.status || got.ExpiresIn != tt.expires || !strings.Contains(got.Detail, tt.field) {
			t.Fatalf("%s: %d %+v", tt.body, status, got)
		}
		if status != 200 {
			continue
		}
		if read := d.read(got.Ticket); read.Scope != tt.scope || read.Agent != "" {
			t.Errorf("%s: %+v", tt.body, read)
		}
		status, child := d.post("/ws-ticket", got.Ticket, "")
		if status != 200 || child.ExpiresIn > tt.expires || d.read(child.Ticket).Scope != tt.scope {
			t.Errorf("a ticket made of %s: %d %+v", tt.body, status, child)
		}
	}
}

func TestScopesOpenTheirRoutes(t *testing.T) {
	s := signer(t, secret)
	a := api.New(Keys{Signer: s, Store: &shelf{}, People: &shelf{}})
	paths := map[string]api.Scope{"/synthesis": api.Synthesis, "/calls": api.Calls, "/any": api.AnyScope, "/none": 0}
	for path, scope := range paths {
		a.Handle(api.Route{Access: api.Service, Scope: scope, Operation: huma.Operation{Method: http.MethodGet, Path: path, OperationID: path[1:]}},
			http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	}
	h := a.Handler(api.Options{})
	for _, scope := range []api.Scope{0, api.Synthesis, api.Calls, api.Numbers, api.Synthesis | api.Calls} {
		ticket := s.Sign(api.Principal{Account: "acc_a", Key: "key_a", Ticket: &api.Ticket{Expires: time.Now().Add(time.Minute), Scope: scope}})
		for path, of := range paths {
			r, w := httptest.NewRequest("GET", path, nil), httptest.NewRecorder()
			r.Header.Set("X-API-Key", ticket)
			h.ServeHTTP(w, r)
			if open := w.Code == http.StatusNoContent; open != (scope == 0 || scope&of != 0) {
				t.Errorf("%v at %s: %d", scope.Names(), path, w.Code)
			}
		}
	}
}
