package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// TestProfilesAreForThisMachine, and nothing is for pages whose name leads to it.
func TestProfilesAreForThisMachine(t *testing.T) {
	h := newMetricsHandler(prometheus.NewRegistry(), http.NotFoundHandler())
	for _, tt := range []struct {
		remote, host, path string
		want               int
	}{
		{"127.0.0.1:1", "127.0.0.1:9090", "/debug/pprof/cmdline", 200},
		{"[::1]:1", "localhost:9090", "/debug/pprof/cmdline", 200},
		{"127.0.0.1:1", "[::1]:9090", "/metrics", 200},
		{"127.0.0.1:1", "evil.example:9090", "/metrics", 403},
		{"127.0.0.1:1", "localhost.evil.example", "/debug/pprof/cmdline", 403},
		{"192.0.2.1:1", "metrics.example:9090", "/metrics", 200},
		{"192.0.2.1:1", "localhost:9090", "/debug/pprof/cmdline", 404},
	} {
		r, w := httptest.NewRequest("GET", tt.path, nil), httptest.NewRecorder()
		r.RemoteAddr, r.Host = tt.remote, tt.host
		if h.ServeHTTP(w, r); w.Code != tt.want {
			t.Errorf("%s for %s of %s: %d, want %d", tt.remote, tt.path, tt.host, w.Code, tt.want)
		}
	}
}
