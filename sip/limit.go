package sip

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// defaultSourceRate is the requests a second that one source may send outside
	// of calls: twice the most calls that carriers send from one address. Burst:
	// twice as many.
	defaultSourceRate = 100
	// strangerRate is the same for sources outside the trunks, while they are
	// answered at all: nobody may be flooded with our 403s under his address.
	strangerRate = 5
	// maxSources bounds the sources that are watched. When more are busy at once,
	// further ones count as too fast.
	maxSources = 4096
	// tidyEvery is how often they are searched for those that can be forgotten.
	tidyEvery = time.Second
)

// sources limits each source to a rate by a token bucket. Its methods may be
// called from several goroutines.
type sources struct {
	rate float64

	mu     sync.Mutex
	seen   map[netip.Addr]*rate.Limiter
	tidied time.Time
}

func newSources(perSecond float64) *sources {
	return &sources{rate: perSecond, seen: map[netip.Addr]*rate.Limiter{}}
}

// take says whether a source may send one more request now.
func (s *sources) take(a netip.Addr, now time.Time) bool {
	if a.Is6() { // one customer has a whole /64
		p, _ := a.WithZone("").Prefix(64)
		a = p.Addr()
	}
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
func (s *sources) tidyLocked(now time.Time) bool {
	if now.Sub(s.tidied) < tidyEvery {
		return false // a flood must not cost a search for each packet
	}
	s.tidied = now
	before := len(s.seen)
	for a, l := range s.seen {
		if l.TokensAt(now) >= float64(l.Burst()) {
			delete(s.seen, a)
		}
	}
	return len(s.seen) < before
}
