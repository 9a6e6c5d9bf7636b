package api

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
)

type noteInput struct {
	ID   string `path:"id"`
	Body struct {
		Text string `json:"text" maxLength:"8"`
	}
}

type noteOutput struct {
	Body struct {
		Text    string `json:"text"`
		Account string `json:"account"`
	}
}

// testAPI has a route of every kind.
func testAPI() http.Handler {
	a := New(ring{"sk_a": {Account: "a", Key: "k"}, "wst_a": {Account: "a", Key: "k", Ticket: &Ticket{ID: "t"}},
		"wst_s": {Account: "a", Key: "k", Ticket: &Ticket{ID: "s", Agent: "ag"}}})
	op := func(method, path, id string) huma.Operation {
		return huma.Operation{Method: method, Path: path, OperationID: id}
	}
	Register(a, Route{Access: Service, Operation: op("PUT", "/notes/{id}", "put-note")}, func(ctx context.Context, in *noteInput) (*noteOutput, error) {
		if in.ID == "gone" {
			return nil, Detail(ErrNotFound, "note gone")
		}
		if in.ID == "busy" {
			return nil, ErrJobs
		}
		out := &noteOutput{}
		out.Body.Text, out.Body.Account = in.Body.Text, PrincipalOf(ctx).Account
		return out, nil
	})
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			WriteError(w, ReadError(err))
			return
		}
		_, _ = w.Write(b)
	})
	raw := func(method, path string, access Access) {
		o := op(method, path, "op"+path[1:])
		o.MaxBodyBytes = 10
		a.Handle(Route{Access: access, OwnPagesOnly: access == Management, Operation: o}, echo)
	}
	raw("POST", "/public", Public)
	raw("POST", "/{list}/shared", Public) // like /notes/{id}, for /notes/shared
	raw("POST", "/manage", Management)
	raw("POST", "/mint", Minting)
	raw("POST", "/talk", Conversation)
	return a.Handler(Options{})
}

func ask(h http.Handler, method, target, key, body string) (int, Problem, http.Header) {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var p Problem
	_ = json.Unmarshal(w.Body.Bytes(), &p) // not every answer is a problem
	return w.Code, p, w.Header()
}

func TestAccess(t *testing.T) {
	h := testAPI()
	for _, tt := range []struct {
		target, key string
		status      int
		code        string
	}{
		{"/public", "", 200, ""},
		{"/notes/1", "", 401, "auth.missing_key"},
		{"/notes/1", "sk_x", 401, "auth.invalid_key"},
		{"/notes/1", "sk_a", 200, ""},
		{"/notes/1", "wst_a", 200, ""},
		{"/notes/1", "wst_s", 403, "auth.ticket_not_allowed"},
		{"/notes/1?api_key=sk_a", "", 200, ""},
		{"/manage", "sk_a", 200, ""},
		{"/manage", "wst_a", 403, "auth.ticket_not_allowed"},
		{"/manage", "wst_s", 403, "auth.ticket_not_allowed"},
		{"/mint", "wst_a", 200, ""},
		{"/mint", "wst_s", 403, "auth.ticket_not_allowed"},
		{"/mint?api_key=sk_a", "", 401, "auth.missing_key"},
		{"/talk", "wst_s", 200, ""},
	} {
		method, body := "POST", "{}"
		if strings.HasPrefix(tt.target, "/notes") {
			method, body = "PUT", `{"text":""}`
		}
		if status, p, _ := ask(h, method, tt.target, tt.key, body); status != tt.status || p.Code != tt.code {
			t.Errorf("%s with %q: %d %s, want %d %s", tt.target, tt.key, status, p.Code, tt.status, tt.code)
		}
	}
}

func TestRefusals(t *testing.T) {
	h := testAPI()
	for _, tt := range []struct {
		name, method, target, body string
		status                     int
		code, detail               string
	}{
		{"not JSON", "PUT", "/notes/1", "{", 400, "validation.invalid_request_format", ""},
		{"a wrong type", "PUT", "/notes/1", `{"text":7}`, 400, "validation.invalid_request_format", "body.text: expected string"},
		{"a bound", "PUT", "/notes/1", `{"text":"123456789"}`, 400, "validation.invalid_request_format", "body.text: expected length <= 8"},
		{"an unknown field", "PUT", "/notes/1", `{"text":"a","more":1}`, 200, "", ""},
		{"the handler's", "PUT", "/notes/gone", `{"text":""}`, 404, "request.not_found", "note gone"},
		{"too long", "POST", "/talk", strings.Repeat("x", 11), 413, "request.too_large", ""},
		{"too long for JSON", "PUT", "/notes/1", `{"text":"` + strings.Repeat("x", maxJSON) + `"}`, 413, "request.too_large", ""},
		{"as long as JSON may be", "PUT", "/notes/1", `{"text":""}` + strings.Repeat(" ", maxJSON-len(`{"text":""}`)), 200, "", ""},
		{"another method", "GET", "/talk", "", 405, "request.method_not_allowed", ""},
		{"nothing there", "GET", "/nothing", "", 404, "request.not_found", ""},
	} {
		status, p, _ := ask(h, tt.method, tt.target, "sk_a", tt.body)
		if status != tt.status || p.Code != tt.code || tt.detail != "" && p.Detail != tt.detail {
			t.Errorf("%s: %d %s %q", tt.name, status, p.Code, p.Detail)
		}
	}
	if _, p, header := ask(h, "PUT", "/notes/busy", "sk_a", `{"text":""}`); header.Get("Retry-After") != "5" || !p.Retryable {
		t.Errorf("busy: %+v %v", p, header)
	}
	// A body whose length nobody has told ends at the bound too.
	r := httptest.NewRequest("POST", "/public", io.MultiReader(strings.NewReader("123456789012345")))
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != 413 {
		t.Errorf("a long stream: %d", w.Code)
	}
}

func TestPagesOfOtherSites(t *testing.T) {
	h := testAPI()
	for _, tt := range []struct {
		method, target, origin string
		status                 int
	}{
		{"OPTIONS", "/notes/1", "*", 204},
		{"OPTIONS", "/talk", "*", 204},
		{"OPTIONS", "/manage", "", 405},
		{"OPTIONS", "/notes/shared", "*", 204}, // two patterns match, neither is more specific
		{"OPTIONS", "/nothing", "", 404},
		{"PUT", "/notes/1", "*", 401}, // the page may read why
		{"POST", "/manage", "", 401},
	} {
		status, _, header := ask(h, tt.method, tt.target, "", "")
		if status != tt.status || header.Get("Access-Control-Allow-Origin") != tt.origin {
			t.Errorf("%s %s: %d, %v", tt.method, tt.target, status, header)
		}
	}
	_, _, header := ask(h, "OPTIONS", "/notes/1", "", "")
	for _, want := range []string{"Authorization", "X-API-Key", "Content-Type", "Accept", "Last-Event-ID"} {
		if !strings.Contains(header.Get("Access-Control-Allow-Headers"), want) {
			t.Errorf("%s may not be sent: %v", want, header)
		}
	}
}
