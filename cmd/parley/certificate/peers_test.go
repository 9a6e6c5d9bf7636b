package certificate

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"testing"
	"time"
)

// authority signs certificates.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t}
	c := &x509.Certificate{Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	signed := a.sign(c)
	a.cert, a.key = signed.Leaf, signed.PrivateKey.(*ecdsa.PrivateKey)
	return a
}

// sign makes a certificate, which signs itself where there is no authority yet.
func (a *authority) sign(c *x509.Certificate) tls.Certificate {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		a.t.Fatal(err)
	}
	c.SerialNumber, c.NotBefore, c.NotAfter = serial, time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, key.Public(), signer)
	if err != nil {
		a.t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	made := tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
	if a.cert != nil {
		made.Certificate = append(made.Certificate, a.cert.Raw)
	}
	return made
}

// issue makes the certificate of a server with names.
func (a *authority) issue(names ...string) *Pair {
	c := a.sign(&x509.Certificate{Subject: pkix.Name{CommonName: names[0]}, DNSNames: names})
	p := Awaited(nil)
	p.Set(&c)
	return p
}

// TestPeers: a node reaches others by address that have its certificate, or another one of its authority for one of its names.
func TestPeers(t *testing.T) {
	ours := newAuthority(t)
	own := ours.issue("voice.example.com", "talk.example.org")
	peers := &http.Client{Transport: &http.Transport{TLSClientConfig: own.Peers(), DisableKeepAlives: true}}
	ask := func(with *Pair) error {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		s := &http.Server{TLSConfig: with.TLS(), ErrorLog: log.New(io.Discard, "", 0), Handler: http.NotFoundHandler()}
		go s.ServeTLS(ln, "", "")
		defer s.Close()
		res, err := peers.Get("https://" + ln.Addr().String())
		if err == nil {
			res.Body.Close()
		}
		return err
	}
	for name, with := range map[string]*Pair{"the same": own, "a newer one": ours.issue("voice.example.com", "talk.example.org"), "one for another name of ours": ours.issue("talk.example.org")} {
		if err := ask(with); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, with := range map[string]*Pair{"another name": ours.issue("other.example.com"), "another authority": newAuthority(t).issue("voice.example.com", "talk.example.org"), "none": Awaited(nil)} {
		if ask(with) == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	self := (&authority{t: t}).issue("voice.example.com") // signs itself
	peers.Transport = &http.Transport{TLSClientConfig: self.Peers(), DisableKeepAlives: true}
	if err := ask(self); err != nil {
		t.Errorf("one that signs itself: %v", err)
	}
	if ask((&authority{t: t}).issue("voice.example.com")) == nil {
		t.Error("another one that signs itself is accepted")
	}
	peers.Transport = &http.Transport{TLSClientConfig: Awaited(nil).Peers(), DisableKeepAlives: true}
	if ask(own) == nil {
		t.Error("a node without a certificate sends to others")
	}
	if (*Pair)(nil).Peers() != nil {
		t.Error("a server without TLS has some for others")
	}
}
