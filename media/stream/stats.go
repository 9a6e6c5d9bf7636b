package stream

import (
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/pion/rtcp"

	"parley/media"
	"parley/media/jitter"
	"parley/media/quality"
)

// ReportEvery is the interval of RTCP reports and of the quality score. RFC 3550 section 6.2
// spreads reports at random so that the members of a conference do not report together; a call
// has two, and calls begin at random.
const ReportEvery = 5 * time.Second

// maxRTT is the longest round trip that is no mistake.
const maxRTT = 10 * time.Second

// Stats are the counters of a stream. Packets are RTP packets. What a transport does not have
// stays zero.
type Stats struct {
	// What came in.
	jitter.Stats
	Dropped uint64 // because the conductor did not take them in time
	Invalid uint64 // not of the negotiated kind: STUN, other payload types, noise
	Foreign uint64 // from sources that are not the far end
	Refused uint64 // by SRTP: not authentic, or a repetition
	Digits  uint64

	// What went out.
	Sent       uint64
	SendErrors uint64 // dropped by the encoder or the system, a full socket buffer
	Skipped    uint64 // frames never sent because we were stalled
	Lateness   Lateness
	// Behind are those of them that the far end missed: none while it was on hold.
	Behind quality.Outgoing

	// What the far end reports, zero when it does not.
	RTT          time.Duration
	RemoteLost   float64 // share of our packets, 0 to 1, in its latest report
	RemoteJitter time.Duration

	// Quality of the worse direction, 1 to 4.4; 0 before the first packet.
	MOS, MOSMin float64

	Encrypted bool // by SRTP, now

	Remote     netip.AddrPort // where signalling says that the far end is
	Latched    netip.AddrPort // where the far end really is; invalid before it is known
	Listening  bool           // media is expected: the call is not on hold
	FirstMedia time.Duration  // from the start to the first packet; 0 before
}

// Quality is the part of s that is kept with the call.
func (s *Stats) Quality() quality.Report {
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	r := quality.Report{
		MOS: s.MOS, MOSMin: s.MOSMin,
		Received: s.Received, Lost: s.Lost, Late: s.Late, JitterMS: ms(s.Jitter),
		ConcealedMS: s.Concealed.Milliseconds(), Foreign: s.Foreign,
		Sent: s.Sent, SentLate: s.Behind.Late, Unsent: s.Behind.Unsent,
		RemoteLoss: s.RemoteLost, RemoteJitterMS: ms(s.RemoteJitter), RTTMS: ms(s.RTT),
		Encrypted: s.Encrypted,
	}
	if s.Expected > 0 {
		r.Loss = float64(s.Lost) / float64(s.Expected)
	}
	return r
}

// Stats reads the counters as of the latest Publish.
func (s *Stream) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.public
}

// Publish makes the counters visible to Stats. It gives way to a reader rather than wait: the
// next wake-up publishes more.
func (s *Stream) Publish() {
	if !s.mu.TryLock() {
		return
	}
	defer s.mu.Unlock()
	c := &s.Counters
	c.Stats = s.Buffered()
	c.RTT = s.remote.roundTrip()
	c.RemoteLost, c.RemoteJitter = float64(s.remote.lost.Load())/256, time.Duration(s.remote.jitter.Load())
	c.MOS, c.MOSMin = s.quality.Scores(counts(c.Stats), c.Behind.Counts(), s.delay())
	s.public = *c
}

// Buffered is the jitter buffer's account.
func (s *Stream) Buffered() (j jitter.Stats) {
	if s.buffer != nil {
		j = s.buffer.Stats()
	}
	return j
}

// CloseInterval closes an interval of the score, and says true, when it is over.
func (s *Stream) CloseInterval(now time.Time) bool {
	if now.Before(s.interval) {
		return false
	}
	s.interval = now.Add(ReportEvery)
	s.quality.Close(counts(s.Buffered()), s.Counters.Behind.Counts(), s.delay())
	return true
}

func counts(j jitter.Stats) quality.Counts {
	return quality.Counts{Expected: j.Expected, Lost: j.Lost, Bursts: j.Bursts}
}

// delay is how long what we hear is under way: half the round trip, the packet's own length,
// and nothing for the buffer, which passes on what is in order. The delay of the far end's microphone
// is unknown.
func (s *Stream) delay() time.Duration { return s.remote.roundTrip()/2 + media.FrameDuration }

// remote is what the far end reports of our stream.
type remote struct {
	rtt    atomic.Int64  // nanoseconds; 0: not yet known
	lost   atomic.Uint32 // share of our packets since the report before, in 1/256
	jitter atomic.Int64  // nanoseconds
	lossy  atomic.Int32  // the same share in percent, but forgotten slowly
}

func (r *remote) roundTrip() time.Duration { return time.Duration(r.rtt.Load()) }

// NTP is t as RTCP writes it (RFC 3550 section 4), in units of 2^-32 s since 1900.
func NTP(t time.Time) uint64 {
	const since1900 = 2_208_988_800
	return uint64(t.Unix()+since1900)<<32 | uint64(t.Nanosecond())<<32/uint64(time.Second)
}

// ExpectedLoss is the share of our packets, in percent, that an encoder should expect to be lost. It is the far end's report, but
// forgotten slowly: the copies of lost packets are to be there for the next.
func (s *Stream) ExpectedLoss() int { return int(s.remote.lossy.Load()) }

// Reported takes the far end's report of what it hears. now is the middle 32 bits of the NTP
// time at which it came, by the clock of our sender reports.
func (s *Stream) Reported(r rtcp.ReceptionReport, now uint32) {
	s.remote.lost.Store(uint32(r.FractionLost))
	s.remote.lossy.Store(max((int32(r.FractionLost)*100+255)/256, s.remote.lossy.Load()*7/8))
	s.remote.jitter.Store(int64(r.Jitter) * int64(media.FrameDuration) / int64(s.cfg.Step))
	if r.LastSenderReport == 0 {
		return
	}
	// RFC 3550 section 6.4.1, in units of 1/65536 s.
	rtt := time.Duration(int32(now-r.LastSenderReport-r.Delay)) * time.Second / 65536
	if rtt <= maxRTT {
		s.remote.rtt.Store(int64(max(0, rtt))) // a far end that rounds its delay up gives a little below 0
	}
}
