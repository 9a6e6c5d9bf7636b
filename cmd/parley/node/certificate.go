package node

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

// Certificate is the server's own, for HTTPS and SIP, read again on SIGHUP. Its
// methods may be called from several goroutines.
type Certificate struct {
	cert, key string // paths
	pair      atomic.Pointer[tls.Certificate]
}

// LoadCertificate reads a certificate and its key, both PEM.
func LoadCertificate(cert, key string) (*Certificate, error) {
	c := &Certificate{cert: cert, key: key}
	return c, c.Reload(context.Background())
}

// Reload reads the files again. Connections that are up keep what they have; on
// an error the old certificate stays.
func (c *Certificate) Reload(context.Context) error {
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return fmt.Errorf("certificate (PARLEY_TLS_CERT, PARLEY_TLS_KEY): %w", err)
	}
	c.pair.Store(&pair)
	return nil
}

// TLS is how to serve with it.
func (c *Certificate) TLS() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.pair.Load(), nil },
	}
}

// client asks this process itself, by an address that the certificate need not name: it
// trusts this certificate alone. Redirects are not followed.
func (c *Certificate) client(patience time.Duration) *http.Client {
	return &http.Client{
		Timeout:       patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{TLSClientConfig: &tls.Config{
			MinVersion:         tls.VersionTLS12,
			InsecureSkipVerify: true, // for what follows, which names and authorities have no say in
			VerifyConnection: func(s tls.ConnectionState) error {
				if own := c.pair.Load(); len(s.PeerCertificates) > 0 && bytes.Equal(s.PeerCertificates[0].Raw, own.Certificate[0]) {
					return nil
				}
				return errors.New("this is not this server's own certificate")
			},
		}},
	}
}
