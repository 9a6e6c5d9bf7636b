// Package rtp is a call's audio on the telephone network: G.711, G.722 and Opus over RTP and RTCP
// (RFC 3550, 3551, 7587), telephone events (RFC 4733), and the care that an open port
// needs. A Session is the media half of a media.Leg on a SIP trunk: it puts a stream.Stream
// on UDP sockets.
//
// No goroutine reads the socket. The conductor of the call wakes once in 20 ms, and
// that wake-up both hears and speaks: Read takes what the kernel has received, Due
// and Write send the answer. A reader would cost each call a goroutine, a queue and
// a lock, and nothing would be heard sooner: the deadlines follow the far end, 2 ms
// after its next packet is expected.
//
//	socket ─▶ parse ─▶ latch ─▶ stream.Stream ─▶ Read ─▶ conductor ─▶ Write ─▶ socket
//	                                 │                                  ▲
//	                                 └─▶ Events           dtmf.Sender ──┘
//
// Signalling changes a session through a queue of its own (control.go), which the conductor
// applies at its next wake-up. report.go is RTCP.
//
// We send audio without a break, with a floor of noise where the agent says nothing, and never comfort noise (RFC 3389)
// instead: translators of addresses forget, and carriers end, a call in which nothing comes. From the far end comfort noise is
// taken, agreed or not.
//
// With keys (SRTP) a packet is opened before anything else is made of it, and
// only one that is authentic reaches the latch.
package rtp

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"sync/atomic"
	"time"

	"parley/media"
	"parley/media/codec"
	"parley/media/dtmf"
	"parley/media/jitter"
	"parley/media/opus"
	"parley/media/quality"
	"parley/media/srtp"
	"parley/media/stream"
)

// Default timeouts.
const (
	FirstMediaTimeout = 30 * time.Second // from the start to the first packet
	MediaTimeout      = 15 * time.Second // from one packet to the next
	// NoiseTimeout is that from a packet of comfort noise, which may be the only one of a long pause.
	NoiseTimeout = time.Minute
)

// Errors of New, Run and SendDigits.
var (
	ErrConfig     = errors.New("rtp: invalid configuration")
	ErrEventsFull = errors.New("rtp: the queue of leg events is full")
	ErrDigit      = errors.New("rtp: not a telephone key")
	ErrDigitsFull = errors.New("rtp: too many digits wait to be sent")
)

// Config is what signalling has agreed on.
type Config struct {
	RTP  PacketConn
	RTCP PacketConn // nil: on the RTP socket when Mux is set, else none
	Mux  bool       // RTCP shares the RTP port (RFC 5761)

	Remote     netip.AddrPort // from the SDP of the far end
	RemoteRTCP netip.AddrPort // from its a=rtcp; zero: the port after Remote's
	// Trusted are sources of media that signalling vouches for, besides Remote's
	// address: where the signalling comes from, the trunk's allow list.
	Trusted []netip.Prefix
	Vouched bool // no other source is ever the far end

	Format Format
	Opus   bool          // the call may come to have Opus, if Format does not
	Rate   media.Rate    // of the audio, 8 or 16 kHz; it stays when the format changes. 0: that of Format's codec
	CNAME  string        // our canonical name in RTCP, at most 255 bytes
	Keys   srtp.Keys     // of SRTP; zero: plain RTP
	Far    srtp.Position // where another session has left the far end's encrypted stream; zero: there was none
	Path   Path          // nil: nothing but media comes to the port

	Start time.Time // of media time: the answer; zero: now

	FirstMediaTimeout, MediaTimeout time.Duration // 0: the defaults
}

// Session is the audio of one call, and implements media.Leg. Run waits for its end;
// it does not close the sockets, which their owner keeps bound for a while. SetRemote, SetDirection, SetFormat, SetKeys, MuteWhile, SendDigits and Stats may be
// called from any goroutine; the rest as media.Leg says.
type Session struct {
	cfg     Config
	stream  *stream.Stream
	latch   latch
	fault   chan error
	control controlQueue
	ended   atomic.Bool
	muted   atomic.Pointer[func() bool]

	// alive is when media last came or became expected again, as a time since the
	// start, and in a pause that the far end has announced, the time to come that this excuses; heard says that
	// some has come, listening that some is expected.
	alive            atomic.Int64
	heard, listening atomic.Bool

	ear *dtmf.Detector // of keys in the audio; nil: they come as events

	flow   direction // on hold we do not send
	format Format    // in force
	before Format    // the one before, in which packets may still be under way (RFC 3264 section 8)

	in       [maxDatagram]byte
	polled   time.Time
	polls    int
	farSSRC  uint32
	clock    stream.Clock // of the far end's Opus
	rtcp     rtcpLink
	reporter reporter
	guard    guard
	far      farPosition
	out      sender
}

const (
	// playoutDelay is what a telephone needs to play a frame besides the network: its
	// jitter buffer, 40 ms in most, and the frame itself.
	playoutDelay = 60 * time.Millisecond
	maxPlayout   = 400 * time.Millisecond
)

