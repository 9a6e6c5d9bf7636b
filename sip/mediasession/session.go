// Package mediasession is the media of one SIP call: its pair of RTP ports, the offer and answer about them, what comes to them
// besides media (ICE checks, a DTLS handshake that brings the keys), and the RTP once both ends have agreed. A Session is made
// before the first offer or answer, its Stream when the call is answered.
//
// Other SIP stacks call this a media session, too; "session" alone is what RFC 3261 calls the whole call.
//
// It knows no dialog and no transaction. The owner of the call gives it a Config and, with each step, a Peer: what signalling knows of
// the far end at the time. It begins no goroutine either: what waits, Proof.Await, Stream.Run and Stream.Watch, does so on those of
// the call, which a panic there ends.
//
// Read session.go and stream.go first. path.go tells apart what comes to the port, proof.go reads it before there is a stream, and
// digit.go takes the keys that come as messages.
package mediasession

import (
	cryptorand "crypto/rand"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"parley/media"
	"parley/media/codec"
	"parley/media/dtls"
	"parley/media/rtp"
	"parley/media/srtp"
	"parley/sip/rtpport"
	"parley/sip/sdp"
)

// Config is what the calls of a user agent have in common, but for Log. Ports, Identity, Log and Counters are required.
type Config struct {
	Ports    *rtpport.Pool
	Identity *dtls.Identity // of our side of encrypted media

	// FirstMediaTimeout and MediaTimeout are those of rtp.Config; 0: its defaults.
	FirstMediaTimeout, MediaTimeout time.Duration
	// WatchEvery is how often a Stream's media is looked at for the log, and NoRTPAfter after how much silence from
	// the beginning it says so. 0: a second, and 5 s.
	WatchEvery, NoRTPAfter time.Duration

	Log      *slog.Logger // which names the call
	Counters *Counters
}

// Counters count what was odd about the media of all calls.
type Counters struct {
	Latched atomic.Uint64 // times that media came from another address than was described
	NoRTP   atomic.Uint64 // calls without media for Config.NoRTPAfter from the answer
}

// Peer is what signalling knows of the far end at the moment.
type Peer struct {
	Addr    netip.Addr     // where its signalling comes from: media from there is as good as from where it is described to be
	Allow   []netip.Prefix // from where else its media may come; only read
	Vouched bool           // no other source is ever the far end
	// Reach is where media goes that is described to go to an address. It is required.
	Reach func(netip.AddrPort) netip.AddrPort
}

// Session is the media of a call. It belongs to the call's goroutine.
type Session struct {
	// SDP negotiates about the ports. The early dialog that a far end chooses by its answer may bring another, a copy that has
	// gone on.
	SDP *sdp.Session

	cfg    Config
	local  netip.AddrPort // where we are described to be
	far    srtp.Position  // where another session has left the far end's stream
	pair   *rtpport.Pair  // the stream's, once there is one
	path   *path          // nil: nothing but media comes to the ports
	stream *Stream        // nil until there is media
}

// Open takes a pair of ports, and begins a negotiation about them in which we are local, but for its Port and ID.
// rtpport.ErrExhausted: there are none.
func Open(cfg Config, local sdp.Local) (*Session, error) {
	return open(cfg, local, sdp.New)
}

// Resume is Open for a negotiation that has begun elsewhere, where the far end's stream, if it is encrypted, had come to far.
func Resume(cfg Config, local sdp.Local, st sdp.State, far srtp.Position) (*Session, error) {
	s, err := open(cfg, local, func(local sdp.Local) *sdp.Session { return sdp.Resume(local, st) })
	if err == nil {
		s.far = far
	}
	return s, err
}

func open(cfg Config, local sdp.Local, negotiate func(sdp.Local) *sdp.Session) (*Session, error) {
	pair, err := cfg.Ports.Open()
	if err != nil {
		return nil, err
	}
	local.Port, local.ID = pair.Port, rand.Uint64()>>2
	return &Session{SDP: negotiate(local), cfg: cfg, local: netip.AddrPortFrom(local.Addr, pair.Port), pair: pair}, nil
}

// Close ends the handshake, and gives back ports that no stream has taken over. nil has neither.
func (s *Session) Close() {
	if s == nil {
		return
	}
	s.path.close()
	if s.stream == nil {
		s.pair.Release()
	}
}

