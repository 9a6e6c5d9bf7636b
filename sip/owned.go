package sip

import (
	"net"
	"net/netip"
	"strings"
	"sync/atomic"

	gosip "github.com/emiago/sipgo/sip"
)

// route is what a TLS connection of ours is for. Trunks do not share them: each shows
// its own certificate, and trusts its own authorities.
type route struct {
	line *line // nil: no trunk's
	addr string
}

// owned is a TLS connection that we have made.
type owned struct {
	net.Conn
	local  netip.AddrPort
	far    net.Addr
	number int // among those that lead to one address, from 0
	closed atomic.Bool
}

// own notes a connection for a route.
func (g *tlsGate) own(to route, conn net.Conn) *owned {
	at := conn.LocalAddr().(*net.TCPAddr).AddrPort()
	c := &owned{Conn: conn, local: netip.AddrPortFrom(at.Addr().Unmap(), at.Port())}
	g.mu.Lock()
	defer g.mu.Unlock()
	taken := map[int]bool{}
	for r, other := range g.made {
		switch {
		case other.closed.Load():
			delete(g.made, r)
		case r.addr == to.addr:
			taken[other.number] = true
		}
	}
	for taken[c.number] {
		c.number++
	}
	c.far = conn.RemoteAddr()
	if c.number > 0 {
		c.far = &numbered{c.far.(*net.TCPAddr), c.number}
	}
	g.made[to] = c
	return c
}

// owned is the live connection of a route; nil when there is none.
func (g *tlsGate) owned(to route) *owned {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c := g.made[to]; c != nil && !c.closed.Load() {
		return c
	}
	return nil
}

// Close implements net.Conn. Nothing is sent over it from here on.
func (c *owned) Close() error {
	c.closed.Store(true)
	return c.Conn.Close()
}

// RemoteAddr implements net.Conn.
func (c *owned) RemoteAddr() net.Addr { return c.far }

// made says whether a connection of the library's is one that we have made.
func made(conn gosip.Connection) bool {
	t, ok := conn.(*gosip.TCPConnection)
	if ok {
		_, ok = t.Conn.(*owned)
	}
	return ok
}

// numbered is the far end of a connection beside others that lead there. The library
// answers a request over the connection that it knows by the request's source, as
// text; so each has another text, which says the same: the port has zeros before it.
type numbered struct {
	*net.TCPAddr
	n int
}

// String implements net.Addr.
func (a *numbered) String() string {
	text := a.TCPAddr.String()
	at := strings.LastIndexByte(text, ':') + 1
	return text[:at] + strings.Repeat("0", a.n) + text[at:]
}
