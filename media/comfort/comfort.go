// Package comfort is comfort noise: the background that a far end describes by its level instead of sending it (RFC 3389),
// and the floor that keeps a line from sounding dead.
package comfort

import "math"

// Loudest is the least level below overload, in dB, that Noise makes. No background is louder; a far end that says so would
// have its pauses taken for speech.
const Loudest = 30

// Noise is white noise: the spectrum in a packet is optional (RFC 3389 section 3.2), and a recogniser does not miss it. The zero Noise
// is silence. It belongs to one goroutine and does not allocate.
type Noise struct {
	amplitude int32 // the peak of the uniform distribution
	state     uint32
}

// Set makes the noise as loud as a level, in dB below overload (-dBov, RFC 3389 section 3.1).
func (n *Noise) Set(level uint8) {
	rms := 32768 * math.Pow(10, -float64(max(level, Loudest))/20)
	// Uniform noise has a peak of sqrt(3) times its effective value.
	n.amplitude = int32(rms * math.Sqrt(3))
}

// Silence makes it silent.
func (n *Noise) Silence() { n.amplitude = 0 }

// Sounds says whether there is anything to hear.
func (n *Noise) Sounds() bool { return n.amplitude > 0 }

// Fill writes the next samples of the noise to all of out.
func (n *Noise) Fill(out []int16) {
	if n.amplitude == 0 {
		clear(out)
		return
	}
	if n.state == 0 {
		n.state = 0x9E3779B9 // any odd start will do
	}
	x := n.state
	for i := range out {
		// Marsaglia, Xorshift RNGs, 2003.
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		out[i] = int16(int64(int32(x)) * int64(n.amplitude) >> 31)
	}
	n.state = x
}
