package mediasession

import (
	"net"
	"net/netip"
	"sync/atomic"

	"parley/media/dtls"
	"parley/media/ice"
	"parley/media/srtp"
	"parley/sip/rtpport"
	"parley/sip/sdp"
)

// path is what comes to the ports of a call besides media: the far end's connectivity checks, and the handshake that brings
// the keys. It is the rtp.Path of the call's stream. Until there is one, a Proof reads for it. It belongs to the call's goroutine,
// but for what implements rtp.Path.
type path struct {
	conn  *net.UDPConn
	agent *ice.Agent // nil: the far end makes no checks
	// control are those of the port of RTCP, where it has one.
	control     *ice.Agent
	controlConn *net.UDPConn
	from        []netip.Addr
	shake       atomic.Pointer[dtls.Handshake] // nil: there is none, or it has not begun
	far         atomic.Pointer[netip.AddrPort] // where the far end is, as far as is known
}

func newPath(pair *rtpport.Pair, peer Peer, m sdp.Media) *path {
	p := &path{conn: pair.RTP, controlConn: pair.RTCP, from: []netip.Addr{m.Remote.Addr(), peer.Addr}}
	if m.ICE != (sdp.ICE{}) {
		p.agent, p.control = ice.New(m.ICE.Local, m.ICE.Remote), ice.New(m.ICE.Local, m.ICE.Remote)
	}
	at := peer.Reach(m.Remote)
	p.far.Store(&at)
	return p
}

// begin begins the handshake; done gets its keys, on another goroutine.
func (p *path) begin(id *dtls.Identity, d sdp.DTLS, done func(srtp.Keys, error)) {
	p.shake.Store(id.Start(dtls.Config{Remote: d.Remote, Client: d.Client, Send: p.send, Done: done}))
}

// send sends a datagram of the handshake. Nothing goes out before the far end has shown where it is.
func (p *path) send(b []byte) {
	if at := *p.far.Load(); at.IsValid() {
		_, _ = p.conn.WriteToUDPAddrPort(b, at)
	}
}

// change follows a later offer.
func (p *path) change(m sdp.Media) {
	if p != nil && p.agent != nil && m.ICE != (sdp.ICE{}) {
		p.agent.Restart(m.ICE.Local, m.ICE.Remote)
		p.control.Restart(m.ICE.Local, m.ICE.Remote)
	}
}

// address is where the far end is.
func (p *path) address() netip.AddrPort { return *p.far.Load() }

// Checked implements rtp.Path.
func (p *path) Checked() bool { return p.agent != nil }

// Passed implements rtp.Path.
func (p *path) Passed(from netip.AddrPort) bool { return p.agent.Passed(from) }

// Receive implements rtp.Path. The first byte tells what it is (RFC 7983 section 7).
func (p *path) Receive(b []byte, from netip.AddrPort) netip.AddrPort {
	from = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
	switch {
	case len(b) == 0:
	case b[0] < 4:
		p.check(b, from)
	case b[0] >= 20 && b[0] < 64:
		p.handshake(b, from)
	}
	if p.agent == nil {
		return netip.AddrPort{}
	}
	return p.agent.Address()
}

// ReceiveControl implements rtp.Path.
func (p *path) ReceiveControl(b []byte, from netip.AddrPort) netip.AddrPort {
	if p.control == nil {
		return netip.AddrPort{}
	}
	from = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
	if res := p.control.Check(b, from); res != nil {
		_, _ = p.controlConn.WriteToUDPAddrPort(res, from)
	}
	return p.control.Address()
}

// check answers a connectivity check.
func (p *path) check(b []byte, from netip.AddrPort) {
	if p.agent == nil {
		return
	}
	if res := p.agent.Check(b, from); res != nil {
		_, _ = p.conn.WriteToUDPAddrPort(res, from)
		at := p.agent.Address()
		p.far.Store(&at)
	}
}

// handshake takes a datagram of the handshake from where the far end is: by its checks, or else from a host that signalling
// vouches for, whose translator may have given it another port.
func (p *path) handshake(b []byte, from netip.AddrPort) {
	shake := p.shake.Load()
	switch {
	case shake == nil:
		return
	case p.agent != nil:
		if !p.agent.Passed(from) {
			return
		}
	case from.Addr() != p.from[0] && from.Addr() != p.from[1]:
		return
	default:
		p.far.Store(&from)
	}
	shake.Receive(b)
}

// close ends the handshake. nil has none.
func (p *path) close() {
	if p == nil {
		return
	}
	if shake := p.shake.Load(); shake != nil {
		shake.Close()
	}
}
