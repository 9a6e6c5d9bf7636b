package certificate

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
)

// errPeer refuses a node that has another name.
var errPeer = errors.New("the certificate is neither this server's own nor valid for its name")

// Peers is how this server reaches other nodes of its cluster, at addresses that no certificate names.
// A node shows the certificate that this server has, or, while one of them has a newer one, another
// for one of its names: by the same authority or by one that the system trusts. A nil Pair has nil:
// nodes without TLS are reached without it.
func (p *Pair) Peers() *tls.Config {
	if p == nil {
		return nil
	}
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, // VerifyConnection decides: the address has no say
		VerifyConnection:   p.isPeer,
	}
}

func (p *Pair) isPeer(s tls.ConnectionState) error {
	own, err := p.current()
	if err != nil {
		return err
	}
	if len(s.PeerCertificates) == 0 {
		return errPeer
	}
	theirs := s.PeerCertificates[0]
	if bytes.Equal(theirs.Raw, own.Certificate[0]) {
		return nil
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	for _, der := range own.Certificate[1:] {
		if c, err := x509.ParseCertificate(der); err == nil && c.IsCA {
			roots.AddCert(c)
		}
	}
	between := x509.NewCertPool()
	for _, c := range s.PeerCertificates[1:] {
		between.AddCert(c)
	}
	for _, name := range own.Leaf.DNSNames {
		if _, err := theirs.Verify(x509.VerifyOptions{DNSName: name, Roots: roots, Intermediates: between}); err == nil {
			return nil
		}
	}
	return errPeer
}
