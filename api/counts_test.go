package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
)

func TestCounts(t *testing.T) {
	counts := new(Counts)
	inside := int64(-1)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /in", func(http.ResponseWriter, *http.Request) { inside = counts.Active() })
	mux.HandleFunc("GET /sorry", func(w http.ResponseWriter, _ *http.Request) { WriteError(w, ErrDraining) })
	mux.HandleFunc("GET /panic", func(http.ResponseWriter, *http.Request) { panic("x") })
	h := Wrap(mux, Options{Counts: counts})
	for path, failed := range map[string]uint64{"/in": 0, "/nothing": 0, "/sorry": 1, "/panic": 1} {
		before := counts.Failed()
		send(h, "GET", path, "")
		if got := counts.Failed() - before; got != failed {
			t.Errorf("%s counted %d failures, want %d", path, got, failed)
		}
	}
	if inside != 1 || counts.Active() != 0 {
		t.Errorf("%d requests inside, %d left", inside, counts.Active())
	}
}

// TestRefusalsAreCounted by their public code, once each, whoever wrote the answer.
func TestRefusalsAreCounted(t *testing.T) {
	counts := new(Counts)
	a := New(nil)
	type body struct {
		Body struct {
			N int `json:"n"`
		}
	}
	Register(a, Route{Operation: huma.Operation{OperationID: "dear", Method: http.MethodPost, Path: "/dear", Tags: []string{"x"}}, Access: Public},
		func(context.Context, *body) (*struct{}, error) { return nil, Detail(ErrDestination, "premium") })
	a.Handle(Route{Operation: huma.Operation{OperationID: "late", Method: http.MethodGet, Path: "/late", Tags: []string{"x"}}, Access: Public},
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusSwitchingProtocols) // as a socket that is refused
			Refused(r.Context(), ErrBusy)
		}))
	h := a.Handler(Options{Counts: counts})
	for _, c := range []struct{ method, path, body, code string }{
		{"POST", "/dear", `{"n":1}`, "callcenter.destination_not_allowed"},
		{"POST", "/dear", `{"n":"x"}`, "validation.invalid_request_format"}, // the library's
		{"POST", "/dear", "{", "validation.invalid_request_format"},
		{"GET", "/dear", "", "request.method_not_allowed"},
		{"GET", "/nowhere", "", "request.not_found"},
		{"GET", "/late", "", "service.unavailable"},
	} {
		before := counts.Refused()
		r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
		r.Header.Set("Content-Type", "application/json")
		h.ServeHTTP(httptest.NewRecorder(), r)
		after, sum := counts.Refused(), uint64(0)
		for code, n := range after {
			sum += n - before[code]
		}
		if after[c.code] != before[c.code]+1 || sum != 1 {
			t.Errorf("%s %s %s: %v, before %v", c.method, c.path, c.body, after, before)
		}
	}
	counts.Refuse(Detail(ErrDestination, "satellite"))
	if n := counts.Refused()["callcenter.destination_not_allowed"]; n != 2 {
		t.Errorf("%d destinations were refused", n)
	}
}
