// Package certificate is the server's own certificate, for HTTPS, for SIP over TLS and between nodes:
// one in files, which is read again on SIGHUP, or one that an authority issues (package acme below).
// Connections that are up keep the certificate that they began with.
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

	"github.com/prometheus/client_golang/prometheus"
)

// Pair is a certificate and its key, in files or issued. Its methods may be called from several
// goroutines. A nil Pair is that of a server without TLS: it has Peers, and is a Collector.
type Pair struct {
	cert, key string // paths; empty: it is issued
	issuer    Issuer // nil: there is none, or none yet
	loaded    atomic.Pointer[tls.Certificate]
	leads     atomic.Pointer[Pair] // which this one follows
}

// errNone refuses TLS while there is no certificate.
var errNone = errors.New("there is no certificate yet: the authority has not issued one")

// Load reads a certificate and its key, both PEM.
func Load(cert, key string) (*Pair, error) {
	p := &Pair{cert: cert, key: key}
	return p, p.Reload(context.Background())
}

// Awaited is a certificate that is yet to be issued, or that follows another one. Until then it refuses
// connections. The issuer may be nil.
func Awaited(from Issuer) *Pair { return &Pair{issuer: from} }

// Follow has this pair be another one from now on, which follows none.
func (p *Pair) Follow(other *Pair) { p.leads.Store(other) }

// own is the pair that this one follows, else itself.
func (p *Pair) own() *Pair {
	if lead := p.leads.Load(); lead != nil {
		return lead
	}
	return p
}

// Set puts a certificate in force that was issued. Its Leaf is set.
func (p *Pair) Set(issued *tls.Certificate) { p.own().loaded.Store(issued) }

// Reload reads the files again; on an error the old certificate stays. An authority that has refused
// an issued one is asked again soon.
func (p *Pair) Reload(ctx context.Context) error {
	p = p.own()
	if p.cert == "" {
		if p.issuer == nil {
			return nil
		}
		return p.issuer.Again(ctx)
	}
	loaded, err := tls.LoadX509KeyPair(p.cert, p.key)
	if err != nil {
		return fmt.Errorf("certificate (PARLEY_TLS_CERT, PARLEY_TLS_KEY): %w", err)
	}
	p.loaded.Store(&loaded)
	return nil
}

// current is the certificate in force.
func (p *Pair) current() (*tls.Certificate, error) {
	if c := p.own().loaded.Load(); c != nil {
		return c, nil
	}
	return nil, errNone
}

// TLS is how to serve with it. It also answers an authority that checks a name.
func (p *Pair) TLS() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetCertificate:     func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.current() },
		GetConfigForClient: p.challenged,
	}
}

// Until is when the certificate in force expires; the zero Time: there is none.
func (p *Pair) Until() time.Time {
	c, err := p.current()
	if err != nil {
		return time.Time{}
	}
	return c.Leaf.NotAfter
}

// expiry is what Prometheus counts of a certificate.
var expiry = prometheus.NewDesc("parley_certificate_expiry_timestamp_seconds",
	"When the certificate of HTTPS and of SIP over TLS expires, in seconds since 1970; 0 while there is none. A server without TLS has no value.", nil, nil)

// Describe implements prometheus.Collector.
func (p *Pair) Describe(to chan<- *prometheus.Desc) { to <- expiry }

// Collect implements prometheus.Collector.
func (p *Pair) Collect(to chan<- prometheus.Metric) {
	if p == nil {
		return
	}
	at := 0.0
	if until := p.Until(); !until.IsZero() {
		at = float64(until.Unix())
	}
	to <- prometheus.MustNewConstMetric(expiry, prometheus.GaugeValue, at)
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
				own, err := p.current()
				if err != nil {
					return err
				}
				if len(s.PeerCertificates) > 0 && bytes.Equal(s.PeerCertificates[0].Raw, own.Certificate[0]) {
					return nil
				}
				return errors.New("this is not this server's own certificate")
			},
		}},
	}
}
