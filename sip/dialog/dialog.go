// Package dialog is the state of a SIP dialog (RFC 3261 section 12), the requests in it, and
// where they go.
//
// A State is a value: it can be stored, as JSON too, and a Dialog with it and the Far of
// another process goes on with the next CSeq, the same tags and route set. Owner.Do sends a
// request and waits for its final response: it answers challenges, and without an answer at
// the far end's Contact, it sends to where the far end's messages come from.
//
// Names are looked up by our own resolver and not on a call's goroutine. A request that has no answer
// for 2 s where the route leads goes to where the far end's messages come from; so does what
// would lead to a private address that is neither the far end's nor the trunk's. Challenges are
// answered only to where our INVITE went and to the trunk's hosts.
//
// Read dialog.go first, then route.go (which host a request goes to, and which it must not go
// to) and do.go. auth.go answers digest challenges, order.go has the far end's requests wait for each other.
package dialog

import (
	"cmp"
	"crypto/rand"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/sip/transport"
)

// Product is what Server and User-Agent say. It carries no version: that
// helps only those who look for old ones.
const Product = "Parley"

// ErrOver says that the dialog was over before what was asked for could be done.
var ErrOver = errors.New("sip: the call is over")

// URI is a URI that is stored as its text.
type URI struct{ gosip.Uri }

// MarshalText implements encoding.TextMarshaler.
func (u URI) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (u *URI) UnmarshalText(text []byte) error { return gosip.ParseUri(string(text), &u.Uri) }

// State is what a dialog is made of, without what its process adds.
type State struct {
	CallID        string
	LocalTag      string
	RemoteTag     string // empty until the far end has answered
	Local, Remote URI    // From and To addresses of our requests
	LocalSeq      uint32 // of our latest request
	RemoteSeq     uint32 // of the far end's latest request
	HasRemoteSeq  bool
	Target        URI   // the far end's Contact
	Routes        []URI // as our Route headers have them
	Secure        bool  // sips: our Contact must be one too (section 12.1.1)
	Replaceable   bool  // the far end, which we called, takes another call in place of this one (RFC 3891)

	Transport string         // "UDP", "TCP", "TLS" or transport.OverWebSocket, what the dialog began over
	Self      netip.AddrPort // our address as this far end sees it
	Home      netip.Addr     // where our INVITE went to; not valid for an incoming call
	Peer      netip.AddrPort // where the far end's latest message came from or ours went
	Detour    bool           // no answer comes from where the route leads: requests go to Peer
	Named     Named          // the address of the next hop, when that is a name
}

// Named is where a request by name was found to lead.
type Named struct {
	To, Transport string         // as the request has them; port 0: the URI has none
	At            netip.AddrPort // not valid: not known
}

// Far is what a process adds to a State: how the far end is reached, and what is known of it.
// It never changes.
type Far struct {
	Layer *transport.Layer
	Auth  *Authorizer // for the far end's challenges; nil: none
	T1    time.Duration

	By   *transport.Identity   // of the trunk that the dialog belongs to; nil: none
	Owns func(netip.Addr) bool // the trunk's hosts; nil: none

	ContactHost string // of our Contact; empty: State.Self
}

// Dialog is a dialog at work. It belongs to one goroutine; see Owner for the others.
type Dialog struct {
	State
	Far
}

// NewTag is a fresh random tag: 130 bits, far more than section 19.3 asks for,
// so that a stranger to the dialog cannot speak in it.
func NewTag() string { return rand.Text() }

// RouteSet reads the Record-Route headers: in order for the called side,
// reversed for the calling one (sections 12.1.1 and 12.1.2).
func RouteSet(m gosip.Message, reversed bool) []URI {
	var set []URI
	for _, h := range m.GetHeaders("record-route") {
		if r, ok := h.(*gosip.RecordRouteHeader); ok {
			set = append(set, URI{*r.Address.Clone()})
		}
	}
	if reversed {
		slices.Reverse(set)
	}
	return set
}

// Join completes the dialog of an INVITE of ours with a response to it (section 12.1.2).
func (d *Dialog) Join(res *gosip.Response) {
	d.RemoteTag = res.To().Params.GetOr("tag", "")
	d.Routes = RouteSet(res, true)
	d.Replaceable = Listed(res, "replaces", "supported", "k")
	d.Retarget(res.Contact())
}

