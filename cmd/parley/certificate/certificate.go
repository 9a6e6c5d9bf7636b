// Package certificate is the server's own certificate, for HTTPS and for SIP over TLS. It is read
// again on SIGHUP, and connections that are up keep the one that they began with.
package certificate

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

// Pair is a certificate and its key, in files. Its methods may be called from several goroutines.
type Pair struct {
	cert, key string // paths
	loaded    atomic.Pointer[tls.Certificate]
}

// Load reads a certificate and its key, both PEM.
func Load(cert, key string) (*Pair, error) {
	p := &Pair{cert: cert, key: key}
	return p, p.Reload(context.Background())
}

// Reload reads the files again. On an error the old certificate stays.
func (p *Pair) Reload(context.Context) error {
	loaded, err := tls.LoadX509KeyPair(p.cert, p.key)
	if err != nil {
		return fmt.Errorf("certificate (PARLEY_TLS_CERT, PARLEY_TLS_KEY): %w", err)
	}
	p.loaded.Store(&loaded)
	return nil
}

// TLS is how to serve with it.
func (p *Pair) TLS() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.loaded.Load(), nil },
	}
}

// Client sends requests to this process itself, by an address that the certificate need not
// name: it trusts this certificate alone. It follows no redirect.
func (p *Pair) Client(patience time.Duration) *http.Client {
	return &http.Client{
		Timeout:       patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{TLSClientConfig: &tls.Config{
			MinVersion:         tls.VersionTLS12,
			InsecureSkipVerify: true, // VerifyConnection decides: names and authorities have no say
			VerifyConnection: func(s tls.ConnectionState) error {
				if own := p.loaded.Load(); len(s.PeerCertificates) > 0 && bytes.Equal(s.PeerCertificates[0].Raw, own.Certificate[0]) {
					return nil
				}
				return errors.New("this is not this server's own certificate")
			},
		}},
	}
}
