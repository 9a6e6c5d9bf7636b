package bridge

import (
	"math"
	"time"

	"parley/media"
)

// If the agent has ListeningTone, those in a call hear a tone when somebody begins to listen in, and while they do. It is the tone that
// recorders in the United States make (47 CFR 64.501, and the tariffs of its telephone companies): 1.4 kHz for 200 ms, every 15 s.
const (
	noticeHz     = 1400
	noticeFrames = 10
	noticeEvery  = 15 * time.Second
	// noticeLevel is its amplitude, of 32,767: -24 dBFS, below a voice.
	noticeLevel = 2000
)

// Notice is the tone at one leg. It belongs to the conductor. Its zero value is off.
type Notice struct {
	On bool // the agent wants it

	listeners int
	again     time.Time // when it sounds next
	left      int       // of its frames
	frame     [media.MaxFrameSamples]int16
}

// Listens counts those who listen in: by is 1 when somebody begins, which sounds the tone at once, and -1 when somebody stops.
func (n *Notice) Listens(by int) {
	n.listeners = max(0, n.listeners+by)
	if by > 0 {
		n.again = time.Time{}
	}
}

// Sounds says whether the tone is in the next frame.
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

// mix adds the samples of a frame to those of another of the same rate.
func mix(to, f media.Frame) {
	for i, v := range f.Samples[:min(len(f.Samples), len(to.Samples))] {
		to.Samples[i] = int16(min(max(int(to.Samples[i])+int(v), math.MinInt16), math.MaxInt16))
	}
}
