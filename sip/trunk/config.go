// Package trunk is the lines to carriers and exchanges: their settings (config.go), where their
// servers are and how they do (trunk.go, health.go), the registration with them
// (registration.go), and what of their channels and calls a second is reserved (capacity.go).
//
// A Set holds all trunks of a user agent, finds the trunk of a call, and is the directory of
// its transport.
//
// How it writes numbers, and which of its users are extensions, is its DialPlan (numbers.go).
//
// A trunk is a list of servers, tried in order. Names are resolved beforehand and kept, so no
// call waits for DNS. A server that says nothing for 4 s, or cannot take calls to three numbers
// in a row, is left alone until it answers OPTIONS, or for as long as it asks for (Retry-After,
// ten minutes at most); what it cannot do for one number may be that callee's network. An answer
// (busy, no such number) ends the search. A trunk none of whose targets answers comes after
// those that have one.
package trunk

import (
	"cmp"
	"crypto/tls"
	"net/netip"
	"slices"
	"strings"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media/codec"
	"parley/sip/dialog"
	"parley/sip/sdp"
)

// Config is the settings of a Trunk, a line to a carrier or an exchange: where its calls go, where they
// come from, and what it wants in them. Every field but Name may stay zero.
type Config struct {
	Name string // unique
	// Account is whose trunk it is: it carries the calls from numbers that the account has put on it, and brings calls to its
	// numbers and extensions alone. Empty: the operator's.
	Account string
	// Revision is another one whenever the settings have changed, see Set.Replace.
	Revision int64

	// Targets are where calls go, the preferred one first. None: the trunk only
	// brings calls.
	Targets []Target
	// Proxy is where what goes to the targets goes first, by a Route header (RFC 3261 sections 8.1.2 and 12.2.1.1). The zero
	// Target: nowhere else.
	Proxy Target
	// Auth are our credentials, for whatever the trunk challenges.
	Auth dialog.Credentials
	// Inbound are what incoming calls must show (407). Zero: the source is enough.
	Inbound dialog.Credentials
	// Allow are the sources of its calls. A trunk that we register with may call
	// from its targets too.
	Allow []netip.Prefix
	// Numbers that belong to an operator's trunk, in E.164: calls from them go out on it. A
	// registered trunk with one number rings that one.
	Numbers []string
	Plan    DialPlan // how it writes numbers

	Flags Flags // how the trunk differs from most

	PublicIP    netip.Addr // what Via, Contact and descriptions show in place of our address; not valid: nothing else
	ContactHost string     // in Contact in place of our address, or of PublicIP

	Codecs []codec.Codec // in order; empty: those of calls that belong to no trunk
	SRTP   sdp.Policy    // protection of the audio; of browsers' trunks SRTPOffered at least

	FromUser string // in From instead of the calling number
	FromHost string // in From and the identity headers instead of our address
	// Headers go into every INVITE. Only X- headers.
	Headers map[string]string

	// Limits of the trunk, which those who use it share: see Set.Share.
	CPS      int // calls a second that we begin; 0: no limit
	Channels int // calls at once, incoming ones counted; 0: no limit

	// Guard says why an address that a target leads to must not be called; nil: any may be. It must not block.
	Guard func(host string, at netip.AddrPort) error

	TLS *tls.Config // of outgoing connections: CA, certificate, server name; nil: the system's
}

// Flags are what a trunk does otherwise than most. Several are joined by |.
type Flags uint16

