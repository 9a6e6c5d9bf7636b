package certificate

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"slices"
	"strings"
)

// Challenges by which an authority checks a name.
const (
	TLSALPN01 = "tls-alpn-01" // RFC 8737
	HTTP01    = "http-01"     // RFC 8555 section 8.3
)

const (
	// challengeProtocol is what an authority negotiates (RFC 8737 section 6.2).
	challengeProtocol = "acme-tls/1"
	// challengePath is where it asks over plain HTTP (RFC 8555 section 8.3).
	challengePath = "/.well-known/acme-challenge/"
)

// Issuer gets a certificate from an authority. Its methods may be called from several goroutines.
type Issuer interface {
	// Answer is the answer to a challenge: for TLSALPN01 about a name, a certificate and its key
	// (PEM) for the handshake; for HTTP01 with a token, the text. The error says that there is none.
	Answer(ctx context.Context, kind, subject string) (string, error)
	// Again ends the wait after a failure.
	Again(ctx context.Context) error
}

// challenged is how to serve an authority that checks a name; nil: it is somebody else. An authority
// offers one protocol alone (RFC 8737 section 3), and ends the connection after the handshake.
func (p *Pair) challenged(hello *tls.ClientHelloInfo) (*tls.Config, error) {
	from := p.own().issuer
	if from == nil || !slices.Equal(hello.SupportedProtos, []string{challengeProtocol}) {
		return nil, nil
	}
	answer, err := from.Answer(hello.Context(), TLSALPN01, strings.ToLower(hello.ServerName))
	if err != nil {
		return nil, err
	}
	shown, err := tls.X509KeyPair([]byte(answer), []byte(answer))
	if err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{challengeProtocol}, Certificates: []tls.Certificate{shown}}, nil
}

// Plain serves an address without TLS: it answers an authority that checks a name, and sends pages to
// the same path below home, an https:// address. What else is sent in the clear is refused: it may hold
// a credential.
func (p *Pair) Plain(home string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+challengePath+"{token}", func(w http.ResponseWriter, r *http.Request) {
		from := p.own().issuer
		if from == nil {
			http.NotFound(w, r)
			return
		}
		answer, err := from.Answer(r.Context(), HTTP01, r.PathValue("token"))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = io.WriteString(w, answer) // who has gone asks again
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			http.Error(w, "use "+home, http.StatusForbidden)
			return
		}
		http.Redirect(w, r, home+r.URL.RequestURI(), http.StatusMovedPermanently)
	})
	return mux
}
