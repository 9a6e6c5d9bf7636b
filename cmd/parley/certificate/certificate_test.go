package certificate

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestOwnCertificateAlone: what a process asks itself over TLS goes to nobody else.
func TestOwnCertificateAlone(t *testing.T) {
	load := func(dir string) *Pair {
		t.Helper()
		c, err := Load(filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	mine, other := t.TempDir(), t.TempDir()
	certificate(t, mine, "mine")
	certificate(t, other, "mine") // of the same name
	c := load(mine)
	serving := func(with *Pair) string {
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
	client := c.Client(time.Minute)
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
}

// certificate writes one and its key.
func certificate(t *testing.T, dir, name string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, b := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(filepath.Join(dir, file), pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A new certificate is in force after a reload; a broken one is not.
func TestCertificateIsReadAgain(t *testing.T) {
	dir := t.TempDir()
	certificate(t, dir, "old")
	c, err := Load(filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	serves := func() string {
		pair, err := c.TLS().GetCertificate(nil)
		if err != nil {
			t.Fatal(err)
		}
		leaf, err := x509.ParseCertificate(pair.Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		return leaf.Subject.CommonName
	}
	certificate(t, dir, "new")
	if got := serves(); got != "old" {
		t.Errorf("before the reload: %s", got)
	}
	if err := c.Reload(t.Context()); err != nil || serves() != "new" {
		t.Errorf("after the reload: %s, %v", serves(), err)
	}
	if err := os.WriteFile(filepath.Join(dir, "key.pem"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.Reload(t.Context()); err == nil || serves() != "new" {
		t.Errorf("with half a certificate: %s, %v", serves(), err)
	}
	if _, err := Load(filepath.Join(dir, "none"), filepath.Join(dir, "key.pem")); err == nil {
		t.Error("loaded what is not there")
	}
}
