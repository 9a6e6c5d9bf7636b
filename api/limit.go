package api

import (
	"context"
	"crypto/sha256"
	"net/http"
	"net/netip"
	"slices"
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

	shared   *SharedLimits // nil: this node counts alone
	of       SharedLimit
	least    int           // tokens that are reported to other nodes
	full     time.Duration // in which an empty bucket gets full
	refilled func(name string)

	mu   sync.Mutex
	keys recent[string, *rate.Limiter] // by name, see SharedLimits
	// foreign are keys that other nodes alone have seen; they push out none that is used here.
	foreign recent[string, *rate.Limiter]
}

// NewBuckets returns buckets that hold burst tokens and get one back each every.
func NewBuckets(every time.Duration, burst int) *Buckets {
	return &Buckets{every: rate.Every(every), burst: burst, keys: recent[string, *rate.Limiter]{size: remembered}}
}

// name is what keys and reports call a key.
func (b *Buckets) name(key string) string { return b.shared.name(b.of, key) }

// find is the bucket of a name; false: it is full. The lock is held.
func (b *Buckets) find(name string) (*rate.Limiter, bool) {
	if l, ok := b.keys.get(name); ok {
		return l, true
	}
	return b.foreign.get(name)
}

// Take takes a token of key, or returns false when none is left.
func (b *Buckets) Take(key string) bool {
	name := b.name(key)
	b.mu.Lock()
	defer b.mu.Unlock()
	l, ok := b.keys.get(name)
	if !ok {
		if l, ok = b.foreign.get(name); ok {
			b.foreign.remove(name)
		} else {
			l = rate.NewLimiter(b.every, b.burst)
		}
		b.keys.put(name, l)
	}
	if !l.Allow() {
		return false
	}
	b.shared.used(sharedKey{b.of, name}, 1, b.least, b.full)
	return true
}

// Left says whether key has a token, and takes none.
func (b *Buckets) Left(key string) bool {
	name := b.name(key)
	b.mu.Lock()
	defer b.mu.Unlock()
	l, ok := b.find(name)
	return !ok || l.Tokens() >= 1
}

// Return gives key back a token that it took; a bucket that is full stays full.
func (b *Buckets) Return(key string) {
	name := b.name(key)
	b.mu.Lock()
	defer b.mu.Unlock()
	if l, ok := b.keys.get(name); ok {
		here := time.Now()   // as the limiter counts
		l.ReserveN(here, -1) // takes less than none, also of a debt
		b.shared.used(sharedKey{b.of, name}, -1, b.least, b.full)
	}
}

// Refill gives key all its tokens back, on all nodes.
func (b *Buckets) Refill(key string) { b.refill(b.name(key), true) }

// refill refills the bucket of a name, here or, when it happened here, on all nodes.
func (b *Buckets) refill(name string, here bool) {
	b.mu.Lock()
	b.keys.remove(name)
	b.foreign.remove(name)
	if here {
		b.shared.refilled(sharedKey{b.of, name})
	}
	b.mu.Unlock()
	if b.refilled != nil {
		b.refilled(name)
	}
}

// Failed credentials an address may send in a minute.
const maxFailures = 10

// gate limits requests, and failed credentials by network, together with the other nodes. What counts requests is the
// network that they come from until their credential was right once, then who holds it:
// strangers, who may write anything into a request, have no bucket but their network's,
// and fill no table but that of networks.
type gate struct {
	proxies     []netip.Prefix
	networks    *Buckets // nil, as the next two: any number of requests
	credentials *Buckets
	accounts    *Buckets
	failures    *Buckets
	shared      *SharedLimits // nil: there are no other nodes

	mu   sync.Mutex
	good recent[[sha256.Size]byte, holder] // by hash, the credentials that were right the last time
	// elsewhere are, by name, those that were right on another node: who shares the other
	// nodes' limits needs their excuse, too.
	elsewhere recent[string, struct{}]
}

// holder is who has a credential, as far as rates are concerned.
type holder struct {
	credential string // empty: a stranger, limited by network
	account    string // empty: an operator's key, or a stranger
}

// holderOf is whose bucket requests of p count in. A key and the tickets made of it have
// one each: tickets are not worth more for being many, and pages that have them do not
// use up what the key's own program needs. Session tickets are held by strangers.
func holderOf(p Principal) holder {
	switch {
	case p.Ticket == nil:
		return holder{p.Key, p.Account}
	case p.Ticket.Agent == "":
		return holder{"tickets of " + p.Key, p.Account}
	}
	return holder{"", p.Account}
}

// burstSeconds is how many seconds' worth of requests may come at once.
const burstSeconds = 4

// accountShare is how many credentials' worth of requests an account may make.
const accountShare = 4

