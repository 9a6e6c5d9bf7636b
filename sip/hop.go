package sip

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"

	gosip "github.com/emiago/sipgo/sip"
)

// named is a host of a dialog and the address that it was found to have.
type named struct {
	host string
	addr netip.Addr
}

// hop is where the next request goes: to the first router, or to the far end itself
// (RFC 3261 section 12.2.1.1).
func (d *dialog) hop() *gosip.Uri {
	if len(d.routes) > 0 {
		return &d.routes[0]
	}
	return &d.target
}

// hostAddr is the address that a URI's host is; not valid for a name, and for what is
// nobody's own.
func hostAddr(host string) netip.Addr {
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	if err != nil || a.IsUnspecified() || a.IsMulticast() {
		return netip.Addr{}
	}
	return a.Unmap()
}

// listen has the user agent hear the hosts that the far end has named, its own and that of
// the first router: what comes in the call may come from there, and what answers our
// requests does. It ends with the call.
func (c *call) listen() {
	var want []netip.Addr
	from := func(d *dialog) {
		for _, a := range []netip.Addr{hostAddr(d.hop().Host), hostAddr(d.target.Host), d.named.addr} {
			if a.IsValid() && a != d.peer.Addr() && !slices.Contains(want, a) {
				want = append(want, a)
			}
		}
	}
	if c.state != over {
		from(&c.dialog)
	}
	if c.state == calling {
		for _, f := range c.forks {
			from(&f.dialog)
		}
	}
	for _, a := range want {
		if !slices.Contains(c.heard, a) {
			c.ua.expect(a)
		}
	}
	for _, a := range c.heard {
		if !slices.Contains(want, a) {
			c.ua.forget(a)
		}
	}
	c.heard = want
}

// resolve looks up the host to which the ACK of a 2xx goes, when that is a name: on the
// goroutine of whoever dials, since the call's does not wait for DNS. Of several addresses
// the one that the INVITE went to is it, if it is among them.
func (u *UserAgent) resolve(ctx context.Context, res *gosip.Response, peer netip.AddrPort) (n named) {
	var d dialog
	d.routes = routeSet(res, true)
	d.retarget(res.Contact())
	host := strings.Trim(d.hop().Host, "[]")
	if _, err := netip.ParseAddr(host); err == nil || host == "" {
		return n
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), firstPatience*u.cfg.T1)
	defer cancel()
	found, err := u.addresses(ctx, host, peer.Port())
	switch {
	case err != nil:
		return n
	case slices.ContainsFunc(found, func(a netip.AddrPort) bool { return a.Addr() == peer.Addr() }):
		return named{host, peer.Addr()}
	}
	return named{host, found[0].Addr()}
}

// nearby has a request that is sent without waiting for DNS go where others of the call
// went, if its own destination is a name.
func nearby(req *gosip.Request, d *dialog, other string) {
	host, port, err := net.SplitHostPort(req.Destination())
	if err != nil {
		return
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return
	}
	if host == d.named.host {
		req.SetDestination(net.JoinHostPort(d.named.addr.String(), port))
		return
	}
	req.SetDestination(other)
}
