package sdp

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	psdp "github.com/pion/sdp/v3"

	"parley/media/codec"
	"parley/media/dtls"
	"parley/media/ice"
	"parley/media/srtp"
)

// Local is what a Session says about our side.
type Local struct {
	Addr netip.Addr // what c= tells the far end
	Port uint16     // of RTP; RTCP is on the next one
	ID   uint64     // of the session in o=; below 2^62, see RFC 8866 section 5.2
	// Origin is the address in o=, which stays that of a call's first description; not valid: Addr.
	Origin netip.Addr
	// Codecs we can speak, the best first: that is their order in our offers, and decides which of an offer is
	// taken. Empty: codec.Default, and the far end's order decides.
	Codecs []codec.Codec
	SRTP   Policy
	DTLS   dtls.Fingerprint // of our certificate; zero: no handshakes
	// NoEvents leaves telephone events out, though the far end can.
	NoEvents bool
}

// Session is our side of one call's negotiation. It belongs to one goroutine.
type Session struct {
	local   Local
	version uint64
	last    string // what we described last, without its version
	agreed  bool
	media   Media // in force, valid when agreed
	lines   []mediaLine
	offered *offer // our offer that waits for its answer

	mid     string // what the far end calls the stream; empty: nothing
	bundled bool   // with others, which we refuse
}

type offer struct {
	dir   Direction
	lines []mediaLine
	mux   bool
	keys  []crypto
	path  path
}

// New returns a session that has not agreed on anything yet.
func New(local Local) *Session {
	return &Session{local: local}
}

// Media is what is in force; ok is false before the first agreement.
func (s *Session) Media() (m Media, ok bool) { return s.media, s.agreed }

// Answer answers the far end's offer. On an error nothing has changed and what
// was in force stays so: the offer is to be refused as a whole (488, or 400
// when it is malformed).
//
// Comfort noise is agreed on where the far end offers it, and not offered by us: who suppresses silence cuts the beginnings of
// words off, which a recogniser misses.
//
// The codec is the first of the offer that we speak or, where Local.Codecs says which, the first of those that
// the offer has. A call under way keeps its codec while the offer has it.
func (s *Session) Answer(body []byte) (answer []byte, m Media, err error) {
	r, err := parse(body, s.local.SRTP)
	if err != nil {
		return nil, Media{}, err
	}
	m, err = s.agree(r, s.local.Codecs)
	if err != nil {
		return nil, Media{}, err
	}
	keys, tag, err := s.secure(r)
	if err != nil {
		return nil, Media{}, err
	}
	m.Keys = keys
	if m.DTLS, err = s.handshake(r); err != nil {
		return nil, Media{}, err
	}
	m.ICE, m.Direction = s.reached(r), r.dir.Reverse()
	s.mid, s.bundled = r.mid, r.mid != "" && slices.Contains(r.bundle, r.mid)

	lines := slices.Clone(r.lines)
	for i := range lines {
		if i != r.audio {
			lines[i].port = "0"
		}
	}
	lines[r.audio].formats = m.payloads().formats()
	lines[r.audio].port = strconv.Itoa(int(s.local.Port))
	var cryptos []crypto
	if keys.Suite != srtp.None {
		cryptos = []crypto{{tag, keys.Suite, keys.Send}}
	}
	answer, err = s.describe(lines, r.audio, section{m.payloads(), m.Direction, m.Mux, cryptos, m.answered(r)})
	if err != nil {
		return nil, Media{}, err
	}
	s.offered, s.lines = nil, lines
	s.media, s.agreed = m, true
	return answer, m, nil
}

// Offer describes what we want: our codecs, telephone events and both directions; in a call
// under way, what is in force. It waits for Accept; until then that stays.
func (s *Session) Offer() ([]byte, error) {
	if s.agreed { // RFC 3264 section 8.3: it keeps its numbers
		return s.offer(s.media.Direction, s.media.payloads())
	}
	p := payloads{codecs: s.spoken()}
	p.complete(!s.local.NoEvents)
	return s.offer(SendRecv, p)
}

