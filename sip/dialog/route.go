package dialog

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	gosip "github.com/emiago/sipgo/sip"

	"parley/sip/transport"
)

// Hop is where the next request goes: to the first router, or to the far end itself
// (RFC 3261 section 12.2.1.1).
func (d *Dialog) Hop() *gosip.Uri {
	if len(d.Routes) > 0 {
		return &d.Routes[0].Uri
	}
	return &d.Target.Uri
}

// HostAddr is the address that a URI's host is; not valid for a name, and for what is
// nobody's own.
func HostAddr(host string) netip.Addr {
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	if err != nil || a.IsUnspecified() || a.IsMulticast() {
		return netip.Addr{}
	}
	return a.Unmap()
}

// Hosts are the hosts that the far end has named, its own and that of the first router,
// besides where its messages come from.
func (d *Dialog) Hosts() (list []netip.Addr) {
	if d.Transport == transport.OverWebSocket {
		return nil // it has one connection
	}
	for _, a := range []netip.Addr{HostAddr(d.Hop().Host), HostAddr(d.Target.Host), d.Named.At.Addr()} {
		if a.IsValid() && a != d.Peer.Addr() {
			list = append(list, a)
		}
	}
	return list
}

// aim makes req go where the dialog's route says: to the first router, or
// to the far end's Contact.
//
// Over TCP the connection the dialog began over is used while it lives and
// leads to the same host: a far end behind an address translator, or one that
// does not listen, can be reached no other way.
func (d *Dialog) aim(req *gosip.Request) {
	if d.AimsAtPeer() {
		d.AimAtPeer(req)
		return
	}
	hop := d.Hop()
	over := strings.ToUpper(hop.UriParams.GetOr("transport", d.Transport))
	if hop.Scheme == "sips" {
		over = "TLS" // RFC 3261 section 26.2.2; d.Transport is, for one that we accepted
	}
	if over != "UDP" && over != "TCP" && over != "TLS" {
		over = d.Transport
	}
	host := strings.Trim(hop.Host, "[]")
	port := hop.Port
	if port < 0 || port > 65535 {
		port = 0
	}
	if _, err := netip.ParseAddr(host); port == 0 && err == nil { // a name leads to a port, see transport.Layer.Locate
		port = gosip.DefaultPort(over)
	}
	to := net.JoinHostPort(host, strconv.Itoa(port))
	if over != "TLS" && to == d.Named.To && over == d.Named.Transport && d.Named.At.IsValid() { // a certificate is for the name
		to, host = d.Named.At.String(), d.Named.At.Addr().String()
	}
	if over != "UDP" && host == d.Peer.Addr().String() && d.Layer.Connected(d.By, over, d.Peer.String()) {
		to = d.Peer.String()
	}
	d.Layer.Aim(d.By, req, over, to)
}

// AimsAtPeer says whether requests go to where the far end's messages come from, because its route
// leads nowhere or to a host that is forbidden: it is behind an address translator, or a browser (RFC 7118 section 5).
func (d *Dialog) AimsAtPeer() bool {
	hop := d.Hop()
	return d.Detour || d.Transport == transport.OverWebSocket || d.Forbids(HostAddr(hop.Host), hop.UriParams.GetOr("transport", d.Transport))
}

// AimAtPeer makes a request go where the far end's messages come from, over what they come over.
func (d *Dialog) AimAtPeer(req *gosip.Request) { d.Layer.Aim(d.By, req, d.Transport, d.Peer.String()) }

// Resolve looks up where the ACK of a 2xx to a name goes.
func (d *Dialog) Resolve(ack *gosip.Request) Named {
	n := Named{To: ack.Destination(), Transport: ack.Transport()}
	ctx, cancel := context.WithTimeout(context.Background(), lookupPatience*d.T1)
	defer cancel()
	n.At, _ = d.locate(ctx, n.To, n.Transport) // not valid with an error
	return n
}

// lookupPatience is how long, in T1, the name that an ACK is for may take: 4 s.
const lookupPatience = 8

// locate looks up where a request of a dialog goes. Of several servers it is the one
// that the dialog began with, if that is among them: others may not know of it.
func (d *Dialog) locate(ctx context.Context, to, over string) (netip.AddrPort, error) {
	found, _, err := d.Layer.LocateHop(ctx, to, over)
	if err != nil {
		return netip.AddrPort{}, err
	}
	if slices.Contains(found, d.Peer) {
		return d.Peer, nil
	}
	if i := slices.IndexFunc(found, func(a netip.AddrPort) bool { return a.Addr() == d.Peer.Addr() }); i >= 0 {
		return found[i], nil
	}
	return found[0], nil
}

// Forbids says whether a request must not go to an address that the far end has named, over a
// transport: an allowed caller must not make us send to hosts inside our network. Its own host and the trunk's are no such; other private ones are, if the far end is
// outside, or by a stream, which services that are no telephones understand, too.
func (d *Dialog) Forbids(a netip.Addr, over string) bool {
	if !a.IsValid() || !Inside(a) || a == d.Peer.Addr() || a == d.Home || d.owns(a) {
		return false
	}
	return !Inside(d.Peer.Addr()) || !strings.EqualFold(over, "UDP")
}

func (d *Dialog) owns(a netip.Addr) bool { return d.Owns != nil && d.Owns(a) }

// sharedSpace are addresses behind a carrier's translator (RFC 6598).
var sharedSpace = netip.MustParsePrefix("100.64.0.0/10")

// Inside says whether an address means something only within a network.
func Inside(a netip.Addr) bool {
	return a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || sharedSpace.Contains(a)
}

// vouched says whether a challenge from a host may be answered: it is where our INVITE
// went, or the trunk's. Others could guess the password from the answer.
func (d *Dialog) vouched(res *gosip.Response) bool {
	a := transport.Source(res).Addr()
	return a.IsValid() && (a == d.Home || d.owns(a))
}
