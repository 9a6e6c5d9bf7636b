package remote_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/remote"
)

// TestRests: who was told to wait asks nobody until then, whatever it wants.
func TestRests(t *testing.T) {
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Retry-After", "60")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer s.Close()
	c, err := remote.NewClient(remote.Config{Engine: "vendor", BaseURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	_, first := c.Post(t.Context(), "/", "text/plain", nil)
	_, second := c.Post(t.Context(), "/", "text/plain", nil)
	_, third := c.Dial(t.Context(), "/")
	other, err := remote.NewClient(remote.Config{Engine: "vendor", BaseURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	other.Share(c)
	_, fourth := other.Post(t.Context(), "/", "text/plain", nil)
	for _, err := range []error{first, second, third, fourth} {
		e, ok := err.(*inference.Error)
		if !ok || e.Fault != inference.ErrUnavailable || e.RetryAfter <= 50*time.Second || e.RetryAfter > time.Minute {
			t.Errorf("%v", err)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
}
