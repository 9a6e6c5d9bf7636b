// Package resample converts audio between sample rates with linear-phase FIR
// filters in float32: a half-band filter where the rates are 2:1, a polyphase
// filter for every other ratio. Both pass the band up to 0.85 of the lower rate's
// Nyquist frequency within 0.1 dB and stop it from 1.15, where what folds back
// lands above the band that was kept.
//
// Resampler is a media.Stage for live audio: 20 ms in, 20 ms out, from the first
// frame on. All converts a whole clip and takes the delay out; Stream does so in pieces.
//
// Filter design: J. F. Kaiser and R. W. Schafer, "On the use of the I0-sinh window
// for spectrum analysis", IEEE Trans. ASSP 28 (1980); half-band and polyphase
// forms: R. E. Crochiere and L. R. Rabiner, "Multirate Digital Signal Processing"
// (1983), chapters 3 and 4.
package resample

import (
	"fmt"
	"slices"

	"parley/media"
)

// The rates and ratios that All accepts besides those of a call. The largest
// Ratio bounds the filter bank that an uploaded file can make us build; every
// rate in common use is far inside it.
const (
	minRate  media.Rate = 4000
	maxRate  media.Rate = 192000
	maxRatio            = 1280
)

// Resampler is a media.Stage that converts 20 ms frames from one rate to another
// and keeps the history that makes consecutive frames join without a seam. The
// filters are shared by all Resamplers; each has only its history, at most 6 KB.
type Resampler struct {
	to    media.Rate
	delay media.Time
	conv  converter // nil when the rates are equal
	out   []int16
}

// New returns a Resampler between two rates of a call; it panics when one is not
// Valid. Equal rates give a Resampler that hands its frames through.
func New(from, to media.Rate) *Resampler {
	if !from.Valid() || !to.Valid() {
		panic(fmt.Sprintf("resample: no conversion from %v to %v", from, to))
	}
	r := &Resampler{to: to}
	if from == to {
		return r
	}
	r.conv = newConverter(from, to, from.FrameSamples())
	in, out := r.conv.delay()
	r.delay = from.Duration(in) + to.Duration(out)
	r.out = make([]int16, to.FrameSamples())
	return r
}

// Process converts one 20 ms frame. It keeps the frame's At: the audio in it lies
// Delay further back. A frame that is too short is taken to end in silence, and
// what is too long is cut. Equal rates return the argument itself.
func (r *Resampler) Process(f media.Frame) media.Frame {
	if r.conv == nil {
		return f
	}
	r.conv.convert(r.out, f.Samples)
	return media.Frame{Samples: r.out, Rate: r.to, At: f.At}
}

// Delay is the delay of the filter, 0.4 to 2.6 ms; 0 for equal rates.
func (r *Resampler) Delay() media.Time { return r.delay }

// Reset forgets the history: the next frame is preceded by silence.
func (r *Resampler) Reset() {
	if r.conv != nil {
		r.conv.prime(nil)
	}
}

// Supported says whether All converts between two rates: all rates of a call, and
// others between 4 and 192 kHz unless their ratio is far from a simple one.
func Supported(from, to media.Rate) bool {
	if from < minRate || from > maxRate || to < minRate || to > maxRate {
		return false
	}
	up, down := Ratio(from, to)
	return up <= maxRatio && down <= maxRatio
}

// All converts a whole clip, with silence before and after it. Sample n of the
// result is at the same time as sample n of the clip, without delay, and there
// are round(len(samples)*to/from) of them. The result is always a new slice. All
// panics when the rates are not Supported.
func All(samples []int16, from, to media.Rate) []int16 {
	s := NewStream(from, to)
	n := (int64(len(samples))*int64(to) + int64(from)/2) / int64(from)
	return slices.Clip(s.Finish(s.Convert(make([]int16, 0, n+int64(len(s.out))), samples)))
}

// converter is a filter with its history.
type converter interface {
	// convert turns one block into as many samples as dst has. What src lacks
	// of a whole block is silence.
	convert(dst, src []int16)
	// prime replaces the history by silence and then samples, of which there are
	// no more than the first result of delay.
	prime(samples []int16)
	// delay is how far the output lags: in samples of the input, and besides
	// in samples of the output.
	delay() (in, out int)
}

// newConverter returns a converter for blocks of n input samples, which are a
// whole number of cycles of the ratio.
func newConverter(from, to media.Rate, n int) converter {
	switch {
	case to == 2*from:
		return newDoubler(n)
	case from == 2*to:
		return newHalver(n)
	}
	return newPolyphase(bankFor(from, to), n)
}

// Ratio is to/from in lowest terms: up output samples for down input samples.
func Ratio(from, to media.Rate) (up, down int) {
	a, b := from, to
	for b != 0 {
		a, b = b, a%b
	}
	return int(to / a), int(from / a)
}

// widen copies src into dst as float32 and clears what is left of dst.
func widen(dst []float32, src []int16) {
	n := min(len(dst), len(src))
	for i, s := range src[:n] {
		dst[i] = float32(s)
	}
	clear(dst[n:])
}

// narrow rounds to the nearest sample and saturates. The offset makes the
// truncation of the conversion a floor, without a branch on the sign.
func narrow(x float32) int16 {
	v := int32(x + 32768.5)
	if uint32(v) > 65535 {
		v = min(max(v, 0), 65535)
	}
	return int16(v - 32768)
}
