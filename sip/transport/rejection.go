package transport

import (
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Cause is why something that came in was refused. The causes are few and
// fixed: they label metrics.
type Cause string

// The causes.
const (
	CauseUnknown     Cause = "unknown_source"  // of no trunk
	CauseRate        Cause = "too_fast"        // more than a source may send
	CauseDigest      Cause = "wrong_digest"    // credentials that are not right
	CauseForeign     Cause = "foreign_dialog"  // a request in a call, from elsewhere
	CauseMalformed   Cause = "malformed"       // 400, 416, 420 and the like
	CauseNumber      Cause = "no_route"        // 404: a number without an agent
	CauseBusy        Cause = "busy"            // 486: the account is at its limit
	CauseBalance     Cause = "unavailable"     // 480: no balance, or disputed
	CauseCodec       Cause = "no_common_codec" // 488
	CauseOverload    Cause = "overload"        // 503: ringing calls, ports
	CauseDraining    Cause = "draining"        // 503
	CauseUnconfirmed Cause = "unconfirmed"     // 503: answered calls before it were never acknowledged
	CauseOther       Cause = "other"
)

// Rejection is one source's refused messages for one cause.
type Rejection struct {
	First, Last time.Time
	Count       uint64
	Source      netip.Addr
	Trunk       string // empty when the source belongs to none
	Called      string // the number of the last one, where one was read
	Code        int    // of the response to the last one; 0: none
	Cause       Cause
}

// maxRejections bounds the list; the one that was quiet longest makes room.
const maxRejections = 256

// Rejections counts refusals and keeps the recent ones by source and cause, for the
// diagnostics API. Its methods may be called from several goroutines.
type Rejections struct {
	mu     sync.Mutex
	counts map[Cause]uint64
	recent map[rejectionKey]*Rejection
}

type rejectionKey struct {
	source netip.Addr
	cause  Cause
}

// NewRejections returns an empty list.
func NewRejections() *Rejections {
	return &Rejections{counts: map[Cause]uint64{}, recent: map[rejectionKey]*Rejection{}}
}

// Add notes a refusal; r brings Source, Trunk, Called, Code and Cause.
func (l *Rejections) Add(r Rejection, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts[r.Cause]++
	k := rejectionKey{r.Source, r.Cause}
	old, ok := l.recent[k]
	if !ok {
		if len(l.recent) >= maxRejections {
			l.forgetLocked()
		}
		old = &Rejection{First: now, Source: r.Source, Cause: r.Cause}
		l.recent[k] = old
	}
	old.Last, old.Trunk, old.Called, old.Code = now, r.Trunk, r.Called, r.Code
	old.Count++
}

// forgetLocked makes room: a quarter at once, because a flood from many
// addresses must not cost a search for each of them.
func (l *Rejections) forgetLocked() {
	keys := slices.SortedFunc(maps.Keys(l.recent), func(a, b rejectionKey) int { return l.recent[a].Last.Compare(l.recent[b].Last) })
	for _, k := range keys[:maxRejections/4] {
		delete(l.recent, k)
	}
}

// List is what was refused of late, the latest first; at most 256
// entries, one for each source and cause. It is kept in memory only.
func (l *Rejections) List() []Rejection {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]Rejection, 0, len(l.recent))
	for _, r := range l.recent {
		all = append(all, *r)
	}
	slices.SortFunc(all, func(a, b Rejection) int { return b.Last.Compare(a.Last) })
	return all
}

// Counts is how many were refused since the start, by cause.
func (l *Rejections) Counts() map[Cause]uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.counts)
}
