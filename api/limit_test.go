package api

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/billing"
)

// rated are credentials whose requests are counted: keys and tickets of two accounts, and
// an operator's key.
var rated = func() ring {
	k := ring{"sk_good": {Account: "a", Key: "key_1"}, "sk_other": {Account: "b", Key: "key_b"}, "op_1": {Key: "op_1", Operator: true}}
	for i := range 6 {
		k[fmt.Sprint("sk_a", i)] = Principal{Account: "a", Key: fmt.Sprint("key_a", i)}
	}
	for i := range 300 {
		k[fmt.Sprint("wst_", i)] = Principal{Account: "a", Key: "key_1", Ticket: &Ticket{ID: fmt.Sprint("tkt_", i)}}
		k[fmt.Sprint("wst_visitor", i)] = Principal{Account: "a", Key: "key_1", Ticket: &Ticket{ID: fmt.Sprint("tkt_v", i), Agent: "ag_1"}}
	}
	return k
}()

// crowd sends requests to a server that takes 50 a second.
type crowd struct {
	t *testing.T
	http.Handler
}

// most is how many of 2,000 requests are let in, of which header says who sends them.
func (c crowd) most(header func(i int) []string) (n int) {
	for i := range 2000 {
		w := send(c, "GET", "/private", "", header(i)...)
		if w.Code == http.StatusTooManyRequests {
			if w.Header().Get("Retry-After") == "" {
				c.t.Errorf("header %v", w.Header())
			}
			continue
		}
		n++
	}
	return n
}

func always(header ...string) func(int) []string { return func(int) []string { return header } }

func inCrowd(t *testing.T, f func(t *testing.T, c crowd)) {
	synctest.Test(t, func(t *testing.T) { f(t, crowd{t, Wrap(routes(), Options{RateLimit: 50})}) })
}

// TestRateLimit: 200 at once, then 50 a second, for each credential, and for each
// network without one.
func TestRateLimit(t *testing.T) {
	inCrowd(t, func(t *testing.T, c crowd) {
		for _, who := range [][]string{{"X-API-Key", "sk_good"}, {"X-API-Key", "sk_other"}, {"X-API-Key", "op_1"}, {"from", "192.0.2.1:5"}, {"from", "[2001:db8::1]:5"}} {
			if n := c.most(always(who...)); n != 200 {
				t.Errorf("%v: %d at once, want 200", who, n)
			}
		}
		if n := c.most(always("from", "[2001:db8::2]:7")); n != 0 {
			t.Errorf("%d from another address of the same network", n)
		}
		time.Sleep(time.Second)
		if n := c.most(always("Authorization", "Bearer sk_good")); n != 50 {
			t.Errorf("%d after a second, want 50", n)
		}
	})
}

// TestClaimedCredentialsBuyNothing: who writes a new credential into each request, on any
// route, has no more requests than the network, and takes nobody else's away.
func TestClaimedCredentialsBuyNothing(t *testing.T) {
	for _, header := range []string{"X-API-Key", "Authorization", "Cookie", "query"} {
		t.Run(header, func(t *testing.T) {
			inCrowd(t, func(t *testing.T, c crowd) {
				if n := c.most(always("X-API-Key", "sk_good", "from", "192.0.2.9:1")); n != 200 {
					t.Fatalf("%d requests of a key", n)
				}
				n := 0
				for i := range 50_000 { // more than are remembered
					target := "/v1/pricing"
					if header == "query" {
						target += fmt.Sprint("?api_key=sk_", i)
					}
					if send(c, "GET", target, "", header, fmt.Sprint("sk_", i)).Code != http.StatusTooManyRequests {
						n++
					}
				}
				if n != 200 {
					t.Errorf("a stranger was answered %d times, want 200", n)
				}
				if n := c.most(always("X-API-Key", "sk_good", "from", "192.0.2.9:1")); n != 0 {
					t.Errorf("the key's bucket was forgotten: %d more requests", n)
				}
			})
		})
	}
}

// TestAccountRate: all credentials of an account have four times the rate of one.
func TestAccountRate(t *testing.T) {
	inCrowd(t, func(t *testing.T, c crowd) {
		n := c.most(func(i int) []string { return []string{"X-API-Key", fmt.Sprint("sk_a", i%6)} })
		if n != 800 {
			t.Errorf("%d requests of six keys, want 800", n)
		}
		if n := c.most(always("X-API-Key", "sk_other")); n != 200 {
			t.Errorf("%d requests of another account, want 200", n)
		}
	})
}

