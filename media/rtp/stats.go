package rtp

import (
	"net/netip"
	"time"

	"parley/media/quality"
)

// Stats is the account of a session. Packets are RTP packets.
type Stats struct {
	// What came in.
	Received   uint64 // from the far end, duplicates not included
	Expected   uint64 // sent by the far end, by its sequence numbers
	Lost       uint64 // given up; one that came too late counts here and as Late
	Late       uint64
	Duplicates uint64
	Overruns   uint64 // dropped because we, or the far end's clock, were off
	Resyncs    uint64 // new SSRC, or a jump of sequence or timestamp
	Invalid    uint64 // not of the negotiated kind: STUN, other payload types, noise
	Foreign    uint64 // from sources that are not the far end
	Refused    uint64 // by SRTP: not authentic, or a repetition
	Concealed  time.Duration
	Filled     time.Duration // silence put in because nothing arrived
	Jitter     time.Duration // RFC 3550 section 6.4.1
	Digits     uint64

	// What went out.
	Sent       uint64
	SendErrors uint64 // dropped by the system, a full socket buffer
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
		Sent: s.Sent, SentLate: s.Behind.Late, Unsent: s.Behind.Unsent, RemoteLoss: s.RemoteLost, RemoteJitterMS: ms(s.RemoteJitter), RTTMS: ms(s.RTT),
		Encrypted: s.Encrypted,
	}
	if s.Expected > 0 {
		r.Loss = float64(s.Lost) / float64(s.Expected)
	}
	return r
}

// latenessBounds are the upper ends of the buckets; the last bucket has none.
var latenessBounds = [...]time.Duration{
	500 * time.Microsecond, 1 * time.Millisecond, 2 * time.Millisecond, 3 * time.Millisecond,
	5 * time.Millisecond, 7 * time.Millisecond, 10 * time.Millisecond, 15 * time.Millisecond,
	20 * time.Millisecond, 40 * time.Millisecond, 80 * time.Millisecond,
}

// Lateness is how long after their deadlines frames were sent.
type Lateness struct {
	Counts [len(latenessBounds) + 1]uint64
	Max    time.Duration
}

func (l *Lateness) add(d time.Duration) {
	i := 0
	for i < len(latenessBounds) && d > latenessBounds[i] {
		i++
	}
	l.Counts[i]++
	l.Max = max(l.Max, d)
}

// Add joins the counts of another session.
func (l *Lateness) Add(o Lateness) {
	for i, n := range o.Counts {
		l.Counts[i] += n
	}
	l.Max = max(l.Max, o.Max)
}

// Quantile is an upper bound of the lateness of the share q of all frames, 0 to 1.
func (l *Lateness) Quantile(q float64) time.Duration {
	var total, sum uint64
	for _, n := range l.Counts {
		total += n
	}
	for i, n := range l.Counts {
		if sum += n; i < len(latenessBounds) && float64(sum) >= q*float64(total) {
			return min(latenessBounds[i], l.Max)
		}
	}
	return l.Max
}
