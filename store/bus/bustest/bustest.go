// Package bustest makes the certificates that tests of clusters need.
package bustest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority signs certificates. Its files are gone with the test.
type Authority struct {
	CA string // path of its own certificate

	t    testing.TB
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	made int64
}

// NewAuthority makes an authority of its own.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{t: t, dir: t.TempDir()}
	a.cert = a.template("test authority")
	a.cert.IsCA, a.cert.BasicConstraintsValid, a.cert.KeyUsage = true, true, x509.KeyUsageCertSign
	a.CA, _, a.key = a.sign(a.cert, nil)
	return a
}

// Node makes a certificate for a node on loopback and returns the paths of it and of
// its key.
func (a *Authority) Node() (cert, key string) {
	a.t.Helper()
	c := a.template("node")
	c.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	c.KeyUsage = x509.KeyUsageDigitalSignature
	c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	cert, key, _ = a.sign(c, a.key)
	return cert, key
}

func (a *Authority) template(name string) *x509.Certificate {
	a.made++
	return &x509.Certificate{SerialNumber: big.NewInt(a.made), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour)}
}

// sign makes a key, and a certificate by it of by's, or of itself; both are written.
func (a *Authority) sign(c *x509.Certificate, by *ecdsa.PrivateKey) (cert, key string, made *ecdsa.PrivateKey) {
	a.t.Helper()
	made, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	a.ok(err)
	if by == nil {
		by = made
	}
	der, err := x509.CreateCertificate(rand.Reader, c, a.cert, &made.PublicKey, by)
	a.ok(err)
	secret, err := x509.MarshalPKCS8PrivateKey(made)
	a.ok(err)
	name := filepath.Join(a.dir, c.SerialNumber.String())
	return a.write(name+".crt", "CERTIFICATE", der), a.write(name+".key", "PRIVATE KEY", secret), made
}

func (a *Authority) write(path, kind string, der []byte) string {
	a.t.Helper()
	a.ok(os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
	return path
}

func (a *Authority) ok(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
}