// OfferAll is Offer with all that we can, what is in force first: what a far end gets that
// asks for our offer (RFC 3261 section 14.2), maybe on behalf of another party.
func (s *Session) OfferAll() ([]byte, error) {
	if !s.agreed {
		return s.Offer()
	}
	p := s.media.payloads()
	for _, c := range s.spoken() {
		if c != s.media.Codec {
			p.codecs = append(p.codecs, c)
		}
	}
	p.complete(!s.local.NoEvents)
	return s.offer(SendRecv, p)
}

// Speaks says whether a call may come to have a codec.
func (s *Session) Speaks(c codec.Codec) bool { return slices.Contains(s.spoken(), c) }

// spoken are our codecs, the best first.
func (s *Session) spoken() []codec.Codec {
	if len(s.local.Codecs) == 0 {
		return codec.Default()
	}
	return s.local.Codecs
}

func (s *Session) offer(dir Direction, p payloads) ([]byte, error) {
	mux := s.agreed && s.media.Mux || !s.agreed && s.handshakes()
	audio := mediaLine{media: "audio", port: strconv.Itoa(int(s.local.Port)), proto: "RTP/AVP", formats: p.formats()}
	keys := s.offerKeys()
	way := path{}
	switch {
	case s.agreed:
		way = s.media.offered()
	case s.handshakes():
		way = path{setup: "actpass", ice: ICE{Local: ice.NewCredentials()}}
		s.mid, s.bundled = "0", true // browsers want a name for each stream (RFC 8829 section 5.2.1)
		audio.proto = "UDP/TLS/RTP/SAVPF"
	case s.local.SRTP >= SRTPRequired:
		audio.proto = "RTP/SAVP"
	}
	lines, at := []mediaLine{audio}, 0
	if len(s.lines) > 0 {
		// A later offer keeps every line that there ever was (RFC 3264 section 8).
		lines = slices.Clone(s.lines)
		at = slices.IndexFunc(lines, func(l mediaLine) bool { return l.port != "0" })
		if s.agreed && (len(keys) > 0 || way.setup != "") {
			audio.proto = lines[at].proto
		}
		lines[at] = audio
	}
	body, err := s.describe(lines, at, section{p, dir, mux, keys, way})
	if err != nil {
		return nil, err
	}
	s.offered = &offer{dir: dir, lines: lines, mux: mux, keys: keys, path: way}
	return body, nil
}

// errNoOffer is a mistake of the caller's, not of the far end's.
var errNoOffer = errors.New("an answer without an offer of ours")

// Accept takes the answer to our last Offer. The offer is over either way; on
// an error what was in force stays.
func (s *Session) Accept(body []byte) (Media, error) {
	o := s.offered
	s.offered = nil
	if o == nil {
		return Media{}, errNoOffer
	}
	r, err := parse(body, s.local.SRTP)
	if err != nil {
		return Media{}, err
	}
	m, err := s.agree(r, nil)
	if err != nil {
		return Media{}, err
	}
	if r.lines[r.audio].dtls() != (o.path.setup != "") {
		return Media{}, fmt.Errorf("%w: the answer has another kind of keys than the offer", ErrNotAcceptable)
	}
	if m.DTLS, err = s.handshake(r); err != nil {
		return Media{}, err
	}
	if m.Keys, err = s.accepted(r, o.keys); err != nil {
		return Media{}, err
	}
	if m.ICE = s.media.ICE; !s.agreed && o.path.ice != (ICE{}) && r.checks() && !r.mismatched() {
		m.ICE = ICE{Local: o.path.ice.Local, Remote: r.ice}
	}
	if m.Mux && !o.mux {
		m.Mux = false // we did not offer it
		m.RTCP = next(m.Remote)
	}
	m.Direction = r.dir.Reverse() & o.dir
	s.lines = o.lines
	s.media, s.agreed = m, true
	return m, nil
}

// Reject forgets our last Offer: the far end refused it.
func (s *Session) Reject() { s.offered = nil }

