package transport

import (
	"bytes"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	gosip "github.com/emiago/sipgo/sip"
	"golang.org/x/time/rate"

	"parley/media/isolate"
)

const (
	// defaultSourceRate is the requests a second that one source may send outside
	// of calls: twice the most calls that carriers send from one address. Burst:
	// twice as many.
	defaultSourceRate = 100
	// unknownRate is that of sources outside the trunks, while they are
	// answered at all: the owner of a forged address must not be flooded with our 403s. Strangers may try
	// as many passwords.
	unknownRate = 5
	// maxSources bounds the sources that are watched. When more are busy at once,
	// further ones count as too fast.
	maxSources = 4096
	// tidyEvery is how often they are searched for those that can be forgotten.
	tidyEvery = time.Second
)

// rateLimits limits each source to a rate by a token bucket. Its methods may be
// called from several goroutines.
type rateLimits struct {
	rate float64

	mu     sync.Mutex
	seen   map[netip.Addr]*rate.Limiter
	tidied time.Time
}

func newRateLimits(perSecond float64) *rateLimits {
	return &rateLimits{rate: perSecond, seen: map[netip.Addr]*rate.Limiter{}}
}

// customer is what counts as one source: a customer has a whole /64.
func customer(a netip.Addr) netip.Addr {
	if a.Is6() {
		p, _ := a.WithZone("").Prefix(64)
		a = p.Addr()
	}
	return a
}

// left says whether a source may send one more request now, and takes nothing.
func (s *rateLimits) left(a netip.Addr, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.seen[customer(a)]
	return !ok || l.TokensAt(now) >= 1
}

// take says whether a source may send one more request now.
func (s *rateLimits) take(a netip.Addr, now time.Time) bool {
	a = customer(a)
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.seen[a]
	if !ok {
		if len(s.seen) >= maxSources && !s.tidyLocked(now) {
			return false
		}
		l = rate.NewLimiter(rate.Limit(s.rate), int(2*s.rate))
		s.seen[a] = l
	}
	return l.AllowN(now, 1)
}

// tidyLocked forgets the sources whose buckets are full again: a new one would
// be no different. false: there was none.
func (s *rateLimits) tidyLocked(now time.Time) bool {
	if now.Sub(s.tidied) < tidyEvery {
		return false // a flood must not cost a search for each packet
	}
	s.tidied = now
	before := len(s.seen)
	maps.DeleteFunc(s.seen, func(_ netip.Addr, l *rate.Limiter) bool { return l.TokensAt(now) >= float64(l.Burst()) })
	return len(s.seen) < before
}

// inCall are the methods that belong to calls under way, which cannot
// begin something.
var inCall = []gosip.RequestMethod{gosip.ACK, gosip.BYE, gosip.CANCEL, gosip.PRACK, gosip.UPDATE, gosip.INFO, gosip.NOTIFY, gosip.REFER}

// filter drops what unknown or too fast sources send before it is parsed.
func (l *Layer) filter(from gosip.TransportReadProps, data []byte) (taken []byte, err error) {
	isolate.Do("sip/transport/filter", nil, func() {
		if from.Transport == OverWebSocket || l.admits(from.RemoteAddr) && (from.Transport != "UDP" || !l.floods(addrOf(from.RemoteAddr).Addr(), data)) {
			taken = data
		}
	})
	return taken, nil
}

// floods says whether a datagram is one too many from its source. It is dropped
// then: the far end repeats it, which slows it down, and a forged one costs us
// no answer.
func (l *Layer) floods(from netip.Addr, data []byte) bool {
	method, _, _ := bytes.Cut(data[:min(len(data), 16)], []byte(" "))
	if bytes.HasPrefix(method, []byte("SIP/")) || slices.Contains(inCall, gosip.RequestMethod(method)) || l.known.take(from, time.Now()) {
		return false
	}
	trunk, _ := l.cfg.Trunks.Source(from)
	l.Rejections.Add(Rejection{Source: from, Trunk: trunk, Cause: CauseRate}, time.Now())
	return true
}

// TooFast says whether a request that came over a stream, from which nothing can be dropped,
// is one too many from its source.
func (l *Layer) TooFast(req *gosip.Request) bool {
	return req.Transport() != "UDP" && !slices.Contains(inCall, req.Method) && !l.known.take(Source(req).Addr(), time.Now())
}

// MayGuess says whether credentials of a stranger are looked at: not while wrong ones come from its address too fast.
func (l *Layer) MayGuess(from netip.Addr) bool { return l.unknown.left(from, time.Now()) }

// Guessed notes wrong credentials of a stranger.
func (l *Layer) Guessed(from netip.Addr) { l.unknown.take(from, time.Now()) }
