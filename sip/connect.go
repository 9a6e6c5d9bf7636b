package sip

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	gosip "github.com/emiago/sipgo/sip"
)

// connect makes the TLS connection that req needs, if there is none. It does
// nothing for other transports, which the library connects itself.
func (u *UserAgent) connect(ctx context.Context, req *gosip.Request) error {
	if !strings.EqualFold(req.Transport(), "TLS") {
		return nil
	}
	to, name, err := u.numeric(ctx, req.Destination())
	if err != nil {
		return err
	}
	req.SetDestination(to)
	if u.connected(to) {
		return nil
	}
	g := u.tls
	g.mu.Lock()
	d, ok := g.dialing[to]
	if !ok {
		d = &dialing{done: make(chan struct{})}
		g.dialing[to] = d
		// It goes on when this one loses patience: others may wait for it too.
		g.dials.Go(func() {
			d.err = u.dialTLS(to, name)
			g.mu.Lock()
			delete(g.dialing, to)
			g.mu.Unlock()
			close(d.done)
		})
	}
	g.mu.Unlock()
	select {
	case <-d.done:
		return d.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// connected says whether the library has a TLS connection to an address.
func (u *UserAgent) connected(to string) bool {
	conn, err := u.tp.GetConnection("TLS", to)
	if err != nil {
		return false
	}
	_, _ = conn.TryClose() // looking at it has counted as using it
	return true
}

// numeric is a destination with its name resolved, and that name: connections
// are known by their addresses.
func (u *UserAgent) numeric(ctx context.Context, to string) (addr, name string, err error) {
	name, port, err := net.SplitHostPort(to)
	if err != nil {
		return "", "", err
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return to, name, nil
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return "", "", err
	}
	found, err := u.addresses(ctx, name, uint16(n))
	if err != nil {
		return "", "", err
	}
	return found[0].String(), name, nil
}

func (u *UserAgent) dialTLS(to, name string) error {
	ctx, cancel := context.WithTimeout(u.tls.ctx, connectPatience*u.cfg.T1)
	defer cancel()
	d := tls.Dialer{Config: u.tlsConfig(to, name)}
	conn, err := d.DialContext(ctx, "tcp", to)
	if err != nil {
		return fmt.Errorf("TLS to %s: %w", to, err)
	}
	if err := u.tls.take(conn); err != nil {
		_ = conn.Close()
		return err
	}
	return nil
}

// tlsConfig is how to connect to an address that a host led to: as the trunk that
// it belongs to wants it. The certificate must be for the target's name, whatever SRV records
// it led to (RFC 5922 section 7.3).
func (u *UserAgent) tlsConfig(to, host string) *tls.Config {
	cfg := &tls.Config{}
	if at, err := netip.ParseAddrPort(to); err == nil {
		if l, name := u.lineAt(at); l != nil {
			host = name
			if l.trunk.TLS != nil {
				cfg = l.trunk.TLS.Clone()
			}
		}
	}
	cfg.MinVersion = max(cfg.MinVersion, tls.VersionTLS12)
	if cfg.ServerName == "" {
		cfg.ServerName = strings.Trim(host, "[]")
	}
	return cfg
}

// lineAt is the trunk that an address belongs to, and the name of the target
// there: an in-dialog request may go to a server that is no target itself.
func (u *UserAgent) lineAt(at netip.AddrPort) (*line, string) {
	var near *line
	name := ""
	for _, l := range u.lines {
		l.mu.Lock()
		for _, h := range l.ends {
			if h.transport != "TLS" {
				continue
			}
			if h.addr == at {
				l.mu.Unlock()
				return l, h.target.Host
			}
			if near == nil && h.addr.Addr() == at.Addr() {
				near, name = l, h.target.Host
			}
		}
		l.mu.Unlock()
	}
	if near != nil {
		return near, name
	}
	if l := u.lineOf(at.Addr()); l != nil {
		for _, t := range l.trunk.Targets {
			if t.transport() == "TLS" {
				return l, t.Host
			}
		}
	}
	return nil, ""
}
