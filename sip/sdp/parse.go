package sdp

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	psdp "github.com/pion/sdp/v3"

	"parley/media/codec"
)

// mediaLine is one media line of a description, kept as it was written so that an
// answer can refuse it in its place.
type mediaLine struct {
	media   string
	port    string
	proto   string
	formats []string
}

// usable says whether we could carry the stream at all.
func (l mediaLine) usable() bool {
	return l.media == "audio" && l.port != "0" && (l.savp() || l.proto == "RTP/AVP" || l.proto == "RTP/AVPF")
}

// savp says whether the stream must be encrypted.
func (l mediaLine) savp() bool { return l.proto == "RTP/SAVP" || l.proto == "RTP/SAVPF" || l.dtls() }

// dtls says whether its keys come by a handshake (RFC 5764 section 8).
func (l mediaLine) dtls() bool {
	return l.proto == "UDP/TLS/RTP/SAVPF" || l.proto == "UDP/TLS/RTP/SAVP"
}

// remote is the far end's description: all its media lines and the one stream
// we could carry.
type remote struct {
	lines []mediaLine
	audio int // index in lines, -1: none

	addr netip.Addr // not valid: 0.0.0.0, an old way of holding
	port uint16
	rtcp netip.AddrPort
	mux  bool
	payloads
	opus codec.OpusParams
	dir  Direction // theirs

	cryptos []crypto // keys of the stream, those that we can use, in the far end's order
	reach
}

// parse reads a description. Only what we use reaches the strict parser:
// carriers put fax (m=image), bandwidth lines and origins of their own making
// beside a perfectly good audio stream, and that must not cost the call. Where an
// encrypted stream stands beside a plain one, policy chooses.
func parse(body []byte, policy Policy) (*remote, error) {
	if len(body) > maxBody {
		return nil, fmt.Errorf("%w: %d bytes", ErrMalformed, len(body))
	}
	r := &remote{audio: -1}
	text, err := r.reduce(string(body), policy)
	if err != nil {
		return nil, err
	}
	if r.audio < 0 {
		return r, nil
	}
	var d psdp.SessionDescription
	if err := d.UnmarshalString(text); err != nil || len(d.MediaDescriptions) != 1 {
		return nil, fmt.Errorf("%w: %v", ErrMalformed, err)
	}
	if err := r.stream(&d, d.MediaDescriptions[0]); err != nil {
		return nil, err
	}
	return r, nil
}

// reduce notes every media line and returns the session part together with the
// first usable audio section, rewritten into the order the parser wants. Unless
// encryption is off, an encrypted one comes before a plain one; when it is off, the
// other way round, and an encrypted one is refused later.
func (r *remote) reduce(body string, policy Policy) (string, error) {
	var head, audio strings.Builder
	out, version := &head, false
	for text := range strings.Lines(body) {
		text = strings.TrimRight(text, "\r\n \t")
		if len(text) < 2 || text[1] != '=' {
			if text == "" {
				continue
			}
			return "", fmt.Errorf("%w: %.40q", ErrMalformed, text)
		}
		switch text[0] {
		case 'v':
			version = text == "v=0"
		case 'm':
			l, err := parseLine(text[2:])
			if err != nil {
				return "", err
			}
			if r.lines = append(r.lines, l); len(r.lines) > maxMedias {
				return "", fmt.Errorf("%w: more than %d media lines", ErrMalformed, maxMedias)
			}
			out = nil
			wanted := l.savp() == (policy != SRTPOff)
			if l.usable() && (r.audio < 0 || wanted && r.lines[r.audio].savp() != l.savp()) {
				audio.Reset()
				r.audio, out = len(r.lines)-1, &audio
				out.WriteString(text + "\r\n")
			}
		case 'c', 'a':
			if out != nil {
				out.WriteString(text + "\r\n")
			}
		}
	}
	switch {
	case !version:
		return "", fmt.Errorf("%w: no version", ErrMalformed)
	case len(r.lines) == 0: // RFC 3264 section 5 allows none
		return "", fmt.Errorf("%w: no media", ErrNotAcceptable)
	}
	// Session-level c= stands before t=, attributes after it.
	var c, a strings.Builder
	for text := range strings.Lines(head.String()) {
		if text[0] == 'c' {
			c.Reset()
			c.WriteString(text)
		} else {
			a.WriteString(text)
		}
	}
	return "v=0\r\no=- 0 0 IN IP4 0.0.0.0\r\ns=-\r\n" + c.String() + "t=0 0\r\n" + a.String() + audio.String(), nil
}

func parseLine(text string) (mediaLine, error) {
	f := strings.Fields(text)
	if len(f) < 4 {
		return mediaLine{}, fmt.Errorf("%w: m=%.40q", ErrMalformed, text)
	}
	return mediaLine{media: f[0], port: f[1], proto: f[2], formats: f[3:]}, nil
}

