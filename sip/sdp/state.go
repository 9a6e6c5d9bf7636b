package sdp

import (
	"net/netip"
	"strings"

	"parley/media/dtls"
	"parley/media/srtp"
)

// State is what Resume needs to go on with a negotiation from another address, as JSON too. It holds no keys.
type State struct {
	Origin  netip.Addr // of o=, which stays for the whole call
	ID      uint64     // of o=
	Version uint64     // of o=, of our latest description
	Lines   []string   // the media lines of all streams that there ever were, as descriptions have them
	Mid     string
	Bundled bool
	Media   Media // in force, without its keys
	// Suite is the crypto suite of the keys that the description has carried; None: the audio is plain. Identifier is the master key
	// identifier of ours, VALUE:LENGTH; empty: it has none.
	Suite      srtp.Suite `json:",omitzero"`
	Identifier string     `json:",omitempty"`
}

// State is the session's. ok is false while nothing is agreed on or an offer of ours waits for its answer, and for media whose keys a
// handshake brings or whose far end makes connectivity checks: these are of no use elsewhere.
func (s *Session) State() (st State, ok bool) {
	m := s.media
	if !s.agreed || s.offered != nil || m.DTLS != (DTLS{}) || m.ICE != (ICE{}) {
		return State{}, false
	}
	st = State{Origin: s.origin(), ID: s.local.ID, Version: s.version, Mid: s.mid, Bundled: s.bundled, Media: m,
		Suite: m.Keys.Suite, Identifier: m.Keys.Send.Identifier()}
	st.Media.Keys = srtp.Keys{}
	for _, l := range s.lines {
		st.Lines = append(st.Lines, strings.Join(append([]string{l.media, l.port, l.proto}, l.formats...), " "))
	}
	return st, true
}

// Resume goes on with a negotiation where local is, but for its ID. The next description is a new version of the session that the
// far end knows (RFC 3264 section 8). What is encrypted stays so, in the same suite: our key is a new one, since nobody may send two
// streams with the old one (RFC 3711 section 9.1), and the far end's is to come with its answer.
func Resume(local Local, st State) *Session {
	local.ID, local.Origin, local.SRTP, local.DTLS = st.ID, st.Origin, SRTPOff, dtls.Fingerprint{}
	s := &Session{local: local, version: st.Version + 1, agreed: true, media: st.Media, mid: st.Mid, bundled: st.Bundled}
	if st.Suite != srtp.None {
		s.local.SRTP, s.media.Keys = SRTPRequired, srtp.Keys{Suite: st.Suite, Send: srtp.NewKey(st.Suite)}
		if key, ok := identified(s.media.Keys.Send, st.Identifier); ok {
			s.media.Keys.Send = key
		}
	}
	for _, text := range st.Lines {
		if f := strings.Fields(text); len(f) >= 3 {
			s.lines = append(s.lines, mediaLine{media: f[0], port: f[1], proto: f[2], formats: f[3:]})
		}
	}
	return s
}

// origin is the address in o=.
func (s *Session) origin() netip.Addr {
	if s.local.Origin.IsValid() {
		return s.local.Origin
	}
	return s.local.Addr
}
