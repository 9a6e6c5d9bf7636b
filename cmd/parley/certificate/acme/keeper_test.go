package acme

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/cmd/parley/certificate"
	"parley/cmd/parley/certificate/acme/acmetest"
	"parley/media/isolate/isolatetest"
	"parley/store"
	"parley/store/certificates"
)

// day is long for a clock, and short for a certificate.
const day = 24 * time.Hour

// TestFirstCertificate: a server without a certificate refuses TLS, gets one for all its names by the challenge over TLS, and has
// nothing more to do.
func TestFirstCertificate(t *testing.T) {
	s := newSite(t)
	const second = "talk.example.org"
	n := s.node("one", func(c *Config) { c.Domains, c.Email = []string{domain, second}, "ops@example.com" })
	if _, err := s.shows(n, domain); err == nil {
		t.Error("it shows a certificate before it has one")
	}
	n.looks(0)
	for _, name := range []string{domain, second} {
		c, err := s.shows(n, name)
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, &n.said.b)
		}
		if !c.NotAfter.Equal(n.pair.Until()) {
			t.Errorf("until %v, shown is %v", n.pair.Until(), c.NotAfter)
		}
	}
	for range 3 {
		n.looks(0)
	}
	s.counted(acmetest.Counts{Accounts: 1, Orders: 1, Issued: 1})
	if got := s.Contacts(); got != "mailto:ops@example.com" {
		t.Errorf("the contact is %q", got)
	}
	// Nothing in the database says a key in the clear, and no answer is left.
	left, err := store.Value[int](t.Context(), n.db, "look", "select count(*) from acme_challenges")
	if err != nil || left != 0 {
		t.Errorf("%d answers are left, %v", left, err)
	}
	clear, err := store.Value[int](t.Context(), n.db, "look", `select (select count(*) from acme_accounts where position('PRIVATE'::bytea in sealed_key) > 0)
		+ (select count(*) from acme_certificates where chain not like '%BEGIN CERTIFICATE%' or chain like '%PRIVATE%' or position('PRIVATE'::bytea in sealed_key) > 0)`)
	if err != nil || clear != 0 {
		t.Errorf("%d keys are in the clear, %v", clear, err)
	}
	if _, err := n.Answer(t.Context(), certificate.TLSALPN01, domain); err == nil {
		t.Error("a challenge is answered that nobody has set")
	}
	if _, err := n.Answer(t.Context(), certificate.TLSALPN01, "other.example.com"); err == nil {
		t.Error("a challenge is answered for somebody else's name")
	}
}

// TestRenewal: a certificate is renewed when a third of its lifetime is left, and not before.
func TestRenewal(t *testing.T) {
	s := newSite(t)
	n := s.node("one")
	s.Lifetime(59*day, 90*day)
	n.looks(0)
	first := s.serial(n)
	n.looks(0)
	if got := s.serial(n); got != first {
		t.Error("renewed with 31 of 90 days left")
	}
	s.Lifetime(time.Hour, 90*day)
	n.looks(2 * day)
	if got := s.serial(n); got == first {
		t.Error("not renewed with 29 of 90 days left")
	}
	n.looks(2 * day)
	s.counted(acmetest.Counts{Accounts: 1, Orders: 2, Issued: 2})
}

// TestNodes: one of the nodes orders, though all look at once; whichever the authority reaches answers; all serve the certificate.
func TestNodes(t *testing.T) {
	s := newSite(t)
	nodes := []*node{s.node("one"), s.node("two"), s.node("three")}
	s.leads(nodes[2])
	var all sync.WaitGroup
	for _, n := range nodes[:2] {
		all.Go(func() { n.looks(0) })
	}
	all.Wait()
	s.counted(acmetest.Counts{Accounts: 1, Orders: 1, Issued: 1})
	for _, n := range nodes {
		n.looks(0)
		if s.serial(n) != s.serial(nodes[0]) {
			t.Error("nodes show different certificates")
		}
	}
	s.counted(acmetest.Counts{Accounts: 1, Orders: 1, Issued: 1})
	nodes[1].looks(61 * day) // renews
	for _, n := range nodes {
		n.looks(0)
		if s.serial(n) != s.serial(nodes[1]) {
			t.Error("nodes show different certificates after a renewal")
		}
	}
	s.counted(acmetest.Counts{Accounts: 1, Orders: 2, Issued: 2})
}

