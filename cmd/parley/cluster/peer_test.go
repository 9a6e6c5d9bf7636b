package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"log"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/apitest"
	"parley/billing"
	"parley/store/ledger"
	"parley/store/storetest"
)

// came is a request as the server got it that has dealt with it.
type came struct {
	Server string
	By     api.Principal
	URI    string
	Body   string
	Header http.Header
}

// visitors are who may ask.
var visitors = apitest.Keys{"sk_ana": {Account: "acc_1", Key: "key_1", User: "usr_1", Owner: true, Listens: true, Speaks: true},
	"tk_shop": {Account: "acc_1", Key: "key_2", Ticket: &api.Ticket{ID: "t1", Expires: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), Agent: "agt_1", MaxCost: 250 * billing.Cent, MaxDuration: time.Minute,
		Variables: map[string]string{"name": "Ana"}}}}

// newServer is a node of a database with a server of its own, whose sessions are those with its epoch.
func newServer(t *testing.T, url, name, key string) (m *Member, at string) {
	t.Helper()
	return newServerWith(t, url, name, key, nil, nil)
}

// newServerWith is one with TLS: what it shows, and how it reaches others.
func newServerWith(t *testing.T, url, name, key string, shows, peers *tls.Config) (m *Member, at string) {
	t.Helper()
	db := storetest.Open(t, url)
	life, _, err := ledger.New(db).RegisterNode(t.Context(), name, "127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	m = New(Config{Store: db, Ledger: ledger.New(db), Life: life, Key: key, Peers: peers, Log: slog.New(slog.DiscardHandler)})
	a := api.New(visitors)
	a.Handle(api.Route{Access: api.Conversation, Operation: huma.Operation{Method: http.MethodPatch, Path: "/sessions/{epoch}", Hidden: true}}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if epoch, _ := strconv.ParseInt(r.PathValue("epoch"), 10, 64); m.Forward(w, r, epoch) {
			return
		}
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("ETag", `"`+name+`"`)
		w.WriteHeader(http.StatusTeapot)
		_ = json.NewEncoder(w).Encode(came{name, api.PrincipalOf(r.Context()), r.URL.RequestURI(), string(body), r.Header})
	}))
	server := httptest.NewUnstartedServer(m.Accept(a.Handler(api.Options{RateLimit: 20})))
	if server.TLS = shows; shows != nil {
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	if err := db.IntroduceNode(t.Context(), life, server.Listener.Addr().String(), "1"); err != nil {
		t.Fatal(err)
	}
	return m, server.URL
}

// patch asks for a session with a body.
func patch(t *testing.T, address string, header ...string) (status int, tag string, c came) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, address, strings.NewReader("a candidate"))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	_ = json.NewDecoder(a.Body).Decode(&c)
	return a.StatusCode, a.Header.Get("ETag"), c
}

