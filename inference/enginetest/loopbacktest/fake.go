package loopbacktest

import (
	"encoding/json"
	"net/http"
	"testing"
)

// Fake is the fake of one engine, which embeds a Server.
type Fake interface{ Loopback() *Server }

// Loopback is the server of the fake that embeds it.
func (s *Server) Loopback() *Server { return s }

// Started is a fake that runs until the test ends, and then reports violations as Watch does.
func Started[S Fake, C any](t testing.TB, start func(C) (S, error), script C, expects []string) S {
	t.Helper()
	s, err := start(script)
	if err != nil {
		t.Fatal(err)
	}
	s.Loopback().Watch(t, expects)
	return s
}

// ListenAt sets the server that a fake embeds to one that serves handlers at their patterns, as Listen says.
func ListenAt(s **Server, key string, faults []Fault, handlers map[string]http.HandlerFunc) (err error) {
	mux := http.NewServeMux()
	for pattern, h := range handlers {
		mux.HandleFunc(pattern, h)
	}
	*s, err = Listen(key, faults, mux)
	return err
}

// Answer answers a request with a value as JSON.
func Answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
