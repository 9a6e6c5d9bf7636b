package admission

import (
	"maps"
	"net/netip"
	"sync"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/sip/dialog"
	"parley/sip/header"
	"parley/sip/transport"
	"parley/sip/trunk"
)

const (
	// maxUnconfirmed is how many calls in a row a source may begin to one number without
	// confirming any. A forged source never does, and each of its calls takes a line of an
	// account for 64*T1. It counts by number, so that a forger keeps callers of a trunk
	// from no number but those that it calls itself.
	maxUnconfirmed = 5
	// unconfirmedFor is how long such a call counts: as long as it waits for its ACK,
	// and as long again.
	unconfirmedFor = time.Minute
)

// errand is who calls whom.
type errand struct {
	source netip.Addr
	called string
}

// unconfirmed counts calls that were answered and not confirmed. It has as many entries
// as calls were answered in a minute, at most. Its methods may be called from several
// goroutines.
type unconfirmed struct {
	mu    sync.Mutex
	times map[errand][]time.Time // of the latest maxUnconfirmed, the oldest first
}

func newUnconfirmed() *unconfirmed { return &unconfirmed{times: map[errand][]time.Time{}} }

// add counts one more.
func (n *unconfirmed) add(e errand, now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	maps.DeleteFunc(n.times, func(_ errand, times []time.Time) bool { return now.Sub(times[len(times)-1]) >= unconfirmedFor })
	times := append(n.times[e], now)
	n.times[e] = times[max(0, len(times)-maxUnconfirmed):]
}

// remove forgets them: a call was confirmed after all.
func (n *unconfirmed) remove(e errand) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.times, e)
}

// full says whether there were so many that no further call may begin now.
func (n *unconfirmed) full(e errand, now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	times := n.times[e]
	return len(times) == maxUnconfirmed && now.Sub(times[0]) < unconfirmedFor
}

// forgeable says whether the source of an INVITE may be another's: it came over UDP, and
// showed no credentials.
func forgeable(req *gosip.Request, l *trunk.Trunk) bool {
	return req.Transport() == "UDP" && (l == nil || l.Inbound == (dialog.Credentials{}))
}

// errandOf is who calls whom by an INVITE; ok is false where its source cannot be forged.
func errandOf(req *gosip.Request, l *trunk.Trunk) (e errand, ok bool) {
	return errand{transport.Source(req).Addr(), header.Called(req)}, forgeable(req, l)
}

// Unconfirmed notes that an INVITE on a trunk, nil for none, was answered and that the answer has not been confirmed in time.
func (g *Gate) Unconfirmed(req *gosip.Request, l *trunk.Trunk) {
	if e, ok := errandOf(req, l); ok {
		g.unconfirmed.add(e, time.Now())
	}
}

// Confirmed notes that the answer was confirmed after all.
func (g *Gate) Confirmed(req *gosip.Request, l *trunk.Trunk) {
	if e, ok := errandOf(req, l); ok {
		g.unconfirmed.remove(e)
	}
}

// doubts refuses an INVITE where too many before it were never confirmed; nil: not so.
func (g *Gate) doubts(req *gosip.Request, l *trunk.Trunk) *Refusal {
	e, ok := errandOf(req, l)
	if !ok || !g.unconfirmed.full(e, time.Now()) {
		return nil
	}
	name, _ := g.cfg.Trunks.Source(e.source)
	return g.refuse(transport.Rejection{Source: e.source, Trunk: name, Called: e.called, Code: 503, Cause: transport.CauseUnconfirmed}, header.RetryAfter(retryUnconfirmed))
}
