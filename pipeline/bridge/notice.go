package bridge

import (
	"math"
	"time"

	"parley/media"
)

// Those in a call hear a tone when somebody begins to listen in, and while they do, where the agent says so. It is that of the recorders
// of the United States (47 CFR 64.501, as its telephone companies had it in their tariffs): 1.4 kHz, a fifth of a second, every 15 s.
const (
	noticeHz     = 1400
	noticeFrames = 10
	noticeEvery  = 15 * time.Second
	// noticeLevel is its amplitude, of 32,767: -24 dBFS, below a voice.
	noticeLevel = 2000
)

// Notice is that tone at one leg. It belongs to the conductor. Its zero value is off.
type Notice struct {
	On bool // the agent wants it

	listeners int
	again     time.Time // when it sounds next
	left      int       // of its frames
	frame     [media.MaxFrameSamples]int16
}

// Listens counts those who listen in: by is 1 when somebody begins to, of which the tone tells at once, and -1 when they do not any more.
func (n *Notice) Listens(by int) {
	n.listeners = max(0, n.listeners+by)
	if by > 0 {
		n.again = time.Time{}
	}
}

// Sounds says whether the next frame has some of the tone.
func (n *Notice) Sounds(now time.Time) bool {
	if n.left == 0 && n.On && n.listeners > 0 && !now.Before(n.again) {
		n.left, n.again = noticeFrames, now.Add(noticeEvery)
	}
	return n.left > 0
}

// Over is f with the tone over it, where Sounds is true. It is valid until the next call.
func (n *Notice) Over(f media.Frame) media.Frame {
	out := media.Frame{Samples: n.frame[:len(f.Samples)], Rate: f.Rate, At: f.At}
	from := (noticeFrames - n.left) * len(f.Samples)
	for i := range out.Samples {
		at := float64(from+i) / float64(f.Rate)
		out.Samples[i] = int16(noticeLevel * math.Sin(2*math.Pi*noticeHz*at))
	}
	mix(out, f)
	n.left--
	return out
}

// mix adds to the samples of one frame those of another of the same rate.
func mix(to, f media.Frame) {
	for i, v := range f.Samples[:min(len(f.Samples), len(to.Samples))] {
		to.Samples[i] = int16(min(max(int(to.Samples[i])+int(v), math.MinInt16), math.MaxInt16))
	}
}
