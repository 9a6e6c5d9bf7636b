package sip

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	gosip "github.com/emiago/sipgo/sip"
	"parley/media/isolate"
)

// connect resolves where req goes, by our resolver, and makes the TLS connection that
// it needs on a trunk, if there is none. Others the library makes itself. l is nil for
// what belongs to no trunk.
func (u *UserAgent) connect(ctx context.Context, l *line, req *gosip.Request) error {
	found, name, err := u.numeric(ctx, req.Destination(), req.Transport())
	if err != nil {
		return err
	}
	to := found[0].String()
	req.SetDestination(to)
	if !strings.EqualFold(req.Transport(), "TLS") || u.bind(l, req) {
		return nil
	}
	l, name = u.leading(l, to, name)
	g, key := u.tls, route{l, to}
	g.mu.Lock()
	d, ok := g.dialing[key]
	if !ok {
		d = &dialing{done: make(chan struct{})}
		g.dialing[key] = d
		// It goes on when this one loses patience: others may wait for it too.
		d.err = errDial
		g.dials.Add(1)
		isolate.Go("sip/connect", nil, func() { d.err = u.dialTLS(key, name) }, func() {
			g.mu.Lock()
			delete(g.dialing, key)
			g.mu.Unlock()
			close(d.done)
		}, g.dials.Done)
	}
	g.mu.Unlock()
	select {
	case <-d.done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if d.err == nil {
		u.bind(l, req)
	}
	return d.err
}

var errDial = errors.New("sip: the connection was not made")

// bind has req go over a TLS connection to its destination that the trunk l may use:
// its own, or one that came from there. False says that there is none.
func (u *UserAgent) bind(l *line, req *gosip.Request) bool {
	to := req.Destination()
	l, _ = u.leading(l, to, "")
	req.Laddr = gosip.Addr{}
	if c := u.tls.owned(route{l, to}); c != nil {
		// The library knows connections by either end, and several may lead to one address.
		// It writes our end without a zone, and would not find that again.
		if c.local.Addr().Zone() == "" {
			req.Laddr = gosip.Addr{IP: c.local.Addr().AsSlice(), Port: int(c.local.Port())}
		}
		return true
	}
	conn, err := u.tp.GetConnection("TLS", to)
	if err != nil {
		return false
	}
	_, _ = conn.TryClose() // looking at it has counted as using it
	return !made(conn)
}

// numeric is where a destination leads over a transport, one address at least, and its
// name: connections are known by their addresses. Port 0 says that the URI has none.
func (u *UserAgent) numeric(ctx context.Context, to, transport string) (found []netip.AddrPort, name string, err error) {
	name, port, err := net.SplitHostPort(to)
	if err != nil {
		return nil, "", err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, "", err
	}
	found, err = u.locateTarget(ctx, TrunkTarget{Host: name, Port: uint16(n), Transport: transport})
	return found, name, err
}

func (u *UserAgent) dialTLS(to route, name string) error {
	ctx, cancel := context.WithTimeout(u.tls.ctx, connectPatience*u.cfg.T1)
	defer cancel()
	d := tls.Dialer{Config: tlsConfig(to.line, name)}
	conn, err := d.DialContext(ctx, "tcp", to.addr)
	if err != nil {
		return fmt.Errorf("TLS to %s: %w", to.addr, err)
	}
	c := u.tls.own(to, conn)
	if err := u.tls.take(c); err != nil {
		_ = c.Close()
		return err
	}
	return nil
}

// tlsConfig is how to connect to a host as a trunk wants it. The certificate must be
// for the target's name, whatever SRV records it led to (RFC 5922 section 7.3).
func tlsConfig(l *line, host string) *tls.Config {
	cfg := &tls.Config{}
	if l != nil && l.trunk.TLS != nil {
		cfg = l.trunk.TLS.Clone()
	}
	cfg.MinVersion = max(cfg.MinVersion, tls.VersionTLS12)
	if cfg.ServerName == "" {
		cfg.ServerName = strings.Trim(host, "[]")
	}
	return cfg
}

// leading is the trunk whose connection leads to an address, and the name of its
// target there: l, unless that has nothing to do with TLS there.
func (u *UserAgent) leading(l *line, to, host string) (*line, string) {
	at, err := netip.ParseAddrPort(to)
	if err != nil {
		return nil, host
	}
	if l != nil {
		if name, _ := l.names(at); name != "" {
			return l, name
		}
		if name := l.secure(); name != "" && l.owns(at.Addr()) {
			return l, name
		}
	}
	if l, name := u.lineAt(at); l != nil {
		return l, name
	}
	return nil, host
}

// lineAt is the trunk that an address belongs to, and the name of the target
// there: an in-dialog request may go to a server that is no target itself.
func (u *UserAgent) lineAt(at netip.AddrPort) (*line, string) {
	var near *line
	host := ""
	for _, l := range u.lines {
		name, exact := l.names(at)
		if exact {
			return l, name
		}
		if near == nil && name != "" {
			near, host = l, name
		}
	}
	if near != nil {
		return near, host
	}
	if l := u.lineOf(at.Addr()); l != nil {
		if name := l.secure(); name != "" {
			return l, name
		}
	}
	return nil, ""
}

// names is the target that an address belongs to, or another port of it; empty when
// there is none that is reached over TLS.
func (l *line) names(at netip.AddrPort) (host string, exact bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.ends {
		if h.transport != "TLS" {
			continue
		}
		if h.addr == at {
			return h.target.Host, true
		}
		if host == "" && h.addr.Addr() == at.Addr() {
			host = h.target.Host
		}
	}
	return host, false
}

// secure is the first target that is reached over TLS; empty when there is none.
func (l *line) secure() string {
	for _, t := range l.trunk.Targets {
		if t.transport() == "TLS" {
			return t.Host
		}
	}
	return ""
}