// TestForward: a request is answered by the node that it belongs to, which knows who asked, and whose credential does not travel.
func TestForward(t *testing.T) {
	url := storetest.URL(t)
	const key = "the key of the cluster"
	one, at1 := newServer(t, url, "one", key)
	two, at2 := newServer(t, url, "two", key)
	other, _ := newServer(t, url, "other", "another key")
	path := func(m *Member) string { return "/sessions/" + strconv.FormatInt(m.cfg.Life.Epoch, 10) }

	for secret, by := range visitors {
		status, tag, c := patch(t, at1+path(two)+"?restart=1&api_key=x", "Authorization", "Bearer "+secret, "Cookie", "parley=secret", "X-Api-Key", "sk_x", "Content-Type", "text/plain")
		if status != http.StatusTeapot || tag != `"two"` || c.Server != "two" || c.Body != "a candidate" || c.URI != path(two)+"?restart=1" || c.Header.Get("Content-Type") != "text/plain" {
			t.Errorf("%s: %d %s %+v", secret, status, tag, c)
		}
		if !reflect.DeepEqual(c.By, by) {
			t.Errorf("%s: it comes from %+v, want %+v", secret, c.By, by)
		}
		for _, name := range []string{"Authorization", "Cookie", "X-Api-Key", peerHeader} {
			if c.Header.Get(name) != "" {
				t.Errorf("%s travels: %s", name, c.Header.Get(name))
			}
		}
	}
	if status, _, c := patch(t, at1+path(one), "Authorization", "Bearer sk_ana"); status != http.StatusTeapot || c.Server != "one" {
		t.Errorf("its own: %d %+v", status, c)
	}
	if status, _, c := patch(t, at1+"/sessions/999999", "Authorization", "Bearer sk_ana"); status != http.StatusTeapot || c.Server != "one" {
		t.Errorf("of nobody: %d %+v", status, c)
	}
	if status, _, _ := patch(t, at1+path(two), "Authorization", "Bearer sk_nobody"); status != http.StatusUnauthorized {
		t.Errorf("of a stranger: %d", status)
	}
	if status, _, _ := patch(t, at1+path(other), "Authorization", "Bearer sk_ana"); status != http.StatusUnauthorized {
		t.Errorf("to a node with another key: %d", status)
	}

	// What one node says of a request counts for that request, at that node, for a while.
	ask := func(m *Member, uri string) *http.Request { return httptest.NewRequest(http.MethodPatch, uri, nil) }
	word := one.vouch(two.cfg.Life, ask(one, path(two)), visitors["sk_ana"])
	if status, _, c := patch(t, at2+path(two), peerHeader, word); status != http.StatusTeapot || c.By.User != "usr_1" {
		t.Errorf("vouched for: %d %+v", status, c)
	}
	for range 200 { // limits were kept where they came in
		if status, _, _ := patch(t, at2+path(two), peerHeader, word); status != http.StatusTeapot {
			t.Fatalf("vouched for again and again: %d", status)
		}
	}
	if status, _, c := patch(t, at2+path(one), peerHeader, one.vouch(two.cfg.Life, ask(one, path(one)), visitors["sk_ana"])); status != http.StatusTeapot || c.Server != "two" {
		t.Errorf("it is sent on twice: %d %+v", status, c)
	}
	late := one.cfg.Store.Now().Add(-2 * peerValid)
	for name, word := range map[string]string{
		"for another address":      one.vouch(two.cfg.Life, ask(one, path(two)+"?x"), visitors["sk_ana"]),
		"for another node":         one.vouch(other.cfg.Life, ask(one, path(two)), visitors["sk_ana"]),
		"by a node of another key": other.vouch(two.cfg.Life, ask(one, path(two)), visitors["sk_ana"]),
		"too late":                 one.word(vouched{Node: two.cfg.Life.ID, Epoch: two.cfg.Life.Epoch, Method: http.MethodPatch, URI: path(two), Until: late, By: visitors["sk_ana"]}),
		"changed":                  "e30" + word[3:],
		"without a seal":           strings.Split(word, ".")[0],
		"nothing":                  ".",
	} {
		if status, _, _ := patch(t, at2+path(two), peerHeader, word); status != http.StatusUnauthorized {
			t.Errorf("vouched for %s: %d", name, status)
		}
	}
	if err := one.cfg.Store.IntroduceNode(t.Context(), two.cfg.Life, "127.0.0.1:9", "1"); err != nil {
		t.Fatal(err)
	}
	if status, _, _ := patch(t, at1+path(two), "Authorization", "Bearer sk_ana"); status != http.StatusServiceUnavailable {
		t.Errorf("to a node that is not reached: %d", status)
	}
}

// TestForwardOverTLS: nodes with a certificate send requests on over HTTPS, to a node that shows one that they accept, and to no other.
func TestForwardOverTLS(t *testing.T) {
	url := storetest.URL(t)
	const key = "the key of the cluster"
	right := httptest.NewUnstartedServer(nil)
	right.StartTLS()
	right.Close()
	peers := &tls.Config{InsecureSkipVerify: true, VerifyConnection: func(s tls.ConnectionState) error {
		if s.PeerCertificates[0].Equal(right.Certificate()) {
			return nil
		}
		return errors.New("another certificate")
	}}
	one, at := newServerWith(t, url, "one", key, nil, peers)
	two, _ := newServerWith(t, url, "two", key, &tls.Config{Certificates: right.TLS.Certificates}, peers)
	stranger, _ := newServerWith(t, url, "stranger", key, &tls.Config{Certificates: []tls.Certificate{selfSigned(t)}}, peers)
	path := func(m *Member) string { return "/sessions/" + strconv.FormatInt(m.cfg.Life.Epoch, 10) }
	if status, tag, c := patch(t, at+path(two), "Authorization", "Bearer sk_ana"); status != http.StatusTeapot || tag != `"two"` || c.Server != "two" || c.By.User != "usr_1" {
		t.Errorf("%d %s %+v", status, tag, c)
	}
	if status, _, c := patch(t, at+path(stranger), "Authorization", "Bearer sk_ana"); status != http.StatusServiceUnavailable {
		t.Errorf("to a node with another certificate: %d %+v", status, c)
	}
	plain, _ := newServer(t, url, "plain", key)
	if status, _, c := patch(t, at+path(plain), "Authorization", "Bearer sk_ana"); status != http.StatusServiceUnavailable {
		t.Errorf("to a node without TLS: %d %+v", status, c)
	}
	if status, _, c := patch(t, at+path(one), "Authorization", "Bearer sk_ana"); status != http.StatusTeapot || c.Server != "one" {
		t.Errorf("its own: %d %+v", status, c)
	}
}

// selfSigned is a certificate that nobody knows.
func selfSigned(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