func newGate(perSecond int, proxies []netip.Prefix, shared *SharedLimits) *gate {
	g := &gate{proxies: proxies, failures: shared.Buckets(limitFailures, time.Minute/maxFailures, maxFailures), shared: shared}
	g.good.size, g.elsewhere.size = remembered, remembered
	shared.hear(knownCredentials, func(name string, _ int) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.elsewhere.put(name, struct{}{})
	})
	if perSecond > 0 {
		requests := func(of SharedLimit, perSecond int) *Buckets {
			return shared.Buckets(of, time.Second/time.Duration(perSecond), burstSeconds*perSecond)
		}
		g.networks, g.credentials = requests(limitNetworks, perSecond), requests(limitCredentials, perSecond)
		g.accounts = requests(limitAccounts, accountShare*perSecond)
	}
	return g
}

// passage is one request at the gate. A credential that was right the last time is
// not barred for what others behind the same address did.
type passage struct {
	gate  *gate
	addr  netip.Addr
	from  string // its network
	trace string // its traceparent header
	// request and client are its names, ours and the client's; the second may be empty.
	request, client string
	fault           atomic.Pointer[error] // of ours, which the client does not learn; nil: none
	secret          [sha256.Size]byte
	holder          holder
	known           bool // the credential was right the last time
	counts          *Counts
	told            atomic.Bool            // why it was refused has been counted
	code            atomic.Pointer[string] // why it was refused, the first time; nil: it was not
	wanted          bool                   // somebody wants to know of it, see Options.Seen
	seen            *Seen                  // what is known of it; nil: it is not noted
}

type guardKey struct{} // of the *passage in a request's context

// enter lets a request in, or not. One that another server has sent on was counted there.
func (g *gate) enter(r *http.Request) (*passage, bool) {
	v := &passage{gate: g, addr: clientAddr(r, g.proxies), trace: r.Header.Get("Traceparent")}
	v.request, v.client = names(r)
	v.from = network(v.addr)
	if c := Credential(r); c != "" {
		v.secret = sha256.Sum256([]byte(c))
		g.mu.Lock()
		v.holder, v.known = g.good.get(v.secret)
		g.mu.Unlock()
	}
	return v, isPreflight(r) || IsVouched(r.Context()) || g.take(v.holder, v.from)
}

// take takes a token for a request of h.
func (g *gate) take(h holder, from string) bool {
	if g.networks == nil {
		return true
	}
	if h.credential == "" && !g.networks.Take(from) || h.credential != "" && !g.credentials.Take(h.credential) {
		return false
	}
	return h.account == "" || g.accounts.Take(h.account)
}

// AddressOf is where the request in ctx comes from, trusted proxies seen through; the
// zero Addr when it is not known.
func AddressOf(ctx context.Context) netip.Addr {
	if v, ok := ctx.Value(guardKey{}).(*passage); ok {
		return v.addr
	}
	return netip.Addr{}
}

// NetworkOf is what counts as one client among those without a credential: the address of
// the request in ctx, of IPv6 its /64; one word for all whose address is not known.
func NetworkOf(ctx context.Context) string { return network(AddressOf(ctx)) }

// TraceParentOf is the traceparent header of the request in ctx, which names the trace
// that the client is in (W3C Trace Context, section 3.2). It is not checked, and empty
// when there is none.
func TraceParentOf(ctx context.Context) string {
	if v, ok := ctx.Value(guardKey{}).(*passage); ok {
		return v.trace
	}
	return ""
}

// barred says whether the credential is not even looked up, because too many from its network were wrong.
func (v *passage) barred() bool {
	if v.known || v.gate.failures.Left(v.from) {
		return false
	}
	name := v.name()
	v.gate.mu.Lock()
	defer v.gate.mu.Unlock()
	_, known := v.gate.elsewhere.get(name)
	return !known
}

// name is what the nodes call the credential.
func (v *passage) name() string { return v.gate.shared.name(knownCredentials, string(v.secret[:])) }

// wrong notes that the credential is not good, or no longer.
func (v *passage) wrong() {
	name := v.name()
	v.gate.mu.Lock()
	v.gate.good.remove(v.secret)
	v.gate.elsewhere.remove(name)
	v.gate.mu.Unlock()
	v.gate.failures.Take(v.from)
}

// right notes that the credential is p's. One that was not known to be good until now is
// counted as p's instead of by the network that it came from; false: p's has sent too many.
func (v *passage) right(p Principal) bool {
	h := holderOf(p)
	v.gate.mu.Lock()
	v.gate.good.put(v.secret, h)
	v.gate.mu.Unlock()
	if !v.known && p.Ticket == nil { // tickets do not live long enough
		v.gate.shared.refilled(sharedKey{knownCredentials, v.name()})
	}
	if v.known || v.gate.networks == nil {
		return true
	}
	v.gate.networks.Return(v.from)
	return v.gate.take(h, v.from)
}

// clientAddr is where a request comes from: the connection's peer, or when that
// is a trusted proxy the last address in X-Forwarded-For that is none. What stands
// before it the client may have written. It is the zero Addr when it is not known.
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
	return slices.ContainsFunc(proxies, func(p netip.Prefix) bool { return p.Contains(a) })
}

// network is what counts as one address: of IPv6 one customer has a whole /64.
func network(a netip.Addr) string {
	if a.Is6() {
		p, _ := a.Prefix(64) // 64 bits fit
		return p.String()
	}
	return a.String()
}
