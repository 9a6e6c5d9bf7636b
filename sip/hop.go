package sip

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	gosip "github.com/emiago/sipgo/sip"
)

// named is where a request by name was found to lead.
type named struct {
	to, transport string         // as the request has them; port 0: the URI has none
	at            netip.AddrPort // not valid: not known
	looking       bool           // it is being looked up
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
		for _, a := range []netip.Addr{hostAddr(d.hop().Host), hostAddr(d.target.Host), d.named.at.Addr()} {
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

// resolve looks up where the ACK of a 2xx to a name goes.
func (u *UserAgent) resolve(d *dialog, ack *gosip.Request) named {
	n := named{to: ack.Destination(), transport: ack.Transport()}
	ctx, cancel := context.WithTimeout(context.Background(), firstPatience*u.cfg.T1)
	defer cancel()
	n.at, _ = u.locateHop(ctx, d, n.to, n.transport) // not valid with an error
	return n
}

// locateHop looks up where a request of a dialog goes. Of several servers it is the one
// that the dialog began with, if that is among them: others may not know of it.
func (u *UserAgent) locateHop(ctx context.Context, d *dialog, to, transport string) (netip.AddrPort, error) {
	found, _, err := u.numeric(ctx, to, transport)
	if err != nil {
		return netip.AddrPort{}, err
	}
	if slices.Contains(found, d.peer) {
		return d.peer, nil
	}
	if i := slices.IndexFunc(found, func(a netip.AddrPort) bool { return a.Addr() == d.peer.Addr() }); i >= 0 {
		return found[i], nil
	}
	return found[0], nil
}

// back aims a request at where the far end's messages come from, over what they come over.
func (u *UserAgent) back(d *dialog, req *gosip.Request) {
	req.SetTransport(d.transport)
	if via := req.Via(); via != nil {
		via.Transport = d.transport
	}
	req.SetDestination(d.peer.String())
	req.Laddr = gosip.Addr{}
	switch d.transport {
	case "UDP":
		req.Laddr = u.fromListener()
	case "TLS":
		u.bind(d.line, req)
	}
}

// forbids says whether a request must not go to an address that the far end has named:
// whoever may call us must not have us write to hosts inside of our network. Its own host
// and the trunk's are no such; other private ones are, if the far end is outside, or by a
// stream, which services that are no telephones understand, too.
func (d *dialog) forbids(a netip.Addr, transport string) bool {
	if !a.IsValid() || !inside(a) || a == d.peer.Addr() || a == d.home || d.line != nil && d.line.owns(a) {
		return false
	}
	return !inside(d.peer.Addr()) || !strings.EqualFold(transport, "UDP")
}

// sharedSpace are addresses behind a carrier's translator (RFC 6598).
var sharedSpace = netip.MustParsePrefix("100.64.0.0/10")

// inside says whether an address means something only within a network.
func inside(a netip.Addr) bool {
	return a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || sharedSpace.Contains(a)
}

// vouched says whether a challenge from a host may be answered: it is where our INVITE
// went, or the trunk's. Others could guess the password from the answer.
func (d *dialog) vouched(res *gosip.Response) bool {
	a := source(res).Addr()
	return a.IsValid() && (a == d.home || d.line != nil && d.line.owns(a))
}
