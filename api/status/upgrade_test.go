package status_test

import (
	"net/http/httptest"
	"testing"

	"parley/api"
	"parley/api/apitest"
	"parley/api/status"
	"parley/api/wsagent"
)

// TestUnderTheAgentSocket asks plainly where else sockets connect.
func TestUnderTheAgentSocket(t *testing.T) {
	b := start(t)
	a := api.New(keys)
	wsagent.Mount(a, &wsagent.Handler{})
	status.Mount(a, b.Server)
	b.http.Close()
	b.http = httptest.NewServer(apitest.Judged(t, a, a.Handler(api.Options{})))
	t.Cleanup(b.http.Close)
	for _, tt := range []struct {
		path, key string
		status    int
		code      string
	}{
		{"/ws/agent", "sk_a", 400, "validation.invalid_request_format"},
		{"/ws/agent", "", 401, "auth.missing_key"},
		{"/ws/agent/unknown", "", 404, "request.not_found"},
		{"/ws/agent/voices/F1", "", 404, "request.not_found"},
		{"/ws/agent/voices", "", 200, ""},
	} {
		var p api.Problem
		if code, _ := b.get(t, tt.path, tt.key, &p); code != tt.status || p.Code != tt.code {
			t.Errorf("%s: %d %+v", tt.path, code, p)
		}
	}
}