// The flags.
const (
	// Register keeps a registration with the targets (RFC 3261 section 10).
	Register Flags = 1 << iota
	// NoProbe sends no OPTIONS: targets count as up.
	NoProbe
	// DistrustIdentity ignores what the trunk says of who calls: P-Asserted-Identity,
	// verstat and the attestation. For exchanges that pass on what their users write.
	DistrustIdentity
	// VouchedMedia takes audio only from where signalling says that it comes from: the
	// address of the description, the signalling's source, and Allow.
	VouchedMedia
	// PAI sends P-Asserted-Identity (RFC 3325): the trunk trusts us.
	PAI
	// PPI sends P-Preferred-Identity.
	PPI
	// Private sends Privacy: id in every call (RFC 3323).
	Private
	// UserPhone marks numbers with user=phone (RFC 3261 section 19.1.1).
	UserPhone
	// Diverts shows callees of transfers the caller's number, and the account's as the one that sends the call on
	// (Diversion, RFC 5806, and History-Info, RFC 7044): the trunk carries calls from numbers that are not ours.
	Diverts
	// NoPRACK leaves 100rel (RFC 3262) out of Supported.
	NoPRACK
	// Refer asks the far end to transfer calls (REFER): the transferred call is then between
	// it and its callee, and is charged to the trunk. Calls that come in may be redirected (302) likewise.
	Refer
	// ReferTel names transfer targets by tel: URIs instead of sip: ones.
	ReferTel
	// LargeTCP sends INVITEs that would not fit a datagram (RFC 3261 section
	// 18.1.1) over TCP, to the same target.
	LargeTCP
	// AudioKeys neither offers nor takes telephone events (RFC 4733): keys are tones in the audio, both ways. For far ends that
	// agree on events and lose them.
	AudioKeys
	// WebSocket takes calls of browsers over WebSockets (RFC 7118), wherever they come from, which show Inbound.
	WebSocket
)

// Has says whether any of flags is set.
func (c *Config) Has(flags Flags) bool { return c.Flags&flags != 0 }

// Hops are where requests go first.
func (c *Config) Hops() []Target {
	if c.Proxy.Host != "" {
		return []Target{c.Proxy}
	}
	return c.Targets
}

// Routes are the route set of requests outside of dialogs.
func (c *Config) Routes() []dialog.URI {
	if c.Proxy.Host == "" {
		return nil
	}
	u := c.Proxy.URI("")
	u.UriParams = append(u.UriParams, gosip.HeaderKV{K: "lr"})
	return []dialog.URI{{Uri: u}}
}

// Target is one place that takes a trunk's calls.
type Target struct {
	Host string // a name or an address
	// Port 0 finds the servers of a name by SRV records (RFC 3263), and falls
	// back to the name's addresses and the transport's usual port.
	Port      uint16
	Transport string // udp, tcp or tls; empty: udp
}

// Leads says whether one of the targets is the server that an address names. A port of 0, and a transport that is empty, are any.
func (c *Config) Leads(to Target) bool {
	return slices.ContainsFunc(c.Targets, func(t Target) bool { return t.is(to) })
}

// is says whether the target is the server that an address names; the zero Target names all.
func (t Target) is(to Target) bool {
	port := t.Port
	if port == 0 {
		port = uint16(gosip.DefaultPort(t.Over()))
	}
	return to.Host == "" || strings.EqualFold(strings.Trim(t.Host, "[]"), strings.Trim(to.Host, "[]")) &&
		(to.Port == 0 || to.Port == port) && (to.Transport == "" || to.Over() == t.Over())
}

// URI is the target with a user; an empty one is left out.
func (t Target) URI(user string) gosip.Uri {
	u := gosip.Uri{Scheme: "sip", User: user, Host: Bracketed(t.Host), Port: int(t.Port)}
	if tp := t.Over(); tp != "UDP" {
		u.UriParams = gosip.HeaderParams{{K: "transport", V: strings.ToLower(tp)}}
	}
	return u
}

// Over is the target's transport in capitals, with its default.
func (t Target) Over() string { return strings.ToUpper(cmp.Or(t.Transport, "udp")) }

// Bracketed is a host as URIs have it: IPv6 addresses stand in brackets.
func Bracketed(host string) string {
	if a, err := netip.ParseAddr(host); err == nil && a.Is6() {
		return "[" + host + "]"
	}
	return host
}
