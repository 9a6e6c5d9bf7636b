package node

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"parley/cmd/parley/config"
)

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
	c, err := LoadCertificate(filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"))
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
	if _, err := LoadCertificate(filepath.Join(dir, "none"), filepath.Join(dir, "key.pem")); err == nil {
		t.Error("loaded what is not there")
	}
}

// Without the simulated carrier not even this machine may call without a trunk.
func TestWhoMayCall(t *testing.T) {
	for _, tt := range []struct {
		carrier, source string
		want            bool
	}{{"simulated", "127.0.0.1", true}, {"sip", "127.0.0.1", false}, {"sip", "10.1.2.3", true}, {"simulated", "10.1.2.3", true},
		{"simulated", "192.0.2.1", false}, {"sip", "::ffff:10.1.2.3", true}} {
		n := &Node{cfg: &config.Config{Carrier: tt.carrier, SIPAllow: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}}
		if got := n.allowed(netip.MustParseAddr(tt.source)); got != tt.want {
			t.Errorf("%s with %s: %v", tt.source, tt.carrier, got)
		}
	}
}
