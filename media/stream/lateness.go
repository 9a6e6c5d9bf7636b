package stream

import "time"

// latenessBounds are the upper ends of the buckets; the last bucket has none.
var latenessBounds = [...]time.Duration{
	500 * time.Microsecond, 1 * time.Millisecond, 2 * time.Millisecond, 3 * time.Millisecond,
	5 * time.Millisecond, 7 * time.Millisecond, 10 * time.Millisecond, 15 * time.Millisecond,
	20 * time.Millisecond, 40 * time.Millisecond, 80 * time.Millisecond,
}

// Lateness is a histogram of how long after their deadlines frames were sent.
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

// Add joins the counts of another stream.
func (l *Lateness) Add(o Lateness) {
	for i, n := range o.Counts {
		l.Counts[i] += n
	}
	l.Max = max(l.Max, o.Max)
}

// Cumulative returns how many frames there are, and how many of them were at most as late as each bound, by the bound in seconds,
// as Prometheus has histograms.
func (l *Lateness) Cumulative() (frames uint64, within map[float64]uint64) {
	within = make(map[float64]uint64, len(latenessBounds))
	for i, n := range l.Counts {
		frames += n
		if i < len(latenessBounds) {
			within[latenessBounds[i].Seconds()] = frames
		}
	}
	return frames, within
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