// Retarget takes the Contact of a message that may move the far end (section
// 12.2.1.2). One that we could not call is left alone.
func (d *Dialog) Retarget(contact *gosip.ContactHeader) bool {
	if contact == nil || contact.Address.Wildcard || contact.Address.Host == "" ||
		contact.Address.Scheme != "sip" && contact.Address.Scheme != "sips" {
		return false
	}
	d.Target = URI{*contact.Address.Clone()}
	d.Target.Headers = nil
	return true
}

// Contact is what we put into our messages.
func (d *Dialog) Contact() *gosip.ContactHeader {
	h := &gosip.ContactHeader{Address: gosip.Uri{Scheme: "sip", User: "parley", Host: cmp.Or(d.ContactHost, URIHost(d.Self.Addr())), Port: int(d.Self.Port())}}
	if d.Secure {
		h.Address.Scheme = "sips"
	}
	if d.Transport != "UDP" {
		h.Address.UriParams = gosip.HeaderParams{{K: "transport", V: strings.ToLower(d.Transport)}}
	}
	return h
}

// URIHost writes an address as a URI's host.
func URIHost(a netip.Addr) string {
	if a.Is4() {
		return a.String()
	}
	return "[" + a.String() + "]"
}

// Request builds the next request of the dialog, other than ACK, with a new CSeq, and aims it
// where the dialog's route says.
func (d *Dialog) Request(method gosip.RequestMethod, headers ...gosip.Header) *gosip.Request {
	d.LocalSeq++
	return d.build(method, d.LocalSeq, headers)
}

// ACK builds the ACK of a 2xx, which has the INVITE's CSeq and its credentials, if the INVITE
// is known (section 13.2.2.4).
func (d *Dialog) ACK(seq uint32, invite *gosip.Request) *gosip.Request {
	req := d.build(gosip.ACK, seq, nil)
	if invite != nil {
		for _, names := range authHeaders {
			gosip.CopyHeaders(names.answer, invite, req)
		}
	}
	return req
}

func (d *Dialog) build(method gosip.RequestMethod, seq uint32, headers []gosip.Header) *gosip.Request {
	recipient, routes := d.Target, d.Routes
	if len(routes) > 0 && !routes[0].UriParams.Has("lr") {
		// A strict router (section 12.2.1.1) wants to be the Request-URI itself.
		recipient = URI{*routes[0].Clone()}
		recipient.Headers = nil
		routes = append(append([]URI{}, routes[1:]...), d.Target)
	}
	req := gosip.NewRequest(method, recipient.Uri)
	via := &gosip.ViaHeader{ProtocolName: "SIP", ProtocolVersion: "2.0", Transport: d.Transport,
		Host: URIHost(d.Self.Addr()), Port: int(d.Self.Port())}
	via.Params.Add("branch", gosip.GenerateBranch())
	via.Params.Add("rport", "")
	req.AppendHeader(via)
	for _, r := range routes {
		req.AppendHeader(&gosip.RouteHeader{Address: r.Uri})
	}
	from := &gosip.FromHeader{Address: d.Local.Uri}
	from.Params.Add("tag", d.LocalTag)
	to := &gosip.ToHeader{Address: d.Remote.Uri}
	if d.RemoteTag != "" {
		to.Params.Add("tag", d.RemoteTag)
	}
	id, forwards := gosip.CallIDHeader(d.CallID), gosip.MaxForwardsHeader(70)
	req.AppendHeader(from)
	req.AppendHeader(to)
	req.AppendHeader(&id)
	req.AppendHeader(&gosip.CSeqHeader{SeqNo: seq, MethodName: method})
	req.AppendHeader(&forwards)
	req.AppendHeader(gosip.NewHeader("User-Agent", Product))
	req.SetBody(nil)
	d.Auth.Sign(req)
	for _, h := range headers {
		req.AppendHeader(h)
	}
	if d.Layer != nil {
		d.aim(req)
	}
	return req
}

// Again builds a request of the dialog anew, with the next CSeq and credentials,
// because it was challenged (RFC 3261 section 22.2).
func (d *Dialog) Again(req *gosip.Request) *gosip.Request {
	next := req.Clone()
	d.LocalSeq++
	next.CSeq().SeqNo = d.LocalSeq
	next.Via().Params.Add("branch", gosip.GenerateBranch())
	d.Auth.Sign(next)
	return next
}
