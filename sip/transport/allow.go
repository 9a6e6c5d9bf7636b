package transport

import (
	"net"
	"net/netip"
	"slices"
	"time"

	gosip "github.com/emiago/sipgo/sip"
)

// Allows says whether a source may speak to us: it is a trunk's, the configuration allows it,
// or a Grant holds it.
func (l *Layer) Allows(a netip.Addr) bool {
	if !a.IsValid() {
		return false
	}
	if _, trunk := l.cfg.Trunks.Source(a); trunk || l.cfg.Allow(a) {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.allowed[a] > 0
}

// Hears says whether who has sent a message may speak to us. Browsers may, wherever they are: what they begin shows who they are.
func (l *Layer) Hears(m gosip.Message) bool {
	return m.Transport() == OverWebSocket || l.Allows(Source(m).Addr())
}

// admits is Allows for a packet or connection, and counts one that is refused.
func (l *Layer) admits(a net.Addr) bool {
	from, now := addrOf(a).Addr(), time.Now()
	if l.Allows(from) {
		return true
	}
	l.unheard.Add(1)
	if l.cfg.RejectUnknown && l.unknown.take(from, now) {
		return true // the request is refused with a response
	}
	l.Rejections.Add(Rejection{Source: from, Cause: CauseUnknown}, now)
	return false
}

// Grant lets hosts speak to us while it holds them: those that we call, and those that they
// name. It belongs to one goroutine.
type Grant struct {
	layer *Layer
	hosts []netip.Addr
}

// Grant returns a Grant that holds hosts.
func (l *Layer) Grant(hosts ...netip.Addr) *Grant {
	g := &Grant{layer: l}
	g.Set(hosts...)
	return g
}

// Set replaces the hosts that the grant holds. Without any it holds none.
func (g *Grant) Set(hosts ...netip.Addr) {
	if slices.Equal(hosts, g.hosts) {
		return
	}
	l := g.layer
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range hosts {
		l.allowed[a]++
	}
	for _, a := range g.hosts {
		if l.allowed[a]--; l.allowed[a] <= 0 {
			delete(l.allowed, a)
		}
	}
	g.hosts = slices.Clone(hosts)
}

// Holds says whether a host is among those of the grant.
func (g *Grant) Holds(a netip.Addr) bool { return slices.Contains(g.hosts, a) }
