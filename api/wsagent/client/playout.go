package client

import (
	"sync"
	"time"

	"parley/media"
)

// playDelay is how long after its arrival a listener hears audio when nothing
// else is being played: the shortest lead of the players that exist.
const playDelay = 10 * time.Millisecond

// playout models a client's player: chunks are played one after another from the
// moment they come, all that is queued is dropped when the agent is cut off. It
// keeps the line of what was heard, silence included.
type playout struct {
	start time.Time
	max   int // samples of the recording

	mu         sync.Mutex
	line       []int16
	end        media.Time // after start: when what has come will have been played
	total      media.Time // played or to be played in all, but for what was dropped
	replyAt    media.Time // total when the current reply began
	generation int
}

func newPlayout(start time.Time, record time.Duration) *playout {
	return &playout{start: start, max: media.FromDuration(record).Samples(RateOut)}
}

func (p *playout) at(t time.Time) media.Time { return media.FromDuration(t.Sub(p.start)) }

// add queues audio that has come at now.
func (p *playout) add(samples []int16, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end = max(p.end, p.at(now.Add(playDelay)))
	at := p.end.Samples(RateOut)
	p.end += RateOut.Duration(len(samples))
	p.total += RateOut.Duration(len(samples))
	if at >= p.max {
		return
	}
	p.padLocked(at)
	p.line = append(p.line, samples[:min(len(samples), p.max-at)]...)
}

// padLocked makes the line n samples long; rounding may have made it one longer.
func (p *playout) padLocked(n int) {
	if n > len(p.line) {
		p.line = append(p.line, make([]int16, n-len(p.line))...)
	}
	p.line = p.line[:n]
}

// flush drops what was not played by now.
func (p *playout) flush(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.at(now)
	if p.end <= t {
		return
	}
	p.total -= min(p.total, p.end-t)
	p.end = t
	p.line = p.line[:min(len(p.line), t.Samples(RateOut))]
}

// announced drops what is left of earlier replies when a later one is announced.
func (p *playout) announced(generation int, now time.Time) {
	p.mu.Lock()
	later := generation > p.generation
	p.generation = max(p.generation, generation)
	p.mu.Unlock()
	if later {
		p.flush(now)
	}
}

// speaking begins the next reply.
func (p *playout) speaking() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.replyAt = p.total
}

// reply is how much of the current reply was played by now.
func (p *playout) reply(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	left := max(0, p.end-p.at(now))
	return max(0, p.total-left-p.replyAt).Duration()
}

func (p *playout) quietAt() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.end == 0 {
		return time.Time{}
	}
	return p.start.Add(p.end.Duration())
}

// heard is the line up to now, with the silence since the last audio.
func (p *playout) heard(now time.Time) []int16 {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := min(p.max, max(0, p.at(now).Samples(RateOut)))
	heard := make([]int16, n)
	copy(heard, p.line)
	return heard
}

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
