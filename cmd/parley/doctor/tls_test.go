package doctor

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"parley/cmd/parley/certificate"
	"parley/cmd/parley/config"
)

// serveTLS serves with a certificate until the test ends, and returns where.
func serveTLS(t *testing.T, with *certificate.Pair) (addr string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{TLSConfig: with.TLS(), ErrorLog: log.New(io.Discard, "", 0)}
	go s.ServeTLS(ln, "", "")
	t.Cleanup(func() { s.Close() })
	return ln.Addr().String()
}

// makeCertificate writes a certificate for a.example that signs itself, and its key.
func makeCertificate(t *testing.T, cert, key string, from, until time.Time) {
	t.Helper()
	pair, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"a.example"}, NotBefore: from, NotAfter: until}
	der, err1 := x509.CreateCertificate(rand.Reader, c, c, pair.Public(), pair)
	secret, err2 := x509.MarshalPKCS8PrivateKey(pair)
	err3 := os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600)
	err4 := os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
}

func TestDoctorCertificate(t *testing.T) {
	now := time.Now()
	cert, key := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	hour, day := time.Hour, 24*time.Hour
	for _, tt := range []struct {
		from, until time.Duration
		base, want  string
	}{
		{-hour, 90 * day, "", "ok: for a.example, until "},
		{-hour, 90 * day, "https://a.example/p", "ok: for a.example"},
		{-hour, 90 * day, "http://b.example", "ok: "},
		{-hour, 90 * day, "https://b.example:8443", "warn: it is not for b.example"},
		{-hour, 10*day + hour, "", "warn: in 10 days"},
		{-2 * hour, -hour, "", "fail: expired"},
		{hour, 90 * day, "", "fail: is not valid before"},
	} {
		makeCertificate(t, cert, key, now.Add(tt.from), now.Add(tt.until))
		judge(t, checkCertificate(&config.Config{TLSCert: cert, TLSKey: key, BaseURL: tt.base}, now), tt.want)
	}
	judge(t, checkCertificate(&config.Config{}, now), "ok: none")

	// One that an authority issues is that of the server which runs.
	issued := func(addr, name string) *config.Config {
		return &config.Config{HTTPAddr: addr, TLSDomains: []string{name}, TLSDirectory: "https://ca.example"}
	}
	makeCertificate(t, cert, key, now.Add(-hour), now.Add(90*day))
	running, err := certificate.Load(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	at, none := serveTLS(t, running), serveTLS(t, certificate.Awaited(nil))
	judge(t, checkCertificate(issued(at, "a.example"), now), "ok: for a.example, until ")
	judge(t, checkCertificate(issued(at, "a.example"), now.Add(80*day)), "warn: was not renewed")
	judge(t, checkCertificate(issued(at, "b.example"), now), "warn: not for b.example")
	judge(t, checkCertificate(issued(none, "a.example"), now), "warn: there is no certificate for a.example yet")
	judge(t, checkCertificate(issued("127.0.0.1:1", "a.example"), now), "ok: for a.example, from https://ca.example once the server runs")

	judge(t, checkCertificate(&config.Config{TLSCert: cert, TLSKey: cert}, now), "fail: ")
}