// waits are how long a node has said that it waits, by its log.
func (n *node) waits() (all []string) {
	for _, line := range n.said.with("issued no certificate") {
		_, rest, _ := strings.Cut(line, "again_in=")
		wait, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
		all = append(all, wait)
	}
	return all
}

// TestAuthorityAway: the certificate in force stays, and the wait doubles from an hour to a day.
func TestAuthorityAway(t *testing.T) {
	s := newSite(t)
	n := s.node("one")
	s.Lifetime(70*day, 90*day)
	n.looks(0)
	first := s.serial(n)
	s.Close()
	passed := time.Duration(0)
	for _, wait := range []time.Duration{1, 2, 4, 8, 16, 24, 24} {
		n.looks(passed)
		n.looks(passed + wait*time.Hour - time.Minute) // too early
		passed += wait*time.Hour + time.Minute
	}
	if got := fmt.Sprint(n.waits()); got != "[1h0m0s 2h0m0s 4h0m0s 8h0m0s 16h0m0s 24h0m0s 24h0m0s]" {
		t.Errorf("it waits %s", got)
	}
	if s.serial(n) != first {
		t.Error("the certificate in force has gone")
	}
	if last := n.said.with("expires="); len(last) != 7 {
		t.Errorf("%d of the warnings say when the certificate expires", len(last))
	}
}

// TestRefused: what the authority says of the time to wait counts; SIGHUP ends the wait; another node does not ask meanwhile.
func TestRefused(t *testing.T) {
	s := newSite(t)
	n, other := s.node("one"), s.node("two")
	s.Refuse("rateLimited", 30*time.Hour)
	n.looks(0)
	other.looks(0)
	s.Refuse("rejectedIdentifier", 0)
	other.looks(29 * time.Hour)
	other.looks(31 * time.Hour)
	if one, two := fmt.Sprint(n.waits()), fmt.Sprint(other.waits()); one != "[30h0m0s]" || two != "[2h0m0s]" {
		t.Errorf("they wait %s and %s", one, two)
	}
	s.Refuse("", 0)
	n.looks(0)
	s.counted(acmetest.Counts{Accounts: 1})
	if err := n.pair.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	n.looks(32 * time.Hour)
	s.serial(n)
	s.counted(acmetest.Counts{Accounts: 1, Orders: 1, Issued: 1})
}

// TestInvalidOrder: a challenge that the authority finds unanswered fails the order, and the next one begins anew.
func TestInvalidOrder(t *testing.T) {
	s := newSite(t)
	n := s.node("one")
	stray := s.node("stray", func(c *Config) { c.Domains = []string{"other.example.com"} })
	s.leads(stray)
	n.looks(0)
	if got := fmt.Sprint(n.waits()); got != "[1h0m0s]" {
		t.Errorf("it waits %s\n%s", got, &n.said.b)
	}
	s.counted(acmetest.Counts{Accounts: 1, Orders: 1, Failed: 1})
	s.leads(n)
	n.looks(59 * time.Minute)
	s.counted(acmetest.Counts{Accounts: 1, Orders: 1, Failed: 1})
	n.looks(61 * time.Minute)
	s.serial(n)
	s.counted(acmetest.Counts{Accounts: 1, Orders: 2, Issued: 1, Failed: 1})
}

