package api

import (
	"context"
	"crypto/sha256"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// remembered bounds how many keys a limit knows at once. Beyond it those that
// were not seen for longest are forgotten, which gives them a full bucket again:
// a bound on memory that outsiders cannot reach past is worth that.
const remembered = 20_000

// recent is a map that holds the keys used last, size at most and at least half of
// that: what is used moves to the fresh half, and when that is full the stale half
// goes.
type recent[K comparable, V any] struct {
	size         int
	fresh, stale map[K]V
}

func (m *recent[K, V]) get(k K) (V, bool) {
	v, ok := m.fresh[k]
	if !ok {
		if v, ok = m.stale[k]; ok {
			m.put(k, v)
		}
	}
	return v, ok
}

func (m *recent[K, V]) put(k K, v V) {
	if len(m.fresh) >= m.size/2 {
		m.stale, m.fresh = m.fresh, nil
	}
	if m.fresh == nil {
		m.fresh = map[K]V{}
	}
	m.fresh[k] = v
}

func (m *recent[K, V]) remove(k K) {
	delete(m.fresh, k)
	delete(m.stale, k)
}

// Buckets limit how often something may happen, for each key by a token bucket of
// its own. They are safe for use from several goroutines.
type Buckets struct {
	every rate.Limit
	burst int

	mu   sync.Mutex
	keys recent[string, *rate.Limiter]
}

// NewBuckets returns buckets that hold burst tokens and get one back each every.
func NewBuckets(every time.Duration, burst int) *Buckets {
	return &Buckets{every: rate.Every(every), burst: burst, keys: recent[string, *rate.Limiter]{size: remembered}}
}

// Take takes a token of key, or returns false when none is left.
func (b *Buckets) Take(key string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	l, ok := b.keys.get(key)
	if !ok {
		l = rate.NewLimiter(b.every, b.burst)
		b.keys.put(key, l)
	}
	return l.Allow()
}

// Left says whether key has a token, and takes none.
func (b *Buckets) Left(key string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	l, ok := b.keys.get(key)
	return !ok || l.Tokens() >= 1
}

// Refill gives key all its tokens back.
func (b *Buckets) Refill(key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.keys.remove(key)
}

// Failed credentials an address may send in a minute.
const maxFailures = 10

// gate limits requests by credential, and failed credentials by address.
type gate struct {
	proxies  []netip.Prefix
	requests *Buckets // nil: any number
	failures *Buckets

	mu   sync.Mutex
	good recent[[sha256.Size]byte, struct{}] // hashes of credentials that were right the last time
}

// burstSeconds is how many seconds' worth of requests may come at once.
const burstSeconds = 4

func newGate(perSecond int, proxies []netip.Prefix) *gate {
	g := &gate{proxies: proxies, failures: NewBuckets(time.Minute/maxFailures, maxFailures)}
	g.good.size = remembered
	if perSecond > 0 {
		g.requests = NewBuckets(time.Second/time.Duration(perSecond), burstSeconds*perSecond)
	}
	return g
}

// visit is one request at the gate. A credential that was right the last time is
// not barred for what others behind the same address did.
type visit struct {
	gate   *gate
	addr   netip.Addr
	from   string // its network
	trace  string // its traceparent header
	secret [sha256.Size]byte
	counts *Counts
	told   atomic.Bool // why it was refused has been counted
}

type guardKey struct{} // of the *visit in a request's context

// enter lets a request in, or not.
func (g *gate) enter(r *http.Request) (*visit, bool) {
	v := &visit{gate: g, addr: clientAddr(r, g.proxies), trace: r.Header.Get("Traceparent")}
	v.from = network(v.addr)
	key := v.from
	if c := Credential(r); c != "" {
		v.secret = sha256.Sum256([]byte(c))
		key = string(v.secret[:])
	}
	return v, g.requests == nil || g.requests.Take(key)
}

// AddressOf is where the request in ctx comes from, trusted proxies seen through; the
// zero Addr when nobody knows.
func AddressOf(ctx context.Context) netip.Addr {
	if v, ok := ctx.Value(guardKey{}).(*visit); ok {
		return v.addr
	}
	return netip.Addr{}
}

// TraceParentOf is the traceparent header of the request in ctx, which names the trace
// that the client is in (W3C Trace Context, section 3.2). It is not checked, and empty
// when there is none.
func TraceParentOf(ctx context.Context) string {
	if v, ok := ctx.Value(guardKey{}).(*visit); ok {
		return v.trace
	}
	return ""
}

func (v *visit) barred() bool {
	v.gate.mu.Lock()
	_, good := v.gate.good.get(v.secret)
	v.gate.mu.Unlock()
	return !good && !v.gate.failures.Left(v.from)
}

// tried notes what became of the credential.
func (v *visit) tried(right, wrong bool) {
	v.gate.mu.Lock()
	if right {
		v.gate.good.put(v.secret, struct{}{})
	} else if wrong {
		v.gate.good.remove(v.secret)
	}
	v.gate.mu.Unlock()
	if wrong {
		v.gate.failures.Take(v.from)
	}
}

// clientAddr is where a request comes from: the connection's peer, or when that
// is a trusted proxy the last address in X-Forwarded-For that is none. What stands
// before it anybody can have written. It is the zero Addr when nobody knows.
func clientAddr(r *http.Request, proxies []netip.Prefix) netip.Addr {
	peer, _ := netip.ParseAddrPort(r.RemoteAddr)
	addr := peer.Addr().Unmap().WithZone("")
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && trusted(addr, proxies); i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		addr = hop.Unmap().WithZone("")
	}
	return addr
}

func trusted(a netip.Addr, proxies []netip.Prefix) bool {
	for _, p := range proxies {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// network is what counts as one address: of IPv6 one customer has a whole /64.
func network(a netip.Addr) string {
	if a.Is6() {
		p, _ := a.Prefix(64) // 64 bits fit
		return p.String()
	}
	return a.String()
}
