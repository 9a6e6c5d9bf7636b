// Package quality says how good a call was: the E-model's score (ITU-T G.107) and the
// account of the network that it is made of. It is pure code.
package quality

import "time"

// Codec is whose loss of packets is judged.
type Codec uint8

// The codecs of calls. The scale is the telephone's, of narrow band (ITU-T G.107): it ends
// at G.711 without losses, so Opus and G.722, which sound better than that, start from there, too.
const (
	G711 Codec = iota // and G.722, whose losses are concealed in the same way
	Opus
)

// robustness is Bpl: how little lost packets hurt (ITU-T G.107 section 7.5). G.711 has
// concealment; without it would have 4.3. For Opus ITU-T has no value on any scale, so this
// is the best that G.113 appendix I has of a codec with a memory, which is disturbed for
// longer than the packet that it lost: that of G.729A. It leaves out what a copy in the next
// packet recovers, and is rather too strict than too kind.
var robustness = [...]float64{G711: 25.1, Opus: 19.0}

// Constants of the E-model (ITU-T G.107).
const (
	basicR = 93.2
	// kneeDelay is the delay in ms from which conversation suffers more.
	kneeDelay = 177.3
)

// MOS is the mean opinion score, 1 to 4.4, that the E-model (ITU-T G.107) expects of
// a call with codec c, the given one-way delay and share of packets lost, 0 to 1, which
// come in runs of meanRun packets (1 or more).
func MOS(c Codec, delay time.Duration, loss, meanRun float64) float64 {
	d := max(0, delay.Seconds()*1000)
	impairment := 0.024 * d
	if d > kneeDelay {
		impairment += 0.11 * (d - kneeDelay)
	}
	loss = max(0, min(loss, 1))
	// BurstR: the runs seen against those of random loss, 1/(1-loss) packets long.
	burst := max(1, meanRun*(1-loss))
	percent := 100 * loss
	impairment += 95 * percent / (percent/burst + robustness[c])
	r := max(0, min(basicR-impairment, 100))
	return max(1, 1+0.035*r+7e-6*r*(r-60)*(100-r))
}

// Counts are of the packets of one stream up to now.
type Counts struct {
	Expected uint64 // sent by the far end, by its sequence numbers, or to be sent to it
	Lost     uint64 // never heard: lost on the way, or too late to be of use
	Bursts   uint64 // runs of lost packets
}

// Meter scores a call interval by interval, each by the worse of its two directions. The zero
// Meter is ready for G.711; it belongs to one goroutine.
type Meter struct {
	Codec Codec

	lastIn, lastOut Counts // at the start of the interval
	intervals       int
	sum, least      float64
}

// Close ends an interval, if packets were expected in it from the far end. out is what was to
// be sent; delay is one-way.
func (m *Meter) Close(in, out Counts, delay time.Duration) {
	if in.Expected <= m.lastIn.Expected {
		return
	}
	mos := min(m.score(in.since(m.lastIn), delay), m.score(out.since(m.lastOut), delay))
	m.lastIn, m.lastOut = in, out
	if m.intervals == 0 || mos < m.least {
		m.least = mos
	}
	m.sum += mos
	m.intervals++
}

// Scores are the mean and the least of all intervals closed, of the whole call
// while none is, and 0 before the first packet from the far end.
func (m *Meter) Scores(in, out Counts, delay time.Duration) (mean, least float64) {
	switch {
	case m.intervals > 0:
		return m.sum / float64(m.intervals), m.least
	case in.Expected > 0:
		mos := min(m.score(in, delay), m.score(out, delay))
		return mos, mos
	}
	return 0, 0
}

func (c Counts) since(before Counts) Counts {
	return Counts{c.Expected - before.Expected, c.Lost - before.Lost, c.Bursts - before.Bursts}
}

func (m *Meter) score(c Counts, delay time.Duration) float64 {
	run := 1.0
	if c.Bursts > 0 {
		run = max(1, float64(c.Lost)/float64(c.Bursts))
	}
	return MOS(m.Codec, delay, float64(c.Lost)/float64(max(1, c.Expected)), run)
}