// Begin makes the stream of what was negotiated, whose ports they are then. What has come to them before is thrown away. An error is
// rtp.New's, and leaves the ports to Close.
func (s *Session) Begin(p Peer, m sdp.Media) (*Stream, error) {
	discard(s.pair.RTP)
	discard(s.pair.RTCP)
	session, err := s.newRTP(s.rtpConfig(p, m))
	if err != nil {
		return nil, err
	}
	s.stream = &Stream{Session: session, cfg: s.cfg, local: s.local, pair: s.pair,
		events: make(chan media.LegEvent, media.EventQueue), end: make(chan error, 1)}
	s.Apply(p, m)
	return s.stream, nil
}

// Apply puts what a later offer and answer have negotiated into the stream, which reports hold and resume.
func (s *Session) Apply(p Peer, m sdp.Media) {
	switch {
	case m.ICE != sdp.ICE{}:
		s.path.change(m)
	case m.Remote.IsValid():
		s.stream.SetRemote(p.Reach(m.Remote), p.Reach(m.RTCP))
	}
	s.stream.SetFormat(format(m))
	s.stream.SetKeys(m.Keys)
	s.stream.SetDirection(m.Sends(), m.Receives())
}

// Discard throws away what has come to the port of RTP.
func (s *Session) Discard() { discard(s.pair.RTP) }

// OpenPath has the ports take what comes to them besides media, where m says that something does.
func (s *Session) OpenPath(p Peer, m sdp.Media) {
	if m.ICE != (sdp.ICE{}) || m.DTLS != (sdp.DTLS{}) {
		s.path = newPath(s.pair, p, m)
	}
}

// HasPath says whether something comes to the ports besides media: then the far end is reached, and decrypts, only after the
// answer.
func (s *Session) HasPath() bool { return s.path != nil }

// Handshake begins the handshake that brings the keys of m; done gets them, on another goroutine. OpenPath comes before.
func (s *Session) Handshake(m sdp.Media, done func(srtp.Keys, error)) {
	s.path.begin(s.cfg.Identity, m.DTLS, done)
}

// newRTP is an RTP session on the ports.
func (s *Session) newRTP(cfg rtp.Config) (*rtp.Session, error) {
	var err error
	if cfg.RTP, err = rtp.NewSocket(s.pair.RTP); err != nil {
		return nil, err
	}
	if !cfg.Mux {
		if cfg.RTCP, err = rtp.NewSocket(s.pair.RTCP); err != nil {
			return nil, err
		}
	}
	return rtp.New(cfg)
}

// rtpConfig is the RTP session's, without its sockets.
func (s *Session) rtpConfig(p Peer, m sdp.Media) rtp.Config {
	cfg := rtp.Config{
		Mux: m.Mux, Remote: p.Reach(m.Remote), RemoteRTCP: p.Reach(m.RTCP), Vouched: p.Vouched,
		Format: format(m), Opus: s.SDP.Speaks(codec.Opus), CNAME: cryptorand.Text(), Keys: m.Keys, Far: s.far,
		FirstMediaTimeout: s.cfg.FirstMediaTimeout, MediaTimeout: s.cfg.MediaTimeout,
	}
	if s.path != nil {
		cfg.Path, cfg.Remote = s.path, s.path.address()
	}
	if p.Addr.IsValid() {
		cfg.Trusted = []netip.Prefix{netip.PrefixFrom(p.Addr, p.Addr.BitLen())}
	}
	cfg.Trusted = append(cfg.Trusted, p.Allow...)
	return cfg
}

// format is the one that was negotiated.
func format(m sdp.Media) rtp.Format {
	return rtp.Format{Codec: m.Codec, Takes: m.Common, Opus: m.Opus, Events: m.Events, FastEvents: m.FastEvents}
}

// discard throws away what has come to a port: the tones and announcements of a ringing line, or the end of someone else's call. It
// does not wait, so a busy machine does not hold it up.
func discard(conn *net.UDPConn) {
	const most = 1024 // as many as a socket buffer holds
	s, err := rtp.NewSocket(conn)
	if err != nil {
		return // it is closed
	}
	var b [1]byte
	for range most {
		if _, _, _, more := s.Recv(b[:]); !more {
			return
		}
	}
}
