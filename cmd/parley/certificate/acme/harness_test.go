package acme

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/cmd/parley/certificate"
	"parley/cmd/parley/certificate/acme/acmetest"
	"parley/store"
	"parley/store/certificates"
	"parley/store/people"
	"parley/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

const (
	secret = "a master key of at least 32 characters"
	domain = "voice.example.com"
	home   = "https://" + domain
)

// lines is a log.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

// with are the lines that have a text, oldest first.
func (l *lines) with(text string) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.b.String()) {
		if strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	return found
}

// node is one with listeners of its own.
type node struct {
	*Keeper
	t            *testing.T
	db           *store.DB
	said         *lines
	https, plain string // HOST:PORT
}

// site is an authority and the nodes of a database.
type site struct {
	*acmetest.Authority
	t   *testing.T
	url string

	mu    sync.Mutex
	reach map[string]string // address by kind of challenge
}

func newSite(t *testing.T) *site {
	s := &site{t: t, url: storetest.URL(t), reach: map[string]string{}}
	s.Authority = acmetest.New(t, func(kind, _ string) string {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.reach[kind]
	})
	return s
}

// leads has the names lead to a node.
func (s *site) leads(to *node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reach[certificate.TLSALPN01], s.reach[certificate.HTTP01] = to.https, to.plain
}

// node starts one, which the names lead to unless others are there. Its Keeper looks when the test says so.
func (s *site) node(name string, change ...func(*Config)) *node {
	s.t.Helper()
	return s.nodeWith(secret, name, change...)
}

func (s *site) nodeWith(secret, name string, change ...func(*Config)) *node {
	s.t.Helper()
	n := &node{t: s.t, db: storetest.Open(s.t, s.url), said: &lines{}}
	life, err := n.db.BeginEpoch(s.t.Context(), name, "127.0.0.1:1")
	if err != nil {
		s.t.Fatal(err)
	}
	vault, err := people.NewVault(n.db, secret)
	if err != nil {
		s.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(s.Roots))
	c := Config{Store: certificates.New(n.db, vault), Life: life, Directory: s.URL, Domains: []string{domain}, Roots: roots, Kinds: []string{certificate.TLSALPN01}, Log: slog.New(slog.NewTextHandler(n.said, nil))}
	for _, f := range change {
		f(&c)
	}
	n.Keeper = New(c)
	followed := certificate.Awaited(nil) // as the public listener has it
	followed.Follow(n.pair)
	n.https = s.serve(&http.Server{TLSConfig: followed.TLS(), Handler: http.NotFoundHandler()})
	n.plain = s.serve(&http.Server{Handler: followed.Plain(home)})
	s.mu.Lock()
	first := len(s.reach) == 0
	s.mu.Unlock()
	if first {
		s.leads(n)
	}
	return n
}

func (s *site) serve(server *http.Server) (addr string) {
	s.t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	server.ErrorLog = log.New(io.Discard, "", 0)
	go func() {
		if server.TLSConfig != nil {
			_ = server.ServeTLS(ln, "", "")
			return
		}
		_ = server.Serve(ln)
	}()
	s.t.Cleanup(func() { server.Close() })
	return ln.Addr().String()
}

// looks has a node look, at a time from now.
func (n *node) looks(in time.Duration) {
	n.t.Helper()
	ctx := n.t.Context()
	if in != 0 {
		ctx = n.at(in)
	}
	n.look(ctx)
}

func (n *node) at(in time.Duration) context.Context {
	return storetest.At(n.t.Context(), n.db.Now().Add(in))
}

// shows is the certificate that a node shows to a browser that trusts the authority; an error says that there is none.
func (s *site) shows(n *node, name string) (*x509.Certificate, error) {
	dialer := &tls.Dialer{NetDialer: &net.Dialer{Timeout: 10 * time.Second}, Config: &tls.Config{ServerName: name, RootCAs: s.Pool(), NextProtos: []string{"h2", "http/1.1"}}}
	conn, err := dialer.DialContext(n.t.Context(), "tcp", n.https)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	state := conn.(*tls.Conn).ConnectionState()
	if state.NegotiatedProtocol != "h2" {
		n.t.Errorf("protocol %q", state.NegotiatedProtocol)
	}
	return state.PeerCertificates[0], nil
}

// serial is the number of the certificate that a node shows.
func (s *site) serial(n *node) string {
	s.t.Helper()
	c, err := s.shows(n, domain)
	if err != nil {
		s.t.Fatalf("%v\n%s", err, &n.said.b)
	}
	return c.SerialNumber.String()
}

// counted checks what the authority has counted.
func (s *site) counted(want acmetest.Counts) {
	s.t.Helper()
	if got := s.Counts(); got != want {
		s.t.Errorf("the authority has counted %+v, want %+v", got, want)
	}
}
