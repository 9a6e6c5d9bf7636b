package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
)

var requestName = regexp.MustCompile(`^req_[0-9a-v]{26}$`)

// TestEveryAnswerNamesItsRequest: whatever came of it, and the body of a refusal says the same; what the client sends is
// not taken for it.
func TestEveryAnswerNamesItsRequest(t *testing.T) {
	bodies := map[string]http.Handler{"mux": Wrap(routes(), Options{RateLimit: 1}), "api": testAPI()}
	last := ""
	for _, tt := range []struct {
		on, method, target, body string
		status                   int
	}{
		{"mux", "GET", "/v1/pricing", "", 200}, {"mux", "POST", "/things", "{", 400}, {"mux", "GET", "/things", "", 405}, {"mux", "DELETE", "/things", "", 204},
		{"mux", "GET", "/nothing", "", 429},
		{"api", "PUT", "/notes/1", `{"text":"a"}`, 200}, {"api", "PUT", "/notes/gone", `{"text":"a"}`, 404}, {"api", "PUT", "/notes/1", `{"text":7}`, 400},
		{"api", "PUT", "/notes/1", "{", 400}, {"api", "PUT", "/notes/1?x=%00", `{"text":"a"}`, 400}, {"api", "POST", "/manage", "", 200}, {"api", "POST", "/public", "12345678901", 413},
	} {
		w := send(bodies[tt.on], tt.method, tt.target, tt.body, "Authorization", "Bearer sk_a", RequestHeader, "mine", "Content-Type", "application/json")
		id := w.Header().Get(RequestHeader)
		if w.Code != tt.status || !requestName.MatchString(id) || id[:13] < last {
			t.Errorf("%s %s: %d, %q after %q", tt.method, tt.target, w.Code, id, last)
		}
		last = id[:13] // its milliseconds
		if tt.status < 400 {
			continue
		}
		var p struct {
			ID string `json:"request_id"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.ID != id {
			t.Errorf("%s %s: %s names %q, its header %q", tt.method, tt.target, w.Body, p.ID, id)
		}
	}
}

// TestRequestsInTheLog: the lines about a request have its name, beside the client's where that is one; why it failed on
// our side stands there and not in the answer.
func TestRequestsInTheLog(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	a := New(nil)
	route := Route{Operation: huma.Operation{Method: "GET", Path: "/fails", OperationID: "fails"}}
	Register(a, route, func(ctx context.Context, _ *struct{}) (*noteOutput, error) {
		LogOf(ctx, log).Info("asked")
		return nil, errors.New("the password of the database")
	})
	a.mux.HandleFunc("GET /panics", func(http.ResponseWriter, *http.Request) { panic("x") })
	a.mux.HandleFunc("GET /within", func(w http.ResponseWriter, r *http.Request) {
		if err := a.Call(r.Context(), Principal{}, http.MethodGet, "/fails", nil, nil); err != nil {
			w.WriteHeader(http.StatusNoContent)
		}
	})
	h := a.Handler(Options{Log: log})
	for given, logged := range map[string]bool{"cart-42_B": true, strings.Repeat("a", 64): true, strings.Repeat("a", 65): false, "a b": false, "a\"b": false, "": false} {
		out.Reset()
		w := send(h, "GET", "/fails", "", RequestHeader, given)
		id := "request=" + w.Header().Get(RequestHeader)
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if w.Code != 500 || len(lines) != 3 || !strings.Contains(lines[0], "msg=asked "+id) || !strings.Contains(lines[1], `err="the password of the database"`) || strings.Contains(w.Body.String(), "password") {
			t.Fatalf("%d %s, log %s", w.Code, w.Body, out.String())
		}
		for _, line := range lines {
			if !strings.Contains(line, id) {
				t.Errorf("%s is not in %s", id, line)
			}
		}
		if strings.Contains(lines[2], "client_request="+given+" ") != logged || strings.Contains(lines[2], "client_request") != logged {
			t.Errorf("a client's %q: %s", given, lines[2])
		}
	}
	out.Reset()
	if w := send(h, "GET", "/within", ""); w.Code != 204 || !strings.Contains(out.String(), `err="the password of the database"`) {
		t.Errorf("a fault within an answer that is none: %d, log %s", w.Code, out.String())
	}
	out.Reset()
	w := send(h, "GET", "/panics", "")
	if id := "request=" + w.Header().Get(RequestHeader); strings.Count(out.String(), id) != 2 || strings.Contains(out.String(), "a request failed") {
		t.Errorf("a panic: %s", out.String())
	}
	if got := RequestIDOf(t.Context()); got != "" || LogOf(t.Context(), log) != log {
		t.Errorf("without a request: %q", got)
	}
}
