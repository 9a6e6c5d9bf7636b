package jitter

import "math"

// noise makes the background that a far end describes instead of sending it
// (RFC 3389; the spectral part is optional, and white noise serves a recogniser).
type noise struct {
	on        bool  // the far end has announced a pause, and nothing has come since
	amplitude int32 // of the last announcement: peak of the uniform distribution
	state     uint32
}

// set takes the payload of a comfort noise packet: the level in -dBov, 0 to 127.
func (n *noise) set(payload []byte) {
	n.on, n.amplitude = true, 0
	if len(payload) == 0 {
		return
	}
	rms := 32768 * math.Pow(10, -float64(payload[0]&0x7F)/20)
	// Uniform noise has a peak of sqrt(3) times its effective value.
	n.amplitude = int32(min(rms*math.Sqrt(3), 32767))
}

func (n *noise) fill(out []int16) {
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
