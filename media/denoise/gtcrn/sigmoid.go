package gtcrn

import "math"

// exp is e to the power of x, up to rounding in the last places, and between 1e-37 and 1e37. That of
// package math is in float64 and takes three times as long.
//
// x is a whole number of ln 2, which gives the exponent, and a rest of at most half of it, for which
// the Taylor series of seven terms is exact to a float32.
func exp(x float32) float32 {
	const (
		log2e = 1 / math.Ln2
		high  = 0.693359375 // ln 2 in few bits, so that products with it are exact
		small = math.Ln2 - high
		round = 3 << 22 // a float32 of this size has no fraction
	)
	if x < -85 {
		x = -85
	} else if x > 85 {
		x = 85
	}
	shifted := float32(x*log2e) + round
	whole := shifted - round
	x = float32(x-whole*high) - whole*small
	x2 := x * x
	y := 1 + x + x2*(0.5+x*(1.0/6)+x2*(1.0/24+x*(1.0/120)+x2*(1.0/720+x*(1.0/5040))))
	return y * math.Float32frombits((math.Float32bits(shifted)+127)<<23)
}

func sigmoid(x float32) float32 { return 1 / (1 + exp(-x)) }

func tanh(x float32) float32 { return 2*sigmoid(2*x) - 1 }
