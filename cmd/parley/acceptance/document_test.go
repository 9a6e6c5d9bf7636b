package acceptance

import (
	"net/http"
	"testing"

	"parley/api/apitest"
)

// client asks a server, and every answer is held to the published document.
func client(t testing.TB) *http.Client {
	c := apitest.Client(t, apitest.Published(t))
	c.Timeout = patience
	return c
}

// TestDocumentIsServed: what a server says of itself is the published document.
func TestDocumentIsServed(t *testing.T) {
	t.Parallel()
	s := shared(t, laboratory)
	for _, path := range []string{"/openapi.json", "/openapi.yaml", "/asyncapi.yaml", "/v1/pricing"} {
		resp, err := client(t).Get("http://" + s.addrs["http"] + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != 200 {
			t.Errorf("%s: %d", path, resp.StatusCode)
		}
	}
}