// New returns a session. It starts nothing.
func New(cfg Config) (*Session, error) {
	if cfg.RTP == nil || len(cfg.CNAME) > maxCNAME {
		return nil, ErrConfig
	}
	cfg.Opus = cfg.Opus || cfg.Format.has(codec.Opus)
	cfg.Rate = cmp.Or(cfg.Rate, cfg.Format.Codec.Rate())
	err := cmp.Or(cfg.Format.check(), checkRate(cfg.Rate))
	if err != nil {
		return nil, errors.Join(ErrConfig, err)
	}
	if cfg.Start.IsZero() {
		cfg.Start = time.Now()
	}
	cfg.FirstMediaTimeout, cfg.MediaTimeout = cmp.Or(cfg.FirstMediaTimeout, FirstMediaTimeout), cmp.Or(cfg.MediaTimeout, MediaTimeout)
	cfg.Remote, cfg.RemoteRTCP = unmap(cfg.Remote), unmap(cfg.RemoteRTCP)
	s := &Session{
		cfg:   cfg,
		latch: latch{trusted: cfg.Trusted, closed: cfg.Vouched},
		fault: make(chan error, 1),
		flow:  direction{send: true, receive: true},
		rtcp:  rtcpLink{sdp: cfg.RemoteRTCP},
	}
	s.stream = stream.New(stream.Config{Codec: quality.G711, Step: Format{}.step(),
		PlayoutDelay: playoutDelay, MaxPlayout: maxPlayout, Overflow: s.overflow})
	if err = s.openCodecs(); err != nil {
		return nil, errors.Join(ErrConfig, err)
	}
	if cfg.Path != nil && cfg.Path.Checked() {
		s.latch.path = cfg.Path
	}
	s.latch.reset(cfg.Remote, cfg.Start)
	if s.guard, err = newGuard(cfg.Keys); err != nil {
		return nil, errors.Join(ErrConfig, err)
	}
	s.guard.resume(cfg.Far)
	s.far.set(cfg.Far)
	s.reporter = newReporter(cfg.CNAME, cfg.Start)
	s.setFormat(cfg.Format)
	s.before = cfg.Format
	s.control.keys, s.control.format = cfg.Keys, cfg.Format
	s.restart()
	s.listening.Store(true)
	return s, nil
}

// openCodecs makes what decodes and encodes, and begins to hear.
func (s *Session) openCodecs() error {
	rate, start := s.cfg.Rate, s.cfg.Start
	s.out.buf = make([]byte, headerLen+longestPayload(s.cfg.Opus)+srtp.Overhead)
	if err := s.out.encoder.init(rate, s.cfg.Opus); err != nil {
		return err
	}
	if !s.cfg.Opus {
		s.stream.Start(jitter.New(codec.NewDecoder(rate), rate, start), start)
		return nil
	}
	d, err := opus.NewDecoder(rate)
	if err == nil {
		s.stream.Start(jitter.NewMixed(codec.NewDecoder(rate), d, rate, start), start)
	}
	return err
}

func unmap(a netip.AddrPort) netip.AddrPort {
	if !a.IsValid() {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

// Run implements media.Leg: it watches for a far end that has fallen silent.
func (s *Session) Run(ctx context.Context) error {
	defer s.ended.Store(true)
	timer := time.NewTimer(min(s.patience(time.Now()), s.cfg.MediaTimeout))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-s.fault:
			return err
		case <-timer.C:
			left := s.patience(time.Now())
			if left <= 0 {
				return &media.Ended{Reason: media.Failed, Detail: media.MediaTimeout}
			}
			// The first packet may come meanwhile, and shortens the patience.
			timer.Reset(min(left, s.cfg.MediaTimeout))
		}
	}
}

// patience is how much longer to wait for media, at least.
func (s *Session) patience(now time.Time) time.Duration {
	limit := s.cfg.FirstMediaTimeout
	if s.heard.Load() {
		limit = s.cfg.MediaTimeout
	}
	if !s.listening.Load() {
		return limit // whenever media is expected again, all of it begins anew
	}
	return time.Duration(s.alive.Load()) + limit - now.Sub(s.cfg.Start)
}

// Format implements media.Leg.
func (s *Session) Format() media.Format {
	return media.Format{In: s.cfg.Rate, Out: s.cfg.Rate, Continuous: true}
}

// Next implements media.Leg.
func (s *Session) Next() time.Time { return s.stream.Next() }

// Events implements media.Leg.
func (s *Session) Events() <-chan media.LegEvent { return s.stream.Events() }

// Flush implements media.Leg. What was written has left: nothing can be recalled.
func (s *Session) Flush(time.Time) media.Time { return 0 }

// Played implements media.Leg. It is an estimate.
func (s *Session) Played(now time.Time) media.Time { return s.stream.Played(now) }

// overflow ends the session because its queue of events is full.
func (s *Session) overflow() {
	select {
	case s.fault <- ErrEventsFull:
	default:
	}
}

// Stats are the counters of a session.
type Stats = stream.Stats

// Stats reads the counters as of the conductor's latest wake-up.
func (s *Session) Stats() Stats { return s.stream.Stats() }

// counters are those of the session's transport; they belong to the conductor.
func (s *Session) counters() *Stats { return &s.stream.Counters }

// publish makes the counters visible to Stats.
func (s *Session) publish() {
	c := s.counters()
	if c.Encrypted = s.guard.on(); c.Encrypted {
		s.far.set(s.guard.receiver.Position())
	}
	c.Remote, c.Latched, c.Listening = s.latch.sdp, s.latch.to, s.flow.both()
	s.stream.Publish()
}
