package client

import (
	"time"

	"parley/media"
)

// Where a clip counts as speech: within speechRange of its loudest frame (as a
// ratio of power, 30 dB) and above speechFloor (-50 dBFS), and over when it has
// paused for speechPause.
const (
	speechRange = 1e-3
	speechFloor = 1e-5
	speechPause = 300 * time.Millisecond
)

// speechEnds are the ends of the stretches of speech in a clip at RateIn, from its
// start, to 20 ms.
func speechEnds(clip []int16) []time.Duration {
	n := RateIn.FrameSamples()
	power := make([]float64, (len(clip)+n-1)/n)
	peak := 0.0
	for i := range power {
		for _, v := range clip[i*n : min(len(clip), (i+1)*n)] {
			x := float64(v) / 32768
			power[i] += x * x / float64(n)
		}
		peak = max(peak, power[i])
	}
	threshold := max(speechFloor, peak*speechRange)
	var ends []time.Duration
	quiet := speechPause
	for i, p := range power {
		if p < threshold {
			quiet += media.FrameDuration
			continue
		}
		end := time.Duration(i+1) * media.FrameDuration
		if quiet >= speechPause {
			ends = append(ends, end)
		} else {
			ends[len(ends)-1] = end
		}
		quiet = 0
	}
	return ends
}
