package remote_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"parley/inference/remote"
)

// TestWarm: calls that begin one after the other ask once.
func TestWarm(t *testing.T) {
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer s.Close()
	c, err := remote.NewClient(remote.Config{Engine: "vendor", BaseURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		c.Warm(t.Context(), "/models")
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
}
