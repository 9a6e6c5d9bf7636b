package callcenter_test

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"parley/api"
	"parley/api/apitest"
	"parley/api/callcenter"
	"parley/api/socket"
)

// endless are calls that never end.
type endless struct{ callcenter.Calls }

func (endless) Log(context.Context, string, string) (*callcenter.CallLog, error) { return nil, nil }

func (endless) Follow(ctx context.Context, _, _ string, tell func(callcenter.Change) error) error {
	if err := tell(callcenter.Change{Kind: callcenter.Alive}); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// TestStreamsCountAsSockets: an account's event streams are among the sockets that it may
// have open, until they close.
func TestStreamsCountAsSockets(t *testing.T) {
	var open socket.Limits
	a := api.New(apitest.Keys{"sk_a": {Account: "a", Key: "key_a"}})
	callcenter.MountCalls(a, nil, endless{}, &open)
	callcenter.MountFollow(a, nil, endless{}, &open)
	s := httptest.NewServer(a.Handler(api.Options{}))
	defer s.Close()
	for range socket.MaxOpen - 1 {
		open.Open("a")
	}
	ask := func(ctx context.Context, path string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(ctx, "GET", s.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-API-Key", "sk_a")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		return resp
	}
	for _, path := range []string{"/callcenter/sse/call-monitor?call_id=ses_1", "/v1/calls/ses_1/events"} {
		ctx, leave := context.WithCancel(t.Context())
		last := ask(ctx, path)
		if line, err := bufio.NewReader(last.Body).ReadString('\n'); err != nil || !strings.HasPrefix(line, ":") {
			t.Fatalf("%s: %q, %v", path, line, err)
		}
		if more := ask(t.Context(), path); more.StatusCode != http.StatusTooManyRequests {
			t.Errorf("%s: one more: %d", path, more.StatusCode)
		}
		leave()
		for !open.Open("a") { // until the server has noticed
			runtime.Gosched()
		}
		open.Closed("a")
	}
}
