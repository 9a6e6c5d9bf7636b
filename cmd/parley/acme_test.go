package main

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"parley/cmd/parley/certificate"
	"parley/cmd/parley/certificate/acme/acmetest"
)

// TestHTTPSByItself: a server that knows its name alone gets a certificate, serves HTTPS, sockets and SIP over TLS with it, and has it
// after a restart.
func TestHTTPSByItself(t *testing.T) {
	const name = "voice.example.com"
	up := make(chan map[string]string, 1) // where the server listens, once that is known
	authority := acmetest.New(t, func(kind, _ string) string {
		select {
		case at := <-up:
			up <- at
			return at[map[string]string{certificate.TLSALPN01: "https", certificate.HTTP01: "http without TLS"}[kind]]
		case <-time.After(patience):
			return "" // which is nowhere
		}
	})
	roots := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, []byte(authority.Roots), 0o600); err != nil {
		t.Fatal(err)
	}
	trust := &tls.Config{RootCAs: authority.Pool(), ServerName: name}
	dir := usedDataDir(t)
	start := func() *running {
		r := serve(t, dir, "PARLEY_TLS_DOMAIN="+name, "PARLEY_TLS_ACME_DIRECTORY="+authority.URL, "PARLEY_TLS_ACME_CA="+roots, "PARLEY_TLS_PLAIN_ADDR=127.0.0.1:0", "PARLEY_SIP_TLS_ADDR=127.0.0.1:0", "PARLEY_DEMO=true")
		up <- r.addrs
		eventually(t, "it has a certificate", func() bool { _, _, err := r.asked(trust, "/healthz", ""); return err == nil })
		return r
	}
	shown := func(addr string) *x509.Certificate {
		t.Helper()
		conn, err := tls.Dial("tcp", addr, trust)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return conn.ConnectionState().PeerCertificates[0]
	}
	r := start()
	res, body, err := r.asked(trust, "/readyz", "")
	if err != nil || res.StatusCode != 200 || res.ProtoMajor != 2 || res.Header.Get("Strict-Transport-Security") == "" {
		t.Errorf("%v %s, %v", res, body, err)
	}
	first := shown(r.addrs["https"])
	if !shown(r.addrs["sip over TLS"]).Equal(first) {
		t.Error("SIP over TLS shows another certificate")
	}
	r.talks(trust).Close()
	_, text := r.get("metrics", "/metrics")
	if m := regexp.MustCompile(`(?m)^parley_certificate_expiry_timestamp_seconds (\S+)$`).FindStringSubmatch(text); m == nil {
		t.Error("nothing counts when it expires")
	} else if until, err := strconv.ParseFloat(m[1], 64); err != nil || int64(until) != first.NotAfter.Unix() {
		t.Errorf("it expires at %s, want %d", m[1], first.NotAfter.Unix())
	}
	plain, err := (&http.Transport{}).RoundTrip(mustRequest(t, "http://"+r.addrs["http without TLS"]+"/docs"))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, plain.Body)
	plain.Body.Close()
	if to := plain.Header.Get("Location"); plain.StatusCode != http.StatusMovedPermanently || to != "https://"+name+"/docs" {
		t.Errorf("without TLS: %d %s", plain.StatusCode, to)
	}
	if link := r.printed(); !strings.Contains(link, "https://"+name+"/") {
		t.Errorf("its links lead elsewhere:\n%s", link)
	}
	if strings.Contains(r.text(), "PRIVATE KEY") {
		t.Error("a key is in the log")
	}
	r.signal(os.Interrupt)
	r.end()

	<-up
	r = start()
	if !shown(r.addrs["https"]).Equal(first) {
		t.Error("another certificate after a restart")
	}
	if got, want := authority.Counts(), (acmetest.Counts{Accounts: 1, Orders: 1, Issued: 1}); got != want {
		t.Errorf("the authority has counted %+v", got)
	}
	r.signal(os.Interrupt)
	if code := r.end(); code != 0 {
		t.Errorf("exit status %d\n%s", code, r.text())
	}
}

func mustRequest(t *testing.T, url string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
