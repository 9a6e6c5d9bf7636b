package node

import (
	"io"
	"log"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"
)

// TestOwnCertificateAlone: what a process asks itself over TLS goes to nobody else.
func TestOwnCertificateAlone(t *testing.T) {
	load := func(dir string) *Certificate {
		t.Helper()
		c, err := LoadCertificate(filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	mine, other := t.TempDir(), t.TempDir()
	certificate(t, mine, "mine")
	certificate(t, other, "mine") // of the same name
	c := load(mine)
	serving := func(with *Certificate) string {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		s := &http.Server{TLSConfig: with.TLS(), ErrorLog: log.New(io.Discard, "", 0),
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) })}
		go s.ServeTLS(ln, "", "")
		t.Cleanup(func() { s.Close() })
		return "https://" + ln.Addr().String()
	}
	client := c.client(time.Minute)
	ask := func(url string) error {
		res, err := client.Get(url)
		if err == nil {
			res.Body.Close()
			if res.StatusCode != http.StatusFound {
				t.Errorf("a redirect was followed: %d", res.StatusCode)
			}
		}
		return err
	}
	if err := ask(serving(c)); err != nil {
		t.Errorf("its own: %v", err)
	}
	stranger := serving(load(other))
	if ask(stranger) == nil {
		t.Error("it took somebody else's")
	}
	own := serving(c)
	certificate(t, mine, "mine")
	if err := c.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := ask(own); err != nil {
		t.Errorf("its new one: %v", err)
	}
	for secure, want := range map[bool]string{false: "http://127.0.0.1:8080", true: "https://127.0.0.1:8080"} {
		if got, err := ownURL("[::]:8080", secure); got != want || err != nil {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
}
