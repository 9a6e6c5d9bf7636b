package remote

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/api"
	"parley/api/dashboard/voicetest"
	"parley/api/wsagent"
)

// anyKey takes all keys.
type anyKey struct{}

func (anyKey) Authenticate(context.Context, string) (api.Principal, error) {
	return api.Principal{Account: "acc_1", Key: "key_1"}, nil
}

// TestTalkFromAPipe: each line is a turn of its own, and is answered before the next one and before the end.
func TestTalkFromAPipe(t *testing.T) {
	routes := api.New(anyKey{})
	wsagent.Mount(routes, &wsagent.Handler{Agents: &voicetest.Agent{Silent: true}})
	server := httptest.NewServer(routes.Handler(api.Options{}))
	defer server.Close()
	got := run("hello\nagain\n", "talk", "--url", server.URL, "--key", "sk_x", "--agent", "ag_1", "--type", "--quiet", "200ms")
	first, second := strings.Index(got.Out, "You said hello."), strings.Index(got.Out, "You said again.")
	if got.Status != 0 || first < 0 || second < first {
		t.Errorf("%+v", got)
	}
}
