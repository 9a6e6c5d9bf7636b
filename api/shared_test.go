package api

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// member is one of several nodes, all in simulated time and with 50 requests a second.
type member struct {
	http.Handler
	shared  *SharedLimits
	guesses *Guesses
	within  func(context.Context) // is what the path /within does
}

// nodes are a cluster whose bus carries what was said when exchange is called.
type nodes struct {
	*testing.T
	all  []*member
	most int      // bytes in a message
	said [][]byte // all messages
}

func inCluster(t *testing.T, n int, f func(c *nodes)) {
	synctest.Test(t, func(t *testing.T) {
		c := &nodes{T: t, most: 64 << 10}
		for range n {
			c.join()
		}
		for _, m := range c.all {
			m.shared.Heard()
		}
		f(c)
	})
}

func (c *nodes) join() *member {
	m := &member{shared: NewSharedLimits("a secret of the cluster")}
	m.guesses = NewGuesses(m.shared)
	mux := routes()
	mux.HandleFunc("GET /within", func(_ http.ResponseWriter, r *http.Request) { m.within(r.Context()) })
	m.Handler = Wrap(mux, Options{RateLimit: 50, Shared: m.shared})
	c.all = append(c.all, m)
	return m
}

// exchange has all nodes hear all reports, also their own.
func (c *nodes) exchange() {
	for _, m := range c.all {
		select {
		case <-m.shared.Due():
		default:
			continue
		}
		for _, text := range m.shared.Reports(c.most) {
			c.said = append(c.said, text)
			for _, other := range c.all {
				other.shared.Hear(text)
			}
		}
	}
}

// status is how a node answers a request; 30 is for one whose network is barred.
func (m *member) status(header ...string) int {
	w := send(m, "GET", "/private", "", header...)
	if w.Code == http.StatusTooManyRequests && w.Header().Get("Retry-After") == "30" {
		return 30
	}
	return w.Code
}

// guess tries a password for a name from a network, and says whether it may; judge gets the try.
func (m *member) guess(from, name string, judge func(*Guess)) (ok bool) {
	m.within = func(ctx context.Context) {
		var t *Guess
		if t, ok = m.guesses.Take(ctx, name); ok && judge != nil {
			judge(t)
		}
	}
	send(m, "GET", "/within", "", "from", from)
	return ok
}

// TestNodesShareRates: a key that asks two nodes in turns has the requests of one, and what they do not report.
func TestNodesShareRates(t *testing.T) {
	inCluster(t, 2, func(c *nodes) {
		n := 0
		ask := func() {
			for _, m := range c.all {
				if m.status("X-API-Key", "sk_good") == 200 {
					n++
				}
			}
			c.exchange()
		}
		for range 1000 {
			ask()
		}
		if n < 200 || n > 212 {
			t.Errorf("%d requests at once, want 200, and 12 at most that were not reported", n)
		}
		for range 6000 {
			time.Sleep(10 * time.Millisecond)
			ask()
		}
		if n < 200+60*50-12 || n > 200+60*50+12 {
			t.Errorf("%d requests in a minute, want 3200", n)
		}
		if n := c.all[1].status("X-API-Key", "sk_other"); n != 200 {
			t.Errorf("another key: %d", n)
		}
	})
}

// TestNodesShareAnAccount: keys of one account, each on a node of its own, have what the account may have.
func TestNodesShareAnAccount(t *testing.T) {
	inCluster(t, 6, func(c *nodes) {
		n := 0
		for range 300 {
			for i, m := range c.all {
				if m.status("X-API-Key", fmt.Sprint("sk_a", i), "from", fmt.Sprintf("192.0.2.%d:1", i)) == 200 {
					n++
				}
			}
			c.exchange()
		}
		if n < 800 || n > 800+5*50 {
			t.Errorf("%d requests, want 800, and 50 at most of each further node", n)
		}
	})
}

// TestDebtOfABurst: what several nodes let through before they knew of each other is paid back.
func TestDebtOfABurst(t *testing.T) {
	inCluster(t, 2, func(c *nodes) {
		both := func() (n int) {
			for range 300 {
				for _, m := range c.all {
					if m.status("X-API-Key", "sk_good") == 200 {
						n++
					}
				}
			}
			c.exchange()
			return n
		}
		if n := both(); n != 400 {
			t.Errorf("%d requests before a report, want a burst of each node", n)
		}
		time.Sleep(3900 * time.Millisecond)
		if n := both(); n != 0 {
			t.Errorf("%d requests while the debt is paid", n)
		}
		time.Sleep(1110 * time.Millisecond)
		if n := both(); n != 100 { // 50 of each
			t.Errorf("%d requests a second after it, want 50 of each node", n)
		}
	})
}

