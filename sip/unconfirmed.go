package sip

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

// errand is the call's for unconfirmed; ok is false where its source cannot be forged.
func (c *call) errand() (e errand, ok bool) {
	return errand{transport.Source(c.server.req).Addr(), header.Called(c.server.req)}, forgeable(c.server.req, c.trunk)
}

// doubts refuses an INVITE where too many before it were never confirmed.
func (u *UserAgent) doubts(req *gosip.Request, tx *gosip.ServerTx, l *trunk.Trunk) bool {
	from, now := transport.Source(req).Addr(), time.Now()
	if !forgeable(req, l) || !u.unconfirmed.full(errand{from, header.Called(req)}, now) {
		return false
	}
	u.counters.refused.Add(1)
	name, _ := u.trunks.Source(from)
	u.layer.Rejections.Add(transport.Rejection{Source: from, Trunk: name, Called: header.Called(req), Code: 503, Cause: transport.CauseUnconfirmed}, now)
	_ = tx.Respond(response(req, 503, "", "", retryAfter(retryUnconfirmed)))
	return true
}