// TestPlainChallenge: where TLS does not reach the server, the challenge over plain HTTP does. Browsers are sent to HTTPS.
func TestPlainChallenge(t *testing.T) {
	s := newSite(t)
	n := s.node("one", func(c *Config) { c.Kinds = append(c.Kinds, certificate.HTTP01) })
	s.reach[certificate.TLSALPN01] = "127.0.0.1:1"
	n.looks(0)
	s.serial(n)
	s.counted(acmetest.Counts{Accounts: 1, Orders: 2, Issued: 1, Failed: 1})

	way := &http.Transport{DisableKeepAlives: true}
	for _, tt := range []struct {
		method, path string
		status       int
		to           string
	}{
		{http.MethodGet, "/app/calls?page=2", http.StatusMovedPermanently, home + "/app/calls?page=2"},
		{http.MethodGet, "/.well-known/acme-challenge/nothing", http.StatusNotFound, ""},
		{http.MethodPost, "/v1/calls", http.StatusForbidden, ""},
	} {
		r, err := http.NewRequestWithContext(t.Context(), tt.method, "http://"+n.plain+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := way.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != tt.status || res.Header.Get("Location") != tt.to {
			t.Errorf("%s %s: %d %s", tt.method, tt.path, res.StatusCode, res.Header.Get("Location"))
		}
	}
}

// TestRestart: the account and the certificate outlive the process; an account that the authority has forgotten is registered anew.
func TestRestart(t *testing.T) {
	s := newSite(t)
	n := s.node("one")
	n.looks(0)
	first := s.serial(n)
	again := s.node("one", func(c *Config) { c.Email = "ops@example.com" })
	s.leads(again)
	again.looks(0)
	if s.serial(again) != first {
		t.Error("another certificate after a restart")
	}
	again.looks(61 * day)
	if s.serial(again) == first {
		t.Errorf("not renewed\n%s", &again.said.b)
	}
	s.counted(acmetest.Counts{Accounts: 1, Orders: 2, Issued: 2})
	if got := s.Contacts(); got != "mailto:ops@example.com" {
		t.Errorf("the contact is %q", got)
	}
	s.Forget()
	again.looks(130 * day)
	again.looks(130*day + 2*time.Hour)
	s.counted(acmetest.Counts{Accounts: 1, Orders: 1, Issued: 3})
}

// TestOrderGoesOn: a node stops, or dies, while the authority has its order; another brings it to its end.
func TestOrderGoesOn(t *testing.T) {
	s := newSite(t)
	n, other := s.node("one"), s.node("two")
	ctx, stop := context.WithCancel(t.Context())
	s.Meddle(func(step string) {
		if step == "/finalize/{id}" {
			stop()
		}
	})
	n.look(ctx)
	s.Meddle(nil)
	if len(n.waits()) > 0 {
		t.Error("a stop counts as a failure")
	}
	other.looks(0)
	if s.serial(other) == "" {
		t.Error("no certificate")
	}
	if c := s.Counts(); c.Orders != 1 {
		t.Errorf("%d orders", c.Orders)
	}

	// One that dies holds the work until its lease is over, but for a later life of the same node.
	id := n.id
	if err := n.db.Do(t.Context(), "expire", "update acme_certificates set not_after = not_before"); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Store.Claim(t.Context(), id, n.Life, false); err != nil {
		t.Fatal(err)
	}
	other.looks(certificates.Lease - time.Minute)
	if c := s.Counts(); c.Orders != 1 {
		t.Error("two nodes order")
	}
	later := s.node("one")
	later.looks(0)
	if c := s.Counts(); c.Orders != 2 {
		t.Errorf("a later life does not go on: %d orders\n%s", c.Orders, &later.said.b)
	}
	if err := n.Store.Issued(t.Context(), id, n.Life, certificates.Certificate{}); err == nil {
		t.Error("a node that has lost the work stores a certificate")
	}
}

// TestAnotherSecret: a server whose master key opens nothing orders a day after the certificate was issued, and not before.
func TestAnotherSecret(t *testing.T) {
	s := newSite(t)
	n := s.node("one")
	n.looks(0)
	other := s.nodeWith("another master key of 32 characters", "two")
	other.looks(0)
	other.looks(time.Hour)
	s.counted(acmetest.Counts{Accounts: 1, Orders: 1, Issued: 1})
	if len(other.said.with("another PARLEY_SECRET")) != 1 {
		t.Errorf("it does not say so once:\n%s", &other.said.b)
	}
	s.leads(other)
	other.looks(25 * time.Hour)
	s.serial(other)
	s.counted(acmetest.Counts{Accounts: 2, Orders: 2, Issued: 2})
}

// TestPanicIsAFailure: a fault in an order ends neither the process nor the certificate in force.
func TestPanicIsAFailure(t *testing.T) {
	isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
		s := newSite(t)
		n := s.node("one")
		s.Lifetime(70*day, 90*day)
		n.looks(0)
		first := s.serial(n)
		fired := isolatetest.Inject(t, site.Name)
		n.looks(0)
		<-fired
		if s.serial(n) != first || len(n.waits()) != 1 {
			t.Errorf("it waits %v\n%s", n.waits(), &n.said.b)
		}
		n.looks(61 * time.Minute)
		if s.serial(n) == first {
			t.Error("no order follows")
		}
	})
}
