// Package rtp is a call's audio on the telephone network: G.711 over RTP and RTCP
// (RFC 3550, 3551), telephone events (RFC 4733), and the care that an open port
// needs. A Session is the media half of a media.Leg on a SIP trunk.
//
// No goroutine reads the socket. The conductor of the call wakes once in 20 ms, and
// that wake-up both hears and speaks: Read takes what the kernel has received, Due
// and Write send the answer. A reader would cost each call a goroutine, a queue and
// a lock, and nothing would be heard sooner: the deadlines follow the far end, 2 ms
// after its next packet is expected.
//
//	socket ─▶ parse ─▶ latch ─▶ jitter.Buffer ─▶ Read ─▶ conductor ─▶ Write ─▶ socket
//	                     │                                              ▲
//	                     └─▶ dtmf.Receiver ─▶ Events      dtmf.Sender ──┘
//
// With keys (SRTP) a packet is opened before anything else is made of it, and
// only one that is authentic reaches the latch.
package rtp

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"parley/media"
	"parley/media/dtmf"
	"parley/media/g711"
	"parley/media/jitter"
	"parley/media/quality"
	"parley/media/srtp"
)

// Default timeouts.
const (
	FirstMediaTimeout = 30 * time.Second // from the start to the first packet
	MediaTimeout      = 15 * time.Second // from one packet to the next
)

// Errors of New, Run and SendDigits.
var (
	ErrConfig      = errors.New("rtp: invalid configuration")
	ErrEventsFull  = errors.New("rtp: the queue of leg events is full")
	ErrNoEvents    = errors.New("rtp: the far end takes no telephone events")
	ErrDigit       = errors.New("rtp: not a telephone key")
	ErrDigitsFull  = errors.New("rtp: too many digits wait to be sent")
	errPayloadType = errors.New("the payload type of events must be none of the audio's, below 128, and not look like RTCP")
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

	Codec   g711.Codec
	EventPT uint8     // of telephone events at 8 kHz; 0: none
	Either  bool      // the far end may send the other law of G.711 as well
	CNAME   string    // our canonical name in RTCP, at most 255 bytes
	Keys    srtp.Keys // of SRTP; zero: plain RTP

	Start time.Time // of media time: the answer; zero: now

	FirstMediaTimeout, MediaTimeout time.Duration // 0: the defaults
}

// Session is the audio of one call, and implements media.Leg. Run waits for its end;
// it does not close the sockets, since whoever bound a port knows how long it must
// stay bound. SetRemote, SetDirection, SetKeys, SendDigits, Stats and Quality may be
// called from any goroutine; the rest as media.Leg says.
type Session struct {
	cfg    Config
	buffer *jitter.Buffer
	pacer  media.Pacer
	latch  latch
	keys   dtmf.Receiver
	events chan media.LegEvent
	fault  chan error
	orders orders
	ended  atomic.Bool

	// alive is when media last came or became expected again, as a time since the
	// start; heard says that some has come, listening that some is expected.
	alive            atomic.Int64
	heard, listening atomic.Bool

	sending, receiving bool   // directions; on hold we do not send
	format             format // in force; what comes in another law is recoded for the buffer
	before             format // the one before, in which packets may still be under way (RFC 3264 section 8)

	in       [maxDatagram]byte
	polled   time.Time
	arrived  time.Time // of audio since the last Due; zero: none
	polls    int
	farSSRC  uint32
	rtcp     rtcpLink
	reporter reporter
	quality  quality.Meter
	guard    guard

	out  sender
	told media.Playout

	stats Stats
	mu    sync.Mutex // guards shown
	shown Stats
}

