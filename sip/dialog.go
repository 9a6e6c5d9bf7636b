package sip

import (
	"crypto/rand"
	"net"
	"net/netip"
	"strconv"
	"strings"

	gosip "github.com/emiago/sipgo/sip"
)

// dialogKey finds a dialog (RFC 3261 section 12): the far end's tag is checked
// by the call itself, so that a wrong one can be told from an unknown call.
type dialogKey struct{ callID, localTag string }

// inviteKey finds an INVITE that came twice over different paths (section 8.2.2.2).
type inviteKey struct {
	callID, remoteTag string
	seq               uint32
}

// dialog is the state of RFC 3261 section 12 that in-dialog requests need.
type dialog struct {
	callID        string
	local, remote gosip.Uri // From and To addresses of our requests
	localTag      string
	remoteTag     string
	localSeq      uint32
	remoteSeq     uint32
	hasRemoteSeq  bool
	target        gosip.Uri   // the far end's Contact
	routes        []gosip.Uri // as our Route headers have them
	auth          *authorizer // for the far end's challenges; never changed
	line          *line       // the trunk it belongs to, nil for none; never changed

	home      netip.Addr     // where our INVITE went to; not valid for an incoming call
	detour    bool           // nobody answers where the route leads: requests go to peer
	transport string         // "UDP", "TCP" or "TLS", what the dialog began over
	secure    bool           // sips: our Contact must be one too (section 12.1.1)
	peer      netip.AddrPort // where the far end's first message came from or ours went
	named     named          // the address of the next hop, when that is a name
	self      netip.Addr     // our address as this far end sees it
	port      uint16         // and our port
}

// newTag is a fresh random tag: 130 bits, far more than section 19.3 asks for,
// so that nobody who has not seen the dialog can speak in it.
func newTag() string { return rand.Text() }

// routeSet reads the Record-Route headers: in order for the called side,
// reversed for the calling one (sections 12.1.1 and 12.1.2).
func routeSet(m gosip.Message, reversed bool) []gosip.Uri {
	var set []gosip.Uri
	for _, h := range m.GetHeaders("record-route") {
		if r, ok := h.(*gosip.RecordRouteHeader); ok {
			set = append(set, *r.Address.Clone())
		}
	}
	if reversed {
		for i, j := 0, len(set)-1; i < j; i, j = i+1, j-1 {
			set[i], set[j] = set[j], set[i]
		}
	}
	return set
}

// retarget takes the Contact of a message that may move the far end (section
// 12.2.1.2). One that we could not call is left alone.
func (d *dialog) retarget(contact *gosip.ContactHeader) bool {
	if contact == nil || contact.Address.Wildcard || contact.Address.Host == "" ||
		contact.Address.Scheme != "sip" && contact.Address.Scheme != "sips" {
		return false
	}
	d.target = *contact.Address.Clone()
	d.target.Headers = nil
	return true
}

// contact is what we put into our messages.
func (d *dialog) contact() *gosip.ContactHeader {
	h := &gosip.ContactHeader{Address: gosip.Uri{Scheme: "sip", User: "parley", Host: uriHost(d.self), Port: int(d.port)}}
	if d.secure {
		h.Address.Scheme = "sips"
	}
	if d.transport != "UDP" {
		h.Address.UriParams = gosip.HeaderParams{{K: "transport", V: strings.ToLower(d.transport)}}
	}
	return h
}

// uriHost writes an address as a URI's host.
func uriHost(a netip.Addr) string {
	if a.Is4() {
		return a.String()
	}
	return "[" + a.String() + "]"
}

