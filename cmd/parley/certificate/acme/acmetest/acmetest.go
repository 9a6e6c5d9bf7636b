// Package acmetest is an authority on loopback that speaks ACME (RFC 8555), for tests. It verifies each
// request, asks the server under test for the answers to its challenges, and signs certificates with a
// root of its own. It refuses what Let's Encrypt refuses, and reports each mistake of its client to the test.
package acmetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// Authority is one. Its methods may be called from several goroutines.
type Authority struct {
	// URL is that of its directory, and Roots those that its own certificate is signed by (PEM).
	URL, Roots string

	t      testing.TB
	server *httptest.Server
	root   *x509.Certificate
	key    *ecdsa.PrivateKey

	mu       sync.Mutex
	reach    func(kind, domain string) string
	from     time.Duration // how long before its issue a certificate begins
	lasts    time.Duration
	kinds    []string
	refusal  *problem      // of new orders
	after    time.Duration // with it
	meddle   func(step string)
	nonces   map[string]bool
	accounts map[string]*account // by address
	orders   map[string]*order
	proofs   map[string]*proof
	issued   map[string][]byte // by address, PEM
	made     int               // identifiers so far
	failed   int               // challenges that were not met
	contacts []string          // that the last registration or change has named
}

type account struct {
	at  string
	key *ecdsa.PublicKey
}

type order struct {
	at, status string
	of         *account
	names      []string
	proofs     []*proof
	cert       string
	problem    *problem
}

// proof is an authorisation with its challenges.
type proof struct {
	at, name, status string
	of               *account
	challenges       []*challenge
}

type challenge struct {
	at, kind, token, status string
	problem                 *problem
}

// problem is an error (RFC 8555 section 6.7).
type problem struct {
	Type   string `json:"type"`
	Detail string `json:"detail"`
	Status int    `json:"status,omitempty"`
}

func (p *problem) Error() string { return p.Type + ": " + p.Detail }

func refuse(status int, kind, format string, args ...any) *problem {
	return &problem{"urn:ietf:params:acme:error:" + kind, fmt.Sprintf(format, args...), status}
}

// New returns an authority that serves until the test ends. reach says at which HOST:PORT it finds the server that a name leads
// to, for a challenge of one kind: the port 443 or 80 of the Internet.
func New(t testing.TB, reach func(kind, domain string) string) *Authority {
	t.Helper()
	a := &Authority{t: t, reach: reach, lasts: 90 * 24 * time.Hour, from: time.Hour, kinds: []string{"http-01", "tls-alpn-01", "dns-01"}, nonces: map[string]bool{},
		accounts: map[string]*account{}, orders: map[string]*order{}, proofs: map[string]*proof{}, issued: map[string][]byte{}}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Test Root"}, NotBefore: time.Now().Add(-365 * 24 * time.Hour), NotAfter: time.Now().Add(365 * 24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, c, c, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.root, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.server = httptest.NewTLSServer(a.routes())
	t.Cleanup(a.server.Close)
	a.URL = a.server.URL + "/directory"
	a.Roots = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.server.Certificate().Raw}))
	return a
}

// Pool has the root of the certificates that it issues.
func (a *Authority) Pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.root)
	return p
}

// Lifetime has certificates from now on be valid from so long before their issue, for a time in all.
func (a *Authority) Lifetime(before, all time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.from, a.lasts = before, all
}

// Refuse has new orders refused from now on, with a kind of error (RFC 8555 section 6.7) and, above 0, the time after which the
// client may ask again. An empty kind ends it.
func (a *Authority) Refuse(kind string, after time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refusal, a.after = nil, after
	if kind != "" {
		status := http.StatusForbidden
		if kind == "rateLimited" {
			status = http.StatusTooManyRequests
		}
		a.refusal = refuse(status, kind, "orders are refused by the test")
	}
}

// Kinds has it offer challenges of these kinds alone.
func (a *Authority) Kinds(kinds ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.kinds = kinds
}

// Meddle has f called before each request is dealt with, with what it is: "account", "order", "finalize" and so on.
func (a *Authority) Meddle(f func(step string)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.meddle = f
}

// Forget forgets all accounts, with their orders.
func (a *Authority) Forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.accounts)
	clear(a.orders)
	clear(a.proofs)
}

// Close ends it before the test does: it cannot be reached any more.
func (a *Authority) Close() { a.server.Close() }

// Counts are how many accounts it has, and how many orders it has taken, certificates issued and challenges found wrong.
type Counts struct{ Accounts, Orders, Issued, Failed int }

// Counts returns them.
func (a *Authority) Counts() Counts {
	a.mu.Lock()
	defer a.mu.Unlock()
	return Counts{len(a.accounts), len(a.orders), len(a.issued), a.failed}
}

// Contacts are those of the account that has registered or changed last.
func (a *Authority) Contacts() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return strings.Join(a.contacts, ",")
}

// id is the address of something new. Call it with mu.
func (a *Authority) id(kind string) string {
	a.made++
	return fmt.Sprintf("%s/%s/%d", a.server.URL, kind, a.made)
}

// random is a token without padding.
func random() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // which never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// answer writes JSON with a fresh nonce.
func (a *Authority) answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Replay-Nonce", a.nonce())
	w.Header().Set("Content-Type", "application/json")
	if p, ok := v.(*problem); ok {
		w.Header().Set("Content-Type", "application/problem+json")
		status = p.Status
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client has gone
}

// nonce makes a nonce for one request.
func (a *Authority) nonce() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := random()
	a.nonces[n] = true
	return n
}
