package silero

import "golang.org/x/sys/cpu"

// vectors says whether the processor multiplies eight numbers at once (AVX2 and FMA, of 2013):
// with them a second of speech costs a quarter.
var vectors = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// product writes to the four times lanes numbers at y those at bias and the products of n numbers
// at x with the weights of four groups, which lie stride bytes apart. n is above 0.
//
//go:noescape
func product(y, bias, weights, x *float32, n, stride int)

// times writes the product with x to y.
func (d *dense) times(y, x []float32) {
	const groups = 4 * lanes
	if !vectors || len(d.bias)%groups != 0 || len(x) == 0 {
		d.plain(y, x)
		return
	}
	// The assembly does not look where slices end.
	y, w := y[:len(d.bias)], d.weights[:len(d.bias)*len(x)]
	for o := 0; o < len(d.bias); o += groups {
		product(&y[o], &d.bias[o], &w[o*len(x)], &x[0], len(x), 4*lanes*len(x))
	}
}