// New returns a session. It starts nothing.
func New(cfg Config) (*Session, error) {
	if cfg.RTP == nil || !cfg.Codec.Valid() || len(cfg.CNAME) > maxCNAME {
		return nil, ErrConfig
	}
	err := checkEvents(cfg.EventPT)
	if err != nil {
		return nil, errors.Join(ErrConfig, err)
	}
	if cfg.Start.IsZero() {
		cfg.Start = time.Now()
	}
	if cfg.FirstMediaTimeout == 0 {
		cfg.FirstMediaTimeout = FirstMediaTimeout
	}
	if cfg.MediaTimeout == 0 {
		cfg.MediaTimeout = MediaTimeout
	}
	cfg.Remote, cfg.RemoteRTCP = unmap(cfg.Remote), unmap(cfg.RemoteRTCP)
	s := &Session{
		cfg:    cfg,
		buffer: jitter.New(cfg.Codec, cfg.Start),
		pacer:  media.NewPacer(cfg.Start),
		latch:  latch{trusted: cfg.Trusted, closed: cfg.Vouched},
		events: make(chan media.LegEvent, media.EventQueue),
		fault:  make(chan error, 1),

		sending: true, receiving: true,
		rtcp: rtcpLink{sdp: cfg.RemoteRTCP},
	}
	s.latch.reset(cfg.Remote, cfg.Start)
	if s.guard, err = newGuard(cfg.Keys); err != nil {
		return nil, errors.Join(ErrConfig, err)
	}
	s.format = format{cfg.Codec, cfg.EventPT, cfg.Either}
	s.before = s.format
	s.orders.keys, s.orders.format = cfg.Keys, s.format
	s.out.begin()
	s.reporter = newReporter(s.out.ssrc, cfg.CNAME, cfg.Start)
	s.listening.Store(true)
	return s, nil
}

func checkEvents(pt uint8) error {
	// 64 to 95 with the marker set are the packet types of RTCP (RFC 5761).
	if pt > 127 || pt >= 64 && pt <= 95 || pt == noisePT || pt == g711.PCMA.PayloadType() {
		return errPayloadType
	}
	return nil
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
				return &media.Ended{Reason: media.Failed, Detail: "media_timeout"}
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
	return media.Format{In: g711.Rate, Out: g711.Rate, Continuous: true}
}

// Next implements media.Leg.
func (s *Session) Next() time.Time { return s.pacer.Next() }

// Events implements media.Leg.
func (s *Session) Events() <-chan media.LegEvent { return s.events }

// Flush implements media.Leg. What was written has left: nothing can be recalled.
func (s *Session) Flush(time.Time) media.Time { return 0 }

func (s *Session) emit(e media.LegEvent) {
	select {
	case s.events <- e:
	default:
		select {
		case s.fault <- ErrEventsFull:
		default:
		}
	}
}

// Stats reads the counters as of the conductor's latest wake-up.
func (s *Session) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown
}

// show makes the counters visible. It gives way to a reader rather than wait: the
// next wake-up shows more.
func (s *Session) show() {
	if !s.mu.TryLock() {
		return
	}
	j := s.buffer.Stats()
	st := &s.stats
	st.Received, st.Expected, st.Lost, st.Late = j.Received, j.Expected, j.Lost, j.Late
	st.Duplicates, st.Overruns, st.Resyncs = j.Duplicates, j.Overruns, j.Resyncs
	st.Concealed, st.Filled, st.Jitter = j.Concealed.Duration(), j.Filled.Duration(), j.Jitter
	st.RTT, st.RemoteLost, st.RemoteJitter = s.reporter.rtt, s.reporter.remoteLost, s.reporter.remoteJitter
	st.MOS, st.MOSMin = s.quality.Scores(counts(j), s.out.kept.Counts(), s.delay())
	st.Behind = s.out.kept
	st.Encrypted = s.guard.on()
	st.Remote, st.Latched, st.Listening = s.latch.sdp, s.latch.to, s.sending && s.receiving
	s.shown = *st
	s.mu.Unlock()
}

func counts(j jitter.Stats) quality.Counts {
	return quality.Counts{Expected: j.Expected, Lost: j.Lost, Bursts: j.Bursts}
}

// delay is how long what we hear is under way: half the round trip, the packet's
// own length, and nothing for the buffer, which passes on what is in order.
func (s *Session) delay() time.Duration { return s.reporter.rtt/2 + media.FrameDuration }

// newSSRC and the first sequence number and timestamp are random so that they
// cannot be guessed (RFC 3550 section 5.1); they are no secrets.
func newSSRC() uint32 { return rand.Uint32() }