// TestLockoutOnAllNodes: who has sent ten wrong credentials to one node is barred on all, with what was
// right nowhere; a credential that was right on any node is not barred on another.
func TestLockoutOnAllNodes(t *testing.T) {
	inCluster(t, 3, func(c *nodes) {
		here, there := c.all[0], c.all[2]
		if n := here.status("X-API-Key", "sk_a1", "from", "192.0.2.1:1"); n != 200 {
			t.Fatal(n)
		}
		for range maxFailures {
			if n := here.status("X-API-Key", "sk_wrong", "from", "192.0.2.1:1"); n != 401 {
				t.Fatal(n)
			}
		}
		c.exchange()
		for _, tt := range []struct {
			key, from string
			want      int
		}{{"sk_wrong", "192.0.2.1:9", 30}, {"sk_a2", "192.0.2.1:9", 30}, {"sk_a1", "192.0.2.1:9", 200}, {"sk_a2", "192.0.2.2:9", 200}, {"sk_wrong", "192.0.2.2:9", 401}} {
			if n := there.status("X-API-Key", tt.key, "from", tt.from); n != tt.want {
				t.Errorf("%s from %s: %d, want %d", tt.key, tt.from, n, tt.want)
			}
		}
		time.Sleep(time.Minute/maxFailures + time.Second)
		if n := there.status("X-API-Key", "sk_a2", "from", "192.0.2.1:9"); n != 200 {
			t.Errorf("after a while: %d", n)
		}
	})
}

// TestGuessesOnAllNodes: ten tries of a password are ten on all nodes; a right one on any gives them back
// on all, and is known on all when many networks guess.
func TestGuessesOnAllNodes(t *testing.T) {
	inCluster(t, 2, func(c *nodes) {
		a, b := c.all[0], c.all[1]
		const home, away, name = "192.0.2.1:1", "198.51.100.1:1", "ana@example.com"
		for range fromOne {
			if !a.guess(away, name, nil) {
				t.Fatal("a try is refused")
			}
		}
		c.exchange()
		if b.guess(away, name, nil) {
			t.Error("an eleventh guess on another node")
		}
		for range fromOne - 1 {
			a.guess(home, name, nil)
		}
		c.exchange()
		if !b.guess(home, name, func(g *Guess) { g.Right() }) {
			t.Fatal("the tenth try on another node is refused")
		}
		c.exchange()
		for i := range fromOne {
			if !a.guess(home, name, (*Guess).Cancel) {
				t.Errorf("try %d after a right one is refused", i)
			}
			c.exchange()
		}
		for i := range 2 * maxGuesses {
			a.guess(fmt.Sprintf("203.0.113.%d:1", i), name, nil)
		}
		c.exchange()
		if b.guess("203.0.113.200:1", name, nil) {
			t.Error("a guess from yet another network")
		}
		if !b.guess(home, name, nil) {
			t.Error("the user is locked out at home")
		}
	})
}

// TestTriesThatAreGivenBack cost nothing on any node.
func TestTriesThatAreGivenBack(t *testing.T) {
	inCluster(t, 2, func(c *nodes) {
		for i := range 100 {
			m := c.all[i%2]
			if !m.guess("192.0.2.1:1", "ana@example.com", func(g *Guess) { c.exchange(); g.Cancel() }) {
				t.Fatalf("try %d is refused", i)
			}
			c.exchange()
		}
	})
}

// TestAloneNothingIsReported: neither before another node is heard, nor after it has been quiet.
func TestAloneNothingIsReported(t *testing.T) {
	inCluster(t, 2, func(c *nodes) {
		late := c.join()
		wrong := func(from string, want int) {
			t.Helper()
			for range maxFailures {
				late.status("X-API-Key", "sk_wrong", "from", from)
			}
			c.exchange()
			if n := c.all[1].status("X-API-Key", "sk_right_nowhere", "from", from); n != want {
				t.Errorf("from %s: %d, want %d", from, n, want)
			}
		}
		wrong("192.0.2.1:1", 401)
		if len(c.said) > 0 {
			t.Errorf("%d messages of a node that is alone", len(c.said))
		}
		late.shared.Heard()
		late.shared.Quiet()
		wrong("192.0.2.2:1", 30)
		late.shared.Quiet()
		late.shared.Quiet()
		said := len(c.said)
		wrong("192.0.2.3:1", 401)
		if len(c.said) != said {
			t.Errorf("%d messages of a node that hears no other any more", len(c.said)-said)
		}
	})
}