// agree finds what r and we have in common, of which the first in order is taken, or in r's where there
// is none. The direction is left open.
func (s *Session) agree(r *remote, order []codec.Codec) (Media, error) {
	ours := slices.DeleteFunc(slices.Clone(r.codecs), func(c codec.Codec) bool { return !s.Speaks(c) })
	if r.audio < 0 || len(ours) == 0 {
		return Media{}, ErrNotAcceptable
	}
	m := Media{Codec: ours[0], Common: codec.SetOf(ours...), Mux: r.mux}
	for _, c := range slices.Backward(order) {
		if slices.Contains(ours, c) {
			m.Codec = c
		}
	}
	if s.agreed && slices.Contains(ours, s.media.Codec) {
		m.Codec = s.media.Codec
	}
	r.suit(&m, !s.local.NoEvents)
	if !r.addr.IsValid() {
		return m, nil
	}
	if s.local.Addr.Is4() != r.addr.Is4() {
		if r.checks() {
			return m, nil
		}
		return Media{}, fmt.Errorf("%w: address family of %s", ErrNotAcceptable, r.addr)
	}
	m.Remote = netip.AddrPortFrom(r.addr, r.port)
	switch {
	case r.mux:
		m.RTCP = m.Remote
	case r.rtcp.IsValid():
		m.RTCP = r.rtcp
	default:
		m.RTCP = next(m.Remote)
	}
	return m, nil
}

// suit adds what goes with the codec: events of its clock where the far end has them (RFC 4733 section 2.1), and comfort noise but
// for Opus, which describes pauses itself.
func (r *remote) suit(m *Media, withEvents bool) {
	if m.Common.Has(codec.Opus) {
		m.Opus = r.opus
	}
	m.Noise = r.noise && m.Codec != codec.Opus
	if !withEvents {
		return
	}
	if m.Events = r.events; m.Codec == codec.Opus && r.fastEvents != 0 {
		m.Events, m.FastEvents = r.fastEvents, true
	}
}

// next is the RTCP address that belongs to an RTP address (RFC 3550 section 11).
func next(a netip.AddrPort) netip.AddrPort {
	if !a.IsValid() || a.Port() == 65535 {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(a.Addr(), a.Port()+1)
}

// section is what our description says of the stream.
type section struct {
	payloads payloads
	dir      Direction
	mux      bool
	keys     []crypto
	path     path
}

// describe writes a description. The version in o= rises when, and only when,
// the content differs from the last one (RFC 3264 section 8).
func (s *Session) describe(lines []mediaLine, audio int, stream section) ([]byte, error) {
	origin, addr := s.origin(), s.local.Addr
	d := psdp.SessionDescription{
		Origin: psdp.Origin{Username: "-", SessionID: s.local.ID, SessionVersion: s.version,
			NetworkType: "IN", AddressType: family(origin), UnicastAddress: origin.String()},
		SessionName: "-",
		ConnectionInformation: &psdp.ConnectionInformation{NetworkType: "IN", AddressType: family(addr),
			Address: &psdp.Address{Address: addr.String()}},
		TimeDescriptions: []psdp.TimeDescription{{}},
		Attributes:       s.sessionAttributes(stream.path),
	}
	for i, l := range lines {
		m := &psdp.MediaDescription{MediaName: psdp.MediaName{
			Media: l.media, Protos: strings.Split(l.proto, "/"), Formats: l.formats}}
		if i == audio {
			m.MediaName.Port.Value = int(s.local.Port)
			m.Attributes = append(stream.attributes(), s.pathAttributes(stream.path, stream.mux)...)
		}
		d.MediaDescriptions = append(d.MediaDescriptions, m)
	}
	body, err := d.Marshal()
	if err != nil {
		return nil, err
	}
	if s.last != "" && s.last != string(body) {
		s.version++
		d.Origin.SessionVersion = s.version
		if body, err = d.Marshal(); err != nil {
			return nil, err
		}
	}
	s.last = string(body)
	return body, nil
}

// family is the addrtype of an address (RFC 8866 section 5.2).
func family(a netip.Addr) string {
	if a.Is4() {
		return "IP4"
	}
	return "IP6"
}

// attributes are those of the stream, but for the way to it.
func (s section) attributes() []psdp.Attribute {
	list := append(s.payloads.attributes(), psdp.NewAttribute("ptime", "20"), psdp.NewPropertyAttribute(s.dir.String()))
	if s.mux {
		list = append(list, psdp.NewPropertyAttribute("rtcp-mux"))
	}
	for _, k := range s.keys {
		list = append(list, k.attribute())
	}
	return list
}
