package resample

import (
	"math"
	"sync"

	"parley/media"
)

// The polyphase filter, in samples of the lower rate and units of its Nyquist
// frequency. A cutoff a little under 1 costs 0.06 dB at 0.85 and puts less of what
// lies between 1 and 1.15 into the band; the window keeps 94 dB from 1.15 on.
const (
	halfWidth = 20 // 40 taps a phase when the rate rises
	cutoff    = 0.96
	polyBeta  = 9.2
)

// bank holds the phases of a filter in the order in which outputs use them, so
// that converting walks through memory once per cycle. It is read only.
type bank struct {
	up, down int // a cycle makes up samples of down
	taps     int // of each phase, a multiple of 4
	coef     []float32
	start    []int32 // where in the cycle's input each output's taps begin
}

// banks has the bank of every ratio between the rates of a call that was asked
// for: from [2]int to func() *bank. The largest takes 72 KB.
var banks sync.Map

// bankFor returns the shared bank of two rates of a call, or a new one for an
// uncommon rate, which must not fill the memory for good.
func bankFor(from, to media.Rate) *bank {
	up, down := Ratio(from, to)
	if !from.Valid() || !to.Valid() {
		return newBank(up, down)
	}
	key := [2]int{up, down}
	build, ok := banks.Load(key)
	if !ok {
		build, _ = banks.LoadOrStore(key, sync.OnceValue(func() *bank { return newBank(up, down) }))
	}
	return build.(func() *bank)()
}

func newBank(up, down int) *bank {
	scale := min(1, float64(up)/float64(down)) // lower rate over input rate
	half := int(math.Ceil(halfWidth/scale/2)) * 2
	b := &bank{up: up, down: down, taps: 2 * half}
	b.coef = make([]float32, up*b.taps)
	b.start = make([]int32, up)
	h := make([]float64, b.taps)
	for j := range up {
		b.start[j] = int32(j * down / up)
		frac := float64(j*down%up) / float64(up)
		sum := 0.0
		for i := range h {
			t := frac + float64(half-1-i) // from this input sample to the output
			h[i] = sinc(cutoff*scale*t) * kaiser(t/float64(half), polyBeta)
			sum += h[i]
		}
		for i := range h { // the same gain for every phase, or direct current would whistle
			b.coef[j*b.taps+i] = float32(h[i] / sum)
		}
	}
	return b
}

// polyphase converts by any ratio.
type polyphase struct {
	*bank
	n int       // input samples in a block
	x []float32 // taps-1 of history, then a block
}

func newPolyphase(b *bank, n int) *polyphase {
	return &polyphase{bank: b, n: n, x: make([]float32, b.taps-1+n)}
}

func (p *polyphase) convert(dst, src []int16) {
	widen(p.x[p.taps-1:], src)
	for at := 0; at < p.n; at += p.down {
		x, out := p.x[at:], dst[:p.up]
		for j, s := range p.start {
			out[j] = narrow(dot(p.coef[j*p.taps:][:p.taps], x[s:]))
		}
		dst = dst[p.up:]
	}
	copy(p.x, p.x[p.n:])
}

func (p *polyphase) prime(samples []int16) { fill(p.x[:p.taps-1], samples) }

func (p *polyphase) delay() (in, out int) { return p.taps / 2, 0 }

// dot is the sum of a[i]*b[i], where len(a) is a multiple of 4 and b is at least
// as long. Eight sums hide the latency of the addition: with four the processor
// waits for it.
func dot(a, b []float32) float32 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	b = b[:len(a)]
	for len(a) >= 8 && len(b) >= 8 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		s4 += a[4] * b[4]
		s5 += a[5] * b[5]
		s6 += a[6] * b[6]
		s7 += a[7] * b[7]
		a, b = a[8:], b[8:]
	}
	if len(a) >= 4 && len(b) >= 4 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
	}
	return ((s0 + s4) + (s1 + s5)) + ((s2 + s6) + (s3 + s7))
}