// request builds the next request of the dialog. An ACK keeps the INVITE's
// CSeq, which the caller gives; every other method takes a new one.
func (d *dialog) request(method gosip.RequestMethod, ackSeq uint32) *gosip.Request {
	seq := ackSeq
	if method != gosip.ACK {
		d.localSeq++
		seq = d.localSeq
	}
	recipient, routes := d.target, d.routes
	if len(routes) > 0 && !routes[0].UriParams.Has("lr") {
		// A strict router (section 12.2.1.1) wants to be the Request-URI itself.
		recipient = *routes[0].Clone()
		recipient.Headers = nil
		routes = append(append([]gosip.Uri{}, routes[1:]...), d.target)
	}
	req := gosip.NewRequest(method, recipient)
	via := &gosip.ViaHeader{ProtocolName: "SIP", ProtocolVersion: "2.0", Transport: d.transport,
		Host: uriHost(d.self), Port: int(d.port)}
	via.Params.Add("branch", gosip.GenerateBranch())
	via.Params.Add("rport", "")
	req.AppendHeader(via)
	for _, r := range routes {
		req.AppendHeader(&gosip.RouteHeader{Address: r})
	}
	from := &gosip.FromHeader{Address: d.local}
	from.Params.Add("tag", d.localTag)
	to := &gosip.ToHeader{Address: d.remote}
	if d.remoteTag != "" {
		to.Params.Add("tag", d.remoteTag)
	}
	id, forwards := gosip.CallIDHeader(d.callID), gosip.MaxForwardsHeader(70)
	req.AppendHeader(from)
	req.AppendHeader(to)
	req.AppendHeader(&id)
	req.AppendHeader(&gosip.CSeqHeader{SeqNo: seq, MethodName: method})
	req.AppendHeader(&forwards)
	req.AppendHeader(gosip.NewHeader("User-Agent", productName))
	req.SetBody(nil)
	d.auth.sign(req)
	return req
}

// again builds a request of the dialog anew, with the next CSeq and credentials,
// because it was challenged (RFC 3261 section 22.2).
func (d *dialog) again(req *gosip.Request) *gosip.Request {
	next := req.Clone()
	d.localSeq++
	next.CSeq().SeqNo = d.localSeq
	next.Via().Params.Add("branch", gosip.GenerateBranch())
	d.auth.sign(next)
	return next
}

// fromListener has a request leave from the port that we listen on.
func (u *UserAgent) fromListener() gosip.Addr {
	return gosip.Addr{IP: u.udp.LocalAddr().(*net.UDPAddr).IP, Port: int(u.at.Port())}
}

// address makes req go where the dialog's route says: to the first router, or
// to the far end's Contact.
//
// Over TCP the connection the dialog began over is used while it lives and
// leads to the same host: a far end behind an address translator, or one that
// does not listen, can be reached no other way.
func (u *UserAgent) address(d *dialog, req *gosip.Request) {
	hop := d.hop()
	if d.detour || d.forbids(hostAddr(hop.Host), hop.UriParams.GetOr("transport", d.transport)) {
		u.back(d, req)
		return
	}
	transport := strings.ToUpper(hop.UriParams.GetOr("transport", d.transport))
	if hop.Scheme == "sips" {
		transport = "TLS" // RFC 3261 section 26.2.2; d.transport is, for one that we accepted
	}
	if transport != "UDP" && transport != "TCP" && transport != "TLS" {
		transport = d.transport
	}
	req.SetTransport(transport)
	if via := req.Via(); via != nil {
		via.Transport = transport
	}
	host := strings.Trim(hop.Host, "[]")
	port := hop.Port
	if port < 0 || port > 65535 {
		port = 0
	}
	if _, err := netip.ParseAddr(host); port == 0 && err == nil { // a name leads to a port, see numeric
		port = gosip.DefaultPort(transport)
	}
	to := net.JoinHostPort(host, strconv.Itoa(port))
	if transport != "TLS" && to == d.named.to && transport == d.named.transport && d.named.at.IsValid() { // a certificate is for the name
		to, host = d.named.at.String(), d.named.at.Addr().String()
	}
	req.SetDestination(to)
	if transport == "UDP" {
		// From the port we listen on, so that answers and latches find us.
		req.Laddr = u.fromListener()
		return
	}
	if host == d.peer.Addr().String() {
		if conn, err := u.tp.GetConnection(transport, d.peer.String()); err == nil {
			_, _ = conn.TryClose() // looking at it has counted as using it
			req.SetDestination(d.peer.String())
		}
	}
	if transport == "TLS" {
		u.bind(d.line, req) // an ACK is not sent by way of connect
	}
}
