package record

import (
	"encoding/binary"
	"io"
	"slices"
	"time"

	"parley/media"
	"parley/media/resample"
)

const (
	// hold is how long audio that was heard stays in the window: what was said may
	// still be put beside it.
	hold = 300 * media.Millisecond
	// blockTime is how much is written at once.
	blockTime = 500 * media.Millisecond
	// room is what the window has besides the audio that a leg accepts ahead.
	room = 2 * media.Second

	// Conductors wake up late, never early, so the least of so many measurements is
	// the truth.
	heardWindow = 50
	spokeWindow = 25
	// tolerance is how far the agent's side may be from where it was measured to be
	// before it is moved, and stall how far at most while it is measured.
	tolerance = 8 * media.Millisecond
	stall     = 60 * media.Millisecond
)

// track is the recording at work: the last of it in a window, the rest in the file.
// Positions count samples from the caller's media time 0.
type track struct {
	rate   media.Rate
	format media.Format
	left   side
	right  side
	clock  least // of the caller's media time: how much later the wall's is
	drift  least // of the agent's side: how much too early it is put
	end    media.Time
	begun  bool       // the right side has a position
	firm   bool       // on a continuous leg: it had a sound, or has lasted for a second
	silent int        // frames before that
	first  media.Time // by the wall's clock, where the first of these belongs
	window []int16
	base   int64 // position of the window's first sample
	size   int64
	high   int64 // end of what was put
	out    io.Writer
	buf    []byte
	err    error
}

// side converts one side's audio.
type side struct {
	conv *resample.Resampler // nil: none is needed
	from media.Rate
	at   media.Time // where the next frame continues
}

// least follows the smallest of the last measurements.
type least struct {
	value, low media.Time
	n          int
	known      bool
}

// add takes a measurement; every so many the smallest of them becomes the value.
func (l *least) add(d media.Time, window int) (fresh bool) {
	if l.n == 0 || d < l.low {
		l.low = d
	}
	if l.n++; l.n == window {
		l.value, l.n, fresh = l.low, 0, true
	}
	return fresh
}

func newTrack(f media.Format) *track {
	t := &track{rate: Rate(f), format: f}
	t.size = int64((media.FromDuration(f.Lead) + room).Samples(t.rate))
	t.window = make([]int16, Channels*t.size)
	t.buf = make([]byte, 0, 2*len(t.window))
	return t
}

// hear puts a frame of the caller's on the left.
func (t *track) hear(f media.Frame, now time.Duration) {
	late := media.FromDuration(now) - f.At - media.FrameTime
	if !t.clock.known || late < t.clock.value {
		t.clock.value, t.clock.known = late, true
	}
	t.clock.add(late, heardWindow)
	t.end = f.At + media.FrameTime
	t.put(&t.left, 0, f, f.At)
}

// speak puts a frame of the agent's on the right, where the caller hears it.
func (t *track) speak(f media.Frame, now time.Duration, ahead media.Time) {
	here := media.FromDuration(now) - t.clock.value
	at := t.right.at
	if t.format.Continuous {
		if t.firm = t.firm || t.silent == heardWindow || isLoud(f.Samples); t.firm {
			at = t.steady(here + ahead)
		} else {
			at = t.follow(here + ahead)
		}
	} else if off := here - at; !t.begun || off > tolerance || ahead <= 0 && off < -stall {
		at = here // the far end had nothing to play
	}
	t.begun = true
	t.put(&t.right, 1, f, max(0, at))
	t.right.at = max(0, at) + media.FrameTime
}

// follow is where a frame of silence at the beginning belongs: where the best measurements so far say, because
// moved silence is not heard.
func (t *track) follow(measured media.Time) media.Time {
	first := measured + t.clock.value - media.Time(t.silent)*media.FrameTime
	if first > t.first+stall { // frames were left out
		t.silent = 0
		first = measured + t.clock.value
	}
	if t.silent == 0 || first < t.first {
		t.first = first
	}
	t.silent++
	return t.first + media.Time(t.silent-1)*media.FrameTime - t.clock.value
}

func isLoud(samples []int16) bool {
	return slices.ContainsFunc(samples, func(v int16) bool { return v < -8 || v > 8 }) // G.711 has no zero
}

// steady is where a frame of a leg goes on that has one each 20 ms: behind the last, as
// long as the measurements do not say otherwise.
func (t *track) steady(measured media.Time) media.Time {
	d := measured - t.right.at
	if !t.begun || d > stall || d < -2*stall {
		t.drift = least{}
		return measured
	}
	if t.drift.add(d, spokeWindow) && (t.drift.value > tolerance || t.drift.value < -tolerance) {
		return t.right.at + t.drift.value
	}
	return t.right.at
}

// recall takes back the last d of what was said.
func (t *track) recall(d media.Time) {
	t.right.at = max(0, t.right.at-d)
	for p := max(t.base, int64(t.right.at.Samples(t.rate))); p < t.base+t.size; p++ {
		t.window[Channels*(p%t.size)+1] = 0
	}
	if t.right.conv != nil {
		t.right.conv.Reset()
	}
}

// put converts a frame and puts it at its place.
func (t *track) put(s *side, channel int64, f media.Frame, at media.Time) {
	if f.Rate != t.rate {
		if s.conv == nil || s.from != f.Rate {
			s.conv, s.from = resample.New(f.Rate, t.rate), f.Rate
		} else if channel == 1 && at != s.at {
			s.conv.Reset()
		}
		f = s.conv.Process(f)
		at -= s.conv.Delay()
	}
	from := int64(at / t.rate.Tick())
	to := from + int64(len(f.Samples))
	if to > t.base+t.size {
		t.write(to - t.size)
	}
	for i, v := range f.Samples {
		if p := from + int64(i); p >= t.base {
			t.window[Channels*(p%t.size)+channel] = v
		}
	}
	t.high = max(t.high, to)
}

// settle writes what is old enough.
func (t *track) settle() {
	ready := int64((t.end - hold).Samples(t.rate))
	if ready-t.base >= int64(blockTime.Samples(t.rate)) {
		t.write(ready)
	}
}

// finish writes all that is left. What the caller had not heard is not there.
func (t *track) finish() { t.write(t.high) }

// write writes the recording up to a position and moves the window there.
func (t *track) write(to int64) {
	for t.base < to {
		n := min(to-t.base, t.size)
		t.buf = t.buf[:0]
		for p := t.base; p < t.base+n; p++ {
			i := Channels * (p % t.size)
			pair := t.window[i : i+Channels]
			t.buf = binary.LittleEndian.AppendUint16(t.buf, uint16(pair[0]))
			t.buf = binary.LittleEndian.AppendUint16(t.buf, uint16(pair[1]))
			clear(pair)
		}
		if t.err == nil {
			_, t.err = t.out.Write(t.buf)
		}
		t.base += n
	}
}
