package tool

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestFetch: what an address says is taken within its bounds, and refused where no request may go.
func TestFetch(t *testing.T) {
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/page":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.Write([]byte("<p>Hello"))
		case "/moved":
			http.Redirect(w, r, "/page", http.StatusFound)
		case "/inside":
			http.Redirect(w, r, "https://10.0.0.1/", http.StatusFound)
		case "/circle":
			http.Redirect(w, r, "/circle", http.StatusFound)
		case "/long": // without a length
			w.(http.Flusher).Flush()
			w.Write([]byte(strings.Repeat("x", 2<<20)))
		case "/broken":
			w.Header().Set("Content-Length", "100")
			w.Write([]byte("x"))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(there.Close)
	f := guard(t, noNames{}, "127.0.0.1").Fetcher()
	for _, path := range []string{"/page", "/moved"} {
		if body, kind, err := f.Fetch(t.Context(), there.URL+path, 1<<20); err != nil || string(body) != "<p>Hello" || kind != "text/html; charset=utf-8" {
			t.Errorf("%s: %q, %s, %v", path, body, kind, err)
		}
	}
	for address, want := range map[string]string{
		there.URL + "/none": "it answers with status 404", there.URL + "/inside": "10.0.0.1 is not on the public Internet", there.URL + "/circle": "it redirects too often",
		there.URL + "/long": "it is larger than 1 MB", there.URL + "/broken": "the answer broke off", "https://10.0.0.1/": "10.0.0.1 is not on the public Internet",
		"https://nobody.example/": "the host of the address is not known on the public Internet", "ftp://127.0.0.1/": "only https addresses can be requested",
	} {
		if body, _, err := f.Fetch(t.Context(), address, 1<<20); err == nil || err.Error() != want {
			t.Errorf("%s: %d bytes, %v, want %s", address, len(body), err, want)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := f.Fetch(gone, there.URL+"/page", 1<<20); err == nil || err.Error() != "the request was given up" {
		t.Errorf("without a context: %v", err)
	}
}
