// Package media defines the values and contracts that carry a call's audio:
// a 20 ms Frame, exact media Time, sample Rates, the Leg that hides a network,
// the Stage that changes frames and the Pacer that says when frames are due.
//
// It imports nothing of ours. Its rule for everything in the 20 ms path: do not
// allocate, block, log or take a contended lock.
package media

import (
	"fmt"
	"time"
)

// FrameDuration is the length of every frame inside a call.
const FrameDuration = 20 * time.Millisecond

// Rate is a sample rate in samples per second.
type Rate int32

// The rates a call may use, in samples per second.
const (
	Rate8k  Rate = 8000
	Rate16k Rate = 16000
	Rate22k Rate = 22050
	Rate24k Rate = 24000
	Rate44k Rate = 44100
	Rate48k Rate = 48000
)

// MaxFrameSamples is the length of a frame at the highest rate: a buffer of this
// many samples holds any frame.
const MaxFrameSamples = int(Rate48k) / 50

// Valid says whether r is one of the rates listed above.
func (r Rate) Valid() bool {
	switch r {
	case Rate8k, Rate16k, Rate22k, Rate24k, Rate44k, Rate48k:
		return true
	}
	return false
}

// FrameSamples is the number of samples in 20 ms: 160, 320, 441, 480, 882 or 960.
func (r Rate) FrameSamples() int { return int(r) / 50 }

// Tick is the exact length of one sample in media Time.
func (r Rate) Tick() Time { return Second / Time(r) }

// Duration is the exact media time of n samples at rate r.
func (r Rate) Duration(n int) Time { return Time(n) * r.Tick() }

// String gives the rate as "16000 Hz".
func (r Rate) String() string { return fmt.Sprintf("%d Hz", int32(r)) }

// Time is media time: a count of 1/7,056,000 s, the smallest unit in which one
// sample at each of our rates is a whole number. It counts samples heard or
// played, never the wall clock, and holds 41,000 years.
type Time int64

// Media time units.
const (
	Second      Time = 7_056_000
	Millisecond Time = Second / 1000
	// FrameTime is FrameDuration in media time.
	FrameTime Time = 20 * Millisecond
)

// FromDuration converts d, rounding toward zero to a whole unit.
func FromDuration(d time.Duration) Time {
	s := int64(d / time.Second)
	return Time(s)*Second + Time(int64(d%time.Second)*int64(Second)/int64(time.Second))
}

// Duration converts t to wall-clock units, rounded toward zero to the nanosecond.
// It holds for 292 years, as long as a time.Duration.
func (t Time) Duration() time.Duration {
	s := int64(t / Second)
	return time.Duration(s)*time.Second + time.Duration(int64(t%Second)*int64(time.Second)/int64(Second))
}

// Samples is the number of whole samples at rate r that fit in t, rounded toward
// zero.
func (t Time) Samples(r Rate) int { return int(t / r.Tick()) }

// Milliseconds is t in whole milliseconds, rounded toward zero.
func (t Time) Milliseconds() int64 { return int64(t / Millisecond) }

// Frame is 20 ms of mono, signed 16-bit audio. It is a value whose Samples are
// borrowed: they are valid until the next call to the source of the frame. Copy
// them to keep them longer.
type Frame struct {
	Samples []int16
	Rate    Rate
	At      Time // media time of the first sample, from the start of its stream
}

// Silence is a frame in which nothing sounds. Its samples are not to be changed.
func Silence(r Rate) Frame { return Frame{Samples: silence[:r.FrameSamples()], Rate: r} }

var silence [MaxFrameSamples]int16

// Stage changes frames: a denoiser, a resampler, a gain. Process cannot fail,
// block, allocate or log; the frame it returns is valid until the next call and
// may reuse the samples of its argument. A Stage belongs to one goroutine.
type Stage interface {
	Process(Frame) Frame
	// Delay is how far the output lags the input.
	Delay() Time
	// Reset forgets all history, as at the start of a stream.
	Reset()
}