// stream reads the audio section.
func (r *remote) stream(d *psdp.SessionDescription, m *psdp.MediaDescription) error {
	if p := m.MediaName.Port.Value; p <= 0 || p > 65535 {
		return fmt.Errorf("%w: port %d", ErrMalformed, p)
	}
	r.port = uint16(m.MediaName.Port.Value)
	c := m.ConnectionInformation
	if c == nil {
		c = d.ConnectionInformation
	}
	if c == nil || c.Address == nil {
		return fmt.Errorf("%w: no connection address", ErrMalformed)
	}
	addr, err := parseAddr(c.Address.Address)
	if err != nil {
		return err
	}
	r.addr = addr

	r.dir = SendRecv
	r.attributes(d.Attributes, true)
	r.attributes(m.Attributes, false)
	if !r.addr.IsValid() && !r.checks() {
		// RFC 2543 appendix B: a null address means "send me nothing".
		r.dir &^= RecvOnly
	}
	r.formats(m)
	return nil
}

// parseAddr takes a literal unicast address. The null address gives an invalid
// Addr. A name would make us ask DNS on a stranger's word, and a group would
// make us an amplifier: neither is acceptable.
func parseAddr(s string) (netip.Addr, error) {
	a, err := netip.ParseAddr(s)
	if err != nil || a.Zone() != "" {
		return netip.Addr{}, fmt.Errorf("%w: connection address %.60q", ErrNotAcceptable, s)
	}
	a = a.Unmap()
	switch {
	case a.IsUnspecified():
		return netip.Addr{}, nil
	case a.IsMulticast(), a == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return netip.Addr{}, fmt.Errorf("%w: connection address %s", ErrNotAcceptable, a)
	}
	return a, nil
}

// attributes applies a list; a media section overrides the session's.
func (r *remote) attributes(list []psdp.Attribute, session bool) {
	for _, a := range list {
		if d, ok := parseDirection(a.Key); ok {
			r.dir = d
		}
		r.attribute(a)
		if session {
			continue
		}
		switch a.Key {
		case "rtcp-mux":
			r.mux = true
		case "rtcp":
			r.rtcp = parseRTCP(a.Value, r.addr)
		case "crypto":
			if c, ok := parseCrypto(a.Value); ok {
				r.cryptos = append(r.cryptos, c)
			}
		}
	}
}

// parseRTCP reads a=rtcp (RFC 3605): a port and perhaps an address. What cannot
// be read counts as absent.
func parseRTCP(v string, addr netip.Addr) netip.AddrPort {
	f := strings.Fields(v)
	if len(f) == 0 {
		return netip.AddrPort{}
	}
	port, err := strconv.ParseUint(f[0], 10, 16)
	if err != nil || port == 0 {
		return netip.AddrPort{}
	}
	if len(f) == 4 {
		a, err := parseAddr(f[3])
		if err != nil {
			return netip.AddrPort{}
		}
		addr = a
	}
	if !addr.IsValid() {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(addr, uint16(port))
}

// formats finds our codecs among the payload types, comfort noise, and the types of
// telephone events. An rtpmap for 0, 8, 9 or 13 is optional (RFC 3551 section 6).
func (r *remote) formats(m *psdp.MediaDescription) {
	maps, params := map[string]string{}, map[string]string{}
	for _, a := range m.Attributes {
		pt, rest, ok := strings.Cut(a.Value, " ")
		switch rest = strings.ToLower(strings.TrimSpace(rest)); {
		case !ok:
		case a.Key == "rtpmap":
			maps[pt] = rest
		case a.Key == "fmtp":
			params[pt] = rest
		}
	}
	for _, pt := range m.MediaName.Formats {
		for _, c := range codec.Default() {
			if pt == strconv.Itoa(int(c)) && (maps[pt] == "" || isCodec(maps[pt], strings.ToLower(c.String()))) && !slices.Contains(r.codecs, c) {
				r.codecs = append(r.codecs, c)
			}
		}
		if pt == noiseType && (maps[pt] == "" || isCodec(maps[pt], "cn")) {
			r.noise = true
		}
		r.dynamic(pt, maps[pt], params[pt])
	}
}

// dynamic takes what has no payload type of its own, the first of each.
func (r *remote) dynamic(pt, name, params string) {
	n, err := strconv.ParseUint(pt, 10, 7)
	// With 64 to 95 it could not be distinguished from RTCP (RFC 5761 section 4): then
	// there are no keys, or another codec, but a call.
	if err != nil || n < 35 || n >= 64 && n <= 95 {
		return
	}
	switch {
	case isCodec(name, "telephone-event") && r.events == 0:
		r.events = uint8(n)
	case name == "telephone-event/48000" && r.fastEvents == 0:
		r.fastEvents = uint8(n)
	case (name == "opus/48000/2" || name == "opus/48000") && r.opus.Type == 0:
		r.codecs, r.opus = append(r.codecs, codec.Opus), opusParams(params)
		r.opus.Type = uint8(n)
	}
}

// opusParams reads what concerns us in the fmtp of Opus (RFC 7587 section 6.1). We send mono whatever the far end prefers, and
// no more than 16 kHz, which each decoder brings to what it plays.
func opusParams(list string) (p codec.OpusParams) {
	for param := range strings.SplitSeq(list, ";") {
		switch name, value, _ := strings.Cut(strings.TrimSpace(param), "="); name {
		case "maxaveragebitrate":
			if n, err := strconv.ParseUint(value, 10, 20); err == nil { // 510,000 are the most
				p.Bitrate = int(n)
			}
		case "useinbandfec":
			p.FEC = value == "1"
		}
	}
	return p
}

func isCodec(rtpmap, name string) bool {
	return rtpmap == name+"/8000" || rtpmap == name+"/8000/1"
}
