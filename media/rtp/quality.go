package rtp

import "time"

// Constants of the E-model for G.711 with concealment (ITU-T G.107, G.113 appendix I).
const (
	basicR     = 93.2
	robustness = 25.1 // Bpl
	// kneeDelay is the delay in ms from which conversation suffers more.
	kneeDelay = 177.3
)

// MOS is the mean opinion score, 1 to 4.4, that the E-model (ITU-T G.107) expects of
// a G.711 call with the given one-way delay and share of packets lost, 0 to 1, which
// come in runs of meanRun packets (1 or more).
func MOS(delay time.Duration, loss, meanRun float64) float64 {
	d := max(0, delay.Seconds()*1000)
	impairment := 0.024 * d
	if d > kneeDelay {
		impairment += 0.11 * (d - kneeDelay)
	}
	loss = max(0, min(loss, 1))
	// BurstR: the runs seen against those of random loss, 1/(1-loss) packets long.
	burst := max(1, meanRun*(1-loss))
	percent := 100 * loss
	impairment += 95 * percent / (percent/burst + robustness)
	r := max(0, min(basicR-impairment, 100))
	return max(1, 1+0.035*r+7e-6*r*(r-60)*(100-r))
}

// quality scores a call interval by interval.
type quality struct {
	expected, lost, bursts uint64 // at the start of the interval
	intervals              int
	sum, least             float64
}

// close ends an interval in which packets were expected.
func (q *quality) close(expected, lost, bursts uint64, delay time.Duration) {
	if expected <= q.expected {
		return
	}
	mos := score(expected-q.expected, lost-q.lost, bursts-q.bursts, delay)
	q.expected, q.lost, q.bursts = expected, lost, bursts
	if q.intervals == 0 || mos < q.least {
		q.least = mos
	}
	q.sum += mos
	q.intervals++
}

// scores are the mean and the least of all intervals; of the whole call while none is complete.
func (q *quality) scores(expected, lost, bursts uint64, delay time.Duration) (mean, least float64) {
	switch {
	case q.intervals > 0:
		return q.sum / float64(q.intervals), q.least
	case expected > 0:
		mos := score(expected, lost, bursts, delay)
		return mos, mos
	}
	return 0, 0
}

func score(expected, lost, bursts uint64, delay time.Duration) float64 {
	run := 1.0
	if bursts > 0 {
		run = max(1, float64(lost)/float64(bursts))
	}
	return MOS(delay, float64(lost)/float64(expected), run)
}
