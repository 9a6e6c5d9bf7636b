package webrtc

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/rtcp"

	"parley/media"
	"parley/media/jitter"
	"parley/media/quality"
)

// Stats is the account of a session. Packets are RTP packets.
type Stats struct {
	// What came in.
	Received, Expected, Lost, Late, Duplicates uint64
	Invalid                                    uint64 // neither audio nor keys
	Dropped                                    uint64 // because nobody took them
	Concealed, Filled                          time.Duration
	Jitter                                     time.Duration

	// What went out.
	Sent, Errors uint64
	Skipped      uint64 // frames never sent because we were stalled
	Behind       quality.Outgoing

	// What the far end reports, zero when it does not.
	RTT          time.Duration
	RemoteLost   float64 // share of our packets, 0 to 1, in its latest report
	RemoteJitter time.Duration

	// Quality of the worse direction, 1 to 4.4; 0 before the first packet.
	MOS, MOSMin float64
}

// Quality is the part of s that is kept with the call.
func (s *Stats) Quality() quality.Report {
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	r := quality.Report{MOS: s.MOS, MOSMin: s.MOSMin, Received: s.Received, Lost: s.Lost, Late: s.Late, JitterMS: ms(s.Jitter),
		ConcealedMS: s.Concealed.Milliseconds(), Sent: s.Sent, SentLate: s.Behind.Late, Unsent: s.Behind.Unsent, RemoteLoss: s.RemoteLost, RemoteJitterMS: ms(s.RemoteJitter), RTTMS: ms(s.RTT), Encrypted: true}
	if s.Expected > 0 {
		r.Loss = float64(s.Lost) / float64(s.Expected)
	}
	return r
}

// scoreEvery is the interval of the quality score, which is that of the telephone.
const scoreEvery = 5 * time.Second

// judge closes an interval of the score when it is over.
func (l *line) judge(now time.Time) {
	if now.Before(l.score) {
		return
	}
	l.score = now.Add(scoreEvery)
	l.quality.Close(counts(l.buffer.Stats()), l.out.kept.Counts(), l.delay())
}

func counts(j jitter.Stats) quality.Counts {
	return quality.Counts{Expected: j.Expected, Lost: j.Lost, Bursts: j.Bursts}
}

// delay is how long what we hear is under way: half the round trip and the packet's own
// length. What the far end's microphone takes nobody tells us.
func (l *line) delay() time.Duration {
	return time.Duration(l.rtt.Load())/2 + media.FrameDuration
}

// remote is the far end's latest report, for other goroutines.
type remote struct {
	lost   atomic.Uint32 // share of our packets since the report before, in 1/256
	jitter atomic.Int64  // nanoseconds
}

// reporter shows the counters to other goroutines.
type reporter struct {
	mu    sync.Mutex
	shown Stats
}

// show makes the counters visible. It gives way to a reader rather than wait: the next
// wake-up shows more.
func (l *line) show() {
	if !l.report.mu.TryLock() {
		return
	}
	defer l.report.mu.Unlock()
	var j jitter.Stats
	if l.buffer != nil {
		j = l.buffer.Stats()
	}
	l.report.shown = Stats{Received: j.Received, Expected: j.Expected, Lost: j.Lost, Late: j.Late, Duplicates: j.Duplicates,
		Invalid: l.invalid, Dropped: l.in.dropped.Load() + j.Overruns, Concealed: j.Concealed.Duration(), Filled: j.Filled.Duration(),
		Jitter: j.Jitter, Sent: l.out.sent, Errors: l.out.errors, Skipped: l.out.skipped, Behind: l.out.kept,
		RTT: time.Duration(l.rtt.Load()), RemoteLost: float64(l.remote.lost.Load()) / 256, RemoteJitter: time.Duration(l.remote.jitter.Load())}
	l.report.shown.MOS, l.report.shown.MOSMin = l.quality.Scores(counts(j), l.out.kept.Counts(), l.delay())
}

// Stats reads the counters as of the conductor's latest wake-up.
func (l *line) Stats() Stats {
	l.report.mu.Lock()
	defer l.report.mu.Unlock()
	return l.report.shown
}

// reported takes the far end's report of what it hears.
func (l *line) reported(r rtcp.ReceptionReport, now time.Time) {
	// A loss is forgotten slowly: the copies of lost packets are to be there for the next.
	lost := (int32(r.FractionLost)*100 + 255) / 256
	l.loss.Store(max(lost, l.loss.Load()*7/8))
	l.remote.lost.Store(uint32(r.FractionLost))
	l.remote.jitter.Store(int64(r.Jitter) * int64(media.FrameDuration) / int64(l.out.step))
	if r.LastSenderReport == 0 {
		return
	}
	// RFC 3550 section 6.4.1, in units of 1/65536 s.
	rtt := time.Duration(int32(middle(now)-r.LastSenderReport-r.Delay)) * time.Second >> 16
	l.rtt.Store(int64(max(0, min(rtt, 2*time.Second))))
}

// middle is the middle 32 bits of a time as NTP writes it.
func middle(t time.Time) uint32 {
	const since1900 = 2208988800
	seconds, fraction := uint64(t.Unix()+since1900), uint64(t.Nanosecond())<<32/uint64(time.Second)
	return uint32((seconds<<32 | fraction) >> 16)
}
