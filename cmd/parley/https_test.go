package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/cmd/parley/command"
)

// pair is where a test has a certificate and its key.
type pair struct{ cert, key string }

// newPair names the files of a certificate to come.
func newPair(t *testing.T) pair {
	dir := t.TempDir()
	return pair{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}
}

// make writes a certificate that signs itself and returns it.
func (p pair) make(t *testing.T, name string, from, until time.Time) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: from, NotAfter: until}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, b := range map[string]*pem.Block{p.cert: {Type: "CERTIFICATE", Bytes: der}, p.key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// trusting is how a client trusts one certificate.
func trusting(c *x509.Certificate) *tls.Config {
	roots := x509.NewCertPool()
	roots.AddCert(c)
	return &tls.Config{RootCAs: roots}
}

// asked is an answer over HTTPS; the error says why there is none.
func (r *running) asked(trust *tls.Config, path, key string) (res *http.Response, body []byte, err error) {
	r.t.Helper()
	req, err := http.NewRequest(http.MethodGet, "https://"+r.addrs["https"]+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	way := &http.Transport{TLSClientConfig: trust.Clone(), ForceAttemptHTTP2: true, DisableKeepAlives: true}
	if res, err = way.RoundTrip(req); err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	body, err = io.ReadAll(res.Body)
	return res, body, err
}

// TestHTTPS: everything public is behind TLS, sockets too, the rest is not, and a new
// certificate is in force after SIGHUP without disturbing who is connected.
func TestHTTPS(t *testing.T) {
	dir, files := usedDataDir(t), newPair(t)
	now := time.Now()
	old := files.make(t, "old.example", now.Add(-time.Hour), now.Add(time.Hour))
	r := serve(t, dir, "PARLEY_TLS_CERT="+files.cert, "PARLEY_TLS_KEY="+files.key, "PARLEY_DEMO=true")

	res, body, err := r.asked(trusting(old), "/readyz", "")
	if err != nil || res.StatusCode != 200 || res.ProtoMajor != 2 || !strings.HasPrefix(res.Header.Get("Strict-Transport-Security"), "max-age=") {
		t.Fatalf("%v %s, %v", res, body, err)
	}
	if plain, err := http.Get("http://" + r.addrs["https"] + "/readyz"); err != nil || plain.StatusCode != 400 {
		t.Errorf("without TLS: %v, %v", plain, err)
	} else {
		plain.Body.Close()
	}
	metrics, err := http.Get("http://" + r.addrs["metrics"] + "/debug/sip/rejections")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(metrics.Body)
	metrics.Body.Close()
	if metrics.StatusCode != 200 || metrics.Header.Get("Strict-Transport-Security") != "" || string(bytes.TrimSpace(text)) != `{"total":{},"data":[]}` {
		t.Errorf("the operator's page: %d %v %s", metrics.StatusCode, metrics.Header, text)
	}
	if res, _, err := r.asked(trusting(old), "/debug/sip/rejections", ""); err != nil || res.StatusCode != 404 {
		t.Errorf("the operator's page in public: %v, %v", res, err)
	}
	conn := r.talks(trusting(old))
	defer conn.Close()

	fresh := files.make(t, "new.example", now.Add(-time.Hour), now.Add(2*time.Hour))
	r.signal(syscall.SIGHUP)
	eventually(t, "the new certificate is in force", func() bool { _, _, err := r.asked(trusting(fresh), "/healthz", ""); return err == nil })
	if _, _, err := r.asked(trusting(old), "/healthz", ""); err == nil {
		t.Error("the old certificate is still served")
	}
	if err := conn.WriteMessage(websocket.TextMessage, []byte(`{"type":"ping"}`)); err != nil {
		t.Errorf("the socket ended: %v", err)
	}
	if err := os.WriteFile(files.key, []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.signal(syscall.SIGHUP)
	eventually(t, "the log says so", func() bool { return strings.Contains(r.text(), "the old state stays") })
	if _, _, err := r.asked(trusting(fresh), "/healthz", ""); err != nil {
		t.Errorf("with a broken file: %v", err)
	}
	r.signal(os.Interrupt)
	if code := r.end(); code != 0 {
		t.Errorf("exit status %d\n%s", code, r.text())
	}
}

// talks opens a conversation with the demonstration's agent over TLS.
func (r *running) talks(trust *tls.Config) *websocket.Conn {
	r.t.Helper()
	key := firstLine(filepath.Join(r.first["data_dir"].(string), "demo-key"))
	res, body, err := r.asked(trust, "/v1/agents", key)
	var agents struct{ Data []struct{ ID string } }
	if err != nil || res.StatusCode != 200 || json.Unmarshal(body, &agents) != nil || len(agents.Data) == 0 {
		r.t.Fatalf("%v %s, %v", res, body, err)
	}
	dialer := websocket.Dialer{TLSClientConfig: trust, HandshakeTimeout: patience}
	conn, answer, err := dialer.Dial("wss://"+r.addrs["https"]+"/ws/agent?agent_id="+agents.Data[0].ID, http.Header{"Authorization": {"Bearer " + key}})
	if err != nil {
		r.t.Fatalf("%v, %v", answer, err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	if _, _, err := conn.ReadMessage(); err != nil {
		r.t.Fatalf("the agent says nothing: %v", err)
	}
	return conn
}

func TestHTTPSNeedsItsFiles(t *testing.T) {
	files := newPair(t)
	now := time.Now()
	files.make(t, "a.example", now, now.Add(time.Hour))
	if err := os.WriteFile(files.key, []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := parley(newDataDir(t), "serve")
	cmd.Env = append(cmd.Env, "PARLEY_TLS_CERT="+files.cert, "PARLEY_TLS_KEY="+files.key)
	if code, stderr := runToEnd(t, cmd); code != command.ExitFailed || !strings.Contains(lastLine(stderr), "certificate (PARLEY_TLS_CERT, PARLEY_TLS_KEY)") {
		t.Errorf("exit status %d\n%s", code, stderr)
	}
}
