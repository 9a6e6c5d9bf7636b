package sdp

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	psdp "github.com/pion/sdp/v3"

	"parley/media/dtls"
	"parley/media/ice"
)

// DTLS is the handshake on the media's port that brings the keys of SRTP (RFC 5763); zero: there is none.
type DTLS struct {
	Remote dtls.Fingerprint // of the far end's certificate
	Client bool             // we begin
}

// ICE are the credentials of a far end that checks the way to us (RFC 8839); zero: it does not.
type ICE struct{ Local, Remote ice.Credentials }

// reach is what the far end's description says of the way to it, and of a handshake there.
type reach struct {
	fingerprint dtls.Fingerprint
	setup       string
	ice         ice.Credentials
	lite        bool // it checks nothing itself
	candidates  []netip.AddrPort
	mid         string
	bundle      []string // the streams that share a port (RFC 9143)
}

// attribute takes one of the session or, after them, of the stream, which overrides.
func (r *reach) attribute(a psdp.Attribute) {
	switch a.Key {
	case "fingerprint":
		if f, ok := dtls.ParseFingerprint(a.Value); ok {
			r.fingerprint = f
		}
	case "setup":
		r.setup = a.Value
	case "ice-ufrag":
		r.ice.Ufrag = a.Value
	case "ice-pwd":
		r.ice.Password = a.Value
	case "ice-lite":
		r.lite = true
	case "candidate":
		if c, ok := parseCandidate(a.Value); ok {
			r.candidates = append(r.candidates, c)
		}
	case "mid":
		r.mid = a.Value
	case "group":
		if f := strings.Fields(a.Value); len(f) > 0 && f[0] == "BUNDLE" {
			r.bundle = f[1:]
		}
	}
}

// parseCandidate reads the address of a candidate (RFC 8839 section 5.1); false for a name, which we need not know: its checks will
// show where it is.
func parseCandidate(v string) (at netip.AddrPort, ok bool) {
	f := strings.Fields(v)
	if len(f) < 6 {
		return at, false
	}
	addr, err := netip.ParseAddr(f[4])
	port, portErr := strconv.ParseUint(f[5], 10, 16)
	return netip.AddrPortFrom(addr.Unmap(), uint16(port)), err == nil && portErr == nil
}

// discardPort is that of a default address which is none, since the candidates come later (RFC 8840 section 4.1.1).
const discardPort = 9

// checks says whether the far end makes connectivity checks.
func (r *remote) checks() bool { return r.ice.Valid() && !r.lite }

// mismatched says whether somebody on the way has put another address in the place of the far end's: then its candidates mean
// nothing (RFC 8839 section 4.2.5).
func (r *remote) mismatched() bool {
	at := netip.AddrPortFrom(r.addr, r.port)
	return r.checks() && r.addr.IsValid() && r.port != discardPort && len(r.candidates) > 0 && !slices.Contains(r.candidates, at)
}

// reached agrees on how the far end, which has described itself as r, finds us: by checks, where it makes any. A restart of
// theirs gets credentials of its own (RFC 8445 section 9).
func (s *Session) reached(r *remote) ICE {
	was := s.media.ICE
	switch {
	case !r.checks() || r.mismatched(), s.agreed && was == ICE{}:
		return ICE{}
	case was.Remote == r.ice:
		return was
	}
	return ICE{Local: ice.NewCredentials(), Remote: r.ice}
}

// handshake agrees on a handshake, if the far end's description r wants one. One certificate and one port are those of the
// whole call.
func (s *Session) handshake(r *remote) (DTLS, error) {
	wanted, was := r.lines[r.audio].dtls(), s.media.DTLS
	refused := func(why string) (DTLS, error) { return DTLS{}, fmt.Errorf("%w: %s", ErrNotAcceptable, why) }
	switch none := (dtls.Fingerprint{}); {
	case s.agreed && wanted != (was != DTLS{}):
		return refused("the keys of the call come another way")
	case !wanted:
		return DTLS{}, nil
	case s.local.DTLS == none || s.local.SRTP == SRTPOff:
		return refused("encryption is " + SRTPOff.String())
	case r.fingerprint == none:
		return refused("no fingerprint")
	case !r.mux:
		return refused("DTLS without rtcp-mux")
	case s.agreed && was.Remote != r.fingerprint:
		return refused("another fingerprint")
	case s.agreed:
		return was, nil
	}
	return DTLS{Remote: r.fingerprint, Client: r.setup == "passive"}, nil
}

// handshakes says whether our offers want a handshake.
func (s *Session) handshakes() bool {
	if s.agreed {
		return s.media.DTLS != DTLS{}
	}
	return s.local.SRTP == SRTPHandshake && s.local.DTLS != dtls.Fingerprint{}
}

// path is what our description says of the way to us.
type path struct {
	setup      string // who may begin the handshake; empty: there is none
	ice        ICE
	mismatched bool
}

// answered is the path of our answer to r.
func (m Media) answered(r *remote) path {
	p := path{ice: m.ICE, mismatched: r.mismatched()}
	switch {
	case m.DTLS.Client:
		p.setup = "active"
	case m.DTLS != DTLS{}:
		p.setup = "passive"
	}
	return p
}

// offered is the path of a later offer: who began the handshake may not be said again (RFC 8842 section 5.5).
func (m Media) offered() path {
	p := path{ice: m.ICE}
	if m.DTLS != (DTLS{}) {
		p.setup = "actpass"
	}
	return p
}

// sessionAttributes stand before the streams.
func (s *Session) sessionAttributes(p path) (list []psdp.Attribute) {
	if s.bundled {
		list = append(list, psdp.NewAttribute("group", "BUNDLE "+s.mid))
	}
	if p.ice != (ICE{}) {
		list = append(list, psdp.NewPropertyAttribute("ice-lite"))
	}
	return list
}

// pathAttributes stand in our stream. Its only candidate is the address that we are described to be at, for RTCP the port after it unless
// they share one. A name of the track has browsers tell pages that a stream has begun (RFC 8830).
func (s *Session) pathAttributes(p path, mux bool) (list []psdp.Attribute) {
	add := func(key, value string) { list = append(list, psdp.NewAttribute(key, value)) }
	if s.mid != "" {
		add("mid", s.mid)
		add("msid", "parley audio")
	}
	if p.setup != "" {
		add("fingerprint", s.local.DTLS.String())
		add("setup", p.setup)
	}
	if p.mismatched {
		list = append(list, psdp.NewPropertyAttribute("ice-mismatch"))
	}
	if p.ice != (ICE{}) {
		add("ice-ufrag", p.ice.Local.Ufrag)
		add("ice-pwd", p.ice.Local.Password)
		components := 2
		if mux {
			components = 1
		}
		for c := range components { // of the highest priority there is (RFC 8445 section 5.1.2.1)
			add("candidate", fmt.Sprintf("1 %d udp %d %s %d typ host", 1+c, 126<<24|65535<<8|255-c, s.local.Addr, int(s.local.Port)+c))
		}
	}
	return list
}