// TestTicketRate: tickets of one key have the rate of one credential, however many there
// are; a ticket for each request is no way around it. Those that strangers have count
// for their network, so that a stranger keeps no other visitor out, nor the key's owner.
func TestTicketRate(t *testing.T) {
	for _, many := range []int{16, 300} {
		inCrowd(t, func(t *testing.T, c crowd) {
			if n := c.most(func(i int) []string { return []string{"X-API-Key", fmt.Sprint("wst_", i%many)} }); n != 200 {
				t.Errorf("%d requests of %d tickets, want 200", n, many)
			}
			if n := c.most(always("X-API-Key", "sk_good")); n != 200 {
				t.Errorf("%d requests of their key, want 200", n)
			}
		})
		inCrowd(t, func(t *testing.T, c crowd) {
			visitor := func(i int) []string {
				return []string{"X-API-Key", fmt.Sprint("wst_visitor", i%many), "from", "192.0.2.66:1"}
			}
			if n := c.most(visitor); n != 200 {
				t.Errorf("%d requests of a stranger with %d session tickets, want 200", n, many)
			}
			if n := c.most(always("X-API-Key", "wst_visitor7", "from", "192.0.2.67:1")); n != 200 {
				t.Errorf("%d requests of another visitor, want 200", n)
			}
			if n := c.most(always("X-API-Key", "sk_good", "from", "192.0.2.9:1")); n != 200 {
				t.Errorf("%d requests of their key, want 200", n)
			}
		})
	}
}

// TestRefusalsAreReadable: pages of other sites can read that they were too fast, and
// their browsers' questions are always answered.
func TestRefusalsAreReadable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := New(nil)
		MountPricing(a, billing.DefaultRateCard)
		h := a.Handler(Options{RateLimit: 50})
		for range 300 {
			send(h, "GET", "/v1/pricing", "")
		}
		w := send(h, "GET", "/v1/pricing", "", "Origin", "https://shop.example")
		if w.Code != 429 || w.Header().Get("Access-Control-Allow-Origin") != "*" || w.Header().Get("Access-Control-Expose-Headers") != corsExposed {
			t.Errorf("%d %v", w.Code, w.Header())
		}
		w = send(h, "OPTIONS", "/v1/pricing", "", "Origin", "https://shop.example", "Access-Control-Request-Method", "GET")
		if w.Code != 204 || w.Header().Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("a preflight: %d %v", w.Code, w.Header())
		}
	})
}

// TestGuessesAreTakenInAdvance: who guesses many times at once has no more guesses than
// one after the other, and a right one costs nothing.
func TestGuessesAreTakenInAdvance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGuesses(nil)
		at := func(from string, f func(context.Context)) {
			h := Wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { f(r.Context()) }), Options{})
			send(h, "GET", "/", "", "from", from)
		}
		at("192.0.2.1:1", func(ctx context.Context) {
			n := 0
			for i := range 100 { // of different names, none of them judged yet
				if _, ok := g.Take(ctx, fmt.Sprint("user", i, "@example.com")); ok {
					n++
				}
			}
			if n != maxFailures {
				t.Errorf("%d guesses in progress, want %d", n, maxFailures)
			}
		})
		at("192.0.2.2:1", func(ctx context.Context) {
			for i := range 100 {
				try, ok := g.Take(ctx, "ana@example.com")
				if !ok {
					t.Fatalf("sign-in %d was refused", i)
				}
				if i%2 == 0 {
					try.Right()
				} else {
					try.Cancel()
				}
			}
		})
	})
}

// TestRecentIsBounded: what is used stays, what is not goes, and there are never
// more than fit.
func TestRecentIsBounded(t *testing.T) {
	m := recent[int, int]{size: 100}
	m.put(-1, 7)
	for i := range 10_000 {
		m.put(i, i)
		if v, ok := m.get(-1); !ok || v != 7 {
			t.Fatalf("what is used is gone after %d others", i)
		}
		if n := len(m.fresh) + len(m.stale); n > 100 {
			t.Fatalf("%d entries", n)
		}
		if _, ok := m.get(i - 20); i > 20 && !ok {
			t.Fatalf("%d others displaced an entry", 20)
		}
	}
	m.remove(-1)
	if _, ok := m.get(-1); ok {
		t.Error("it is still there")
	}
	if _, ok := m.get(5); ok {
		t.Error("an old entry stays for ever")
	}
}

// TestUntrustedProxiesAreNamed, once an hour at most, in the log.
func TestUntrustedProxiesAreNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		h := Wrap(routes(), Options{Log: slog.New(slog.NewTextHandler(&out, nil)), TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}})
		ask := func(want int, header ...string) {
			t.Helper()
			send(h, "GET", "/v1/pricing", "", header...)
			if n := strings.Count(out.String(), "PARLEY_TRUSTED_PROXIES"); n != want {
				t.Errorf("%v: %d warnings, want %d:\n%s", header, n, want, out.String())
			}
		}
		ask(0, "from", "192.0.2.1:1")
		ask(0, "from", "10.0.0.1:1", "X-Forwarded-For", "192.0.2.9")
		ask(1, "from", "192.0.2.1:1", "X-Forwarded-For", "192.0.2.9")
		ask(1, "from", "192.0.2.2:1", "X-Forwarded-For", "192.0.2.9")
		time.Sleep(proxyWarningEvery)
		ask(2, "from", "192.0.2.2:1", "X-Forwarded-For", "192.0.2.9")
	})
}
