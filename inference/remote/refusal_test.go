package remote_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
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

// TestKeyRefused: a refusal of the key is told from one of the request, by its status or its name, and holds no key.
func TestKeyRefused(t *testing.T) {
	const key = "key-of-a-test"
	for _, c := range []struct {
		status int
		body   string
		want   bool
	}{
		{http.StatusUnauthorized, `{"err_code": "INVALID_AUTH"}`, true},
		{http.StatusPaymentRequired, ``, true},
		{http.StatusForbidden, `no JSON`, true},
		{http.StatusBadRequest, `{"error": {"type": "invalid_request_error"}}`, false},
		{http.StatusBadRequest, `{"error": {"status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}}`, true},
		{http.StatusNotFound, `{"error": {"type": "not_found_error"}}`, false},
		{http.StatusTooManyRequests, `{"error": {"code": "rate_limit_exceeded"}}`, false},
		{http.StatusTooManyRequests, `{"error": {"code": "insufficient_quota", "message": "` + key + `"}}`, true},
		{http.StatusInternalServerError, ``, false},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			w.Write([]byte(c.body))
		}))
		vendor, err := remote.NewClient(remote.Config{Engine: "vendor", BaseURL: s.URL, Key: key})
		if err != nil {
			t.Fatal(err)
		}
		_, posted := vendor.Post(t.Context(), "/", "text/plain", nil)
		_, dialled := vendor.Dial(t.Context(), "/")
		s.Close()
		for _, err := range []error{posted, dialled} {
			if inference.KeyRefused(err) != c.want || strings.Contains(err.Error(), key) {
				t.Errorf("%d %s: %v", c.status, c.body, err)
			}
		}
	}
	vendor, err := remote.NewClient(remote.Config{Engine: "vendor", BaseURL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		in   remote.Named
		want bool
	}{
		{remote.Named{Type: "authentication_error"}, true},
		{remote.Named{Code: 403.0}, true},
		{remote.Named{Status: "UNAUTHENTICATED", Code: 401.0}, true},
		{remote.Named{Type: "overloaded_error"}, false},
		{remote.Named{Type: "invalid_request_error"}, false},
	} {
		if got := inference.KeyRefused(vendor.Refused(c.in)); got != c.want {
			t.Errorf("%+v: %v", c.in, got)
		}
	}
}
