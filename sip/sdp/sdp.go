// Package sdp negotiates the audio of a call: offers and answers as RFC 3264
// has them, over the description format of RFC 8866.
//
// It knows one audio stream of G.722, G.711 (PCMU or PCMA) or Opus (RFC 7587), in packets of 20 ms, with
// RFC 4733 telephone events and the comfort noise of a far end that offers it (RFC 3389), plain or encrypted with keys that the description
// carries (RFC 4568) or a handshake brings (RFC 5763). A far end that offers ICE gets the answer of a lite agent (RFC 8839). Everything else an offer holds is refused by port
// 0 and stays in its place, as RFC 3264 section 6 demands. A Session is one
// call's side of the negotiation: it remembers what is in force, so an offer
// that cannot be answered changes nothing.
package sdp

import (
	"errors"
	"net/netip"

	"parley/media/codec"
	"parley/media/srtp"
)

// Limits on what a far end may send us. A carrier's description has one to
// three media lines and stays below 2 kB.
const (
	maxBody   = 16 << 10
	maxMedias = 16
)

// Errors of this package; both come wrapped with the detail.
var (
	// ErrMalformed: the text is no session description.
	ErrMalformed = errors.New("malformed session description")
	// ErrNotAcceptable: it is one, but holds no stream that we can carry.
	ErrNotAcceptable = errors.New("no common codec")
)

// Direction says which way a stream flows, seen from the side that describes it.
// It is two bits: this side sends, this side receives.
type Direction uint8

// The directions of RFC 8866 section 6.7.
const (
	Inactive Direction = 0
	SendOnly Direction = 1
	RecvOnly Direction = 2
	SendRecv Direction = SendOnly | RecvOnly
)

func (d Direction) String() string {
	return [...]string{"inactive", "sendonly", "recvonly", "sendrecv"}[d&SendRecv]
}

// Reverse is the same stream seen from the other side.
func (d Direction) Reverse() Direction {
	return d&SendOnly<<1 | d&RecvOnly>>1
}

func parseDirection(key string) (Direction, bool) {
	for d := Inactive; d <= SendRecv; d++ {
		if d.String() == key {
			return d, true
		}
	}
	return 0, false
}

// Media is what both sides agreed on, seen from ours.
type Media struct {
	// Remote is where our RTP goes. It is not valid while the far end has not
	// said so (it holds us with the address 0.0.0.0).
	Remote netip.AddrPort
	// RTCP is where our RTCP goes: Remote when Mux, else the next port or what
	// a=rtcp says (RFC 3605).
	RTCP netip.AddrPort
	Mux  bool // RTP and RTCP share a port (RFC 5761)

	Codec codec.Codec // of what we send
	// Common are the codecs that both sides speak: the far end may send any of them.
	Common codec.Set
	// Opus is what the far end takes of it, where it is in Common.
	Opus codec.OpusParams
	// Events is the payload type of telephone events, 0 when there are none. Their clock is that of Codec when FastEvents
	// is set, which it is with Opus only, else 8 kHz.
	Events     uint8
	FastEvents bool
	Noise      bool // the far end may send comfort noise, under its static payload type (RFC 3389)

	Direction Direction // ours: Send, Receive

	// Keys are those of SRTP; zero: the stream is plain, or DTLS brings them.
	Keys srtp.Keys `json:"-"`
	DTLS DTLS      `json:"-"`
	ICE  ICE       `json:"-"` // its checks tell where the far end is, whatever Remote says
}

// Sends says whether we may send audio now.
func (m Media) Sends() bool {
	return m.Direction&SendOnly != 0 && (m.Remote.IsValid() || m.ICE != ICE{})
}

// Receives says whether the far end may send audio now.
func (m Media) Receives() bool { return m.Direction&RecvOnly != 0 }

// Keyless says whether a handshake is to bring the keys of the stream before there can be media.
func (m Media) Keyless() bool { return m.DTLS != DTLS{} && m.Keys == srtp.Keys{} }