// TestReportsShowNothing: neither addresses nor credentials nor names, nor hashes that somebody without the
// secret could find them by; and none is larger than it may be.
func TestReportsShowNothing(t *testing.T) {
	inCluster(t, 2, func(c *nodes) {
		c.most = 100
		m := c.all[0]
		for i := range 40 {
			m.status("X-API-Key", "sk_wrong", "from", fmt.Sprintf("192.0.2.%d:1", i))
			m.guess(fmt.Sprintf("192.0.2.%d:1", i), "ana@example.com", nil)
		}
		m.status("X-API-Key", "sk_good", "from", "192.0.2.99:1")
		c.exchange()
		all := bytes.Join(c.said, nil)
		stranger := NewSharedLimits("another secret")
		for _, key := range []string{"192.0.2.7", "sk_good", "key_1", "ana@example.com"} {
			if bytes.Contains(all, []byte(key)) {
				t.Errorf("reports hold %q", key)
			}
			if bytes.Contains(all, []byte(stranger.name(limitFailures, key))) {
				t.Errorf("the name of %q does not depend on the secret", key)
			}
		}
		if !bytes.Contains(all, []byte(m.shared.name(limitFailures, "192.0.2.7"))) {
			t.Error("a failure was not reported")
		}
		if len(c.said) < 10 || slices.ContainsFunc(c.said, func(m []byte) bool { return len(m) > 100 }) {
			t.Errorf("%d messages, some longer than 100 bytes", len(c.said))
		}
	})
}

// entry is one line of a report.
func entry(s *SharedLimits, of SharedLimit, key string, tokens int32) []byte {
	return binary.BigEndian.AppendUint32(append([]byte{byte(of)}, s.name(of, key)...), uint32(tokens))
}

// TestReportsOfOtherReleases: what is not understood is passed over, whatever it is, and the rest counts.
func TestReportsOfOtherReleases(t *testing.T) {
	inCluster(t, 1, func(c *nodes) {
		m := c.all[0]
		const sender = "01234567"
		full := entry(m.shared, limitFailures, "192.0.2.1", maxFailures)
		for _, text := range []string{"", "\x01", "\x02" + sender + string(full), "\x01" + sender + string(full[:entrySize-1]),
			"\x01" + sender + strings.Replace(string(full), "\x04", "\xee", 1), "\x01" + string(m.shared.self[:]) + string(full)} {
			m.shared.Hear([]byte(text))
			if n := m.status("X-API-Key", "sk_wrong", "from", "192.0.2.1:1"); n != 401 {
				t.Fatalf("%q counts: %d", text, n)
			}
		}
		m.shared.Hear([]byte("\x01" + sender + "\xee" + string(full[1:]) + string(full) + "rest"))
		if n := m.status("X-API-Key", "sk_wrong", "from", "192.0.2.1:1"); n != 30 {
			t.Errorf("what is understood does not count: %d", n)
		}
	})
}

// TestReportsAreBounded: a node that reports more than there can be bars nobody for longer than sixteen
// bursts, and pushes out nothing that is used here.
func TestReportsAreBounded(t *testing.T) {
	inCluster(t, 1, func(c *nodes) {
		m := c.all[0]
		hear := func(entries ...[]byte) {
			m.shared.Hear(slices.Concat([]byte("\x0101234567"), slices.Concat(entries...)))
		}
		for range 5 {
			hear(entry(m.shared, limitFailures, "192.0.2.1", 1<<30))
		}
		hear(entry(m.shared, limitFailures, "192.0.2.2", -1<<30))
		time.Sleep(maxDebt*time.Minute + time.Minute/maxFailures + time.Second)
		if n := m.status("X-API-Key", "sk_wrong", "from", "192.0.2.1:1"); n != 401 {
			t.Errorf("after sixteen minutes: %d", n)
		}
		for i := range maxFailures + 1 {
			if n, want := m.status("X-API-Key", "sk_wrong", "from", "192.0.2.2:1"), map[bool]int{true: 30, false: 401}[i == maxFailures]; n != want {
				t.Errorf("failure %d after a return of what was never taken: %d, want %d", i, n, want)
			}
		}
		for i := range 3 * remembered {
			hear(entry(m.shared, limitFailures, fmt.Sprint("far ", i), 1))
		}
		if n := m.status("X-API-Key", "sk_wrong", "from", "192.0.2.2:1"); n != 30 {
			t.Errorf("foreign keys have pushed out a lockout: %d", n)
		}
	})
}

// BenchmarkSharedTake is what one limit costs a request.
func BenchmarkSharedTake(b *testing.B) {
	for name, shared := range map[string]*SharedLimits{"alone": nil, "shared": NewSharedLimits("a secret")} {
		b.Run(name, func(b *testing.B) {
			if shared != nil {
				shared.Heard()
			}
			buckets := shared.Buckets(limitNetworks, time.Second, 1<<30)
			b.ReportAllocs()
			for b.Loop() {
				buckets.Take("192.0.2.1")
			}
		})
	}
}
