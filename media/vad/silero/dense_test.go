package silero

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestProducts: whatever the processor is good at gives what any processor does, of all sizes, and
// writes nowhere else.
func TestProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	random := func(n int) []float32 {
		list := make([]float32, n)
		for i := range list {
			list[i] = rng.Float32() - 0.5
		}
		return list
	}
	for _, outputs := range []int{8, 16, 32, 64, 96, 128, 512} {
		for _, inputs := range []int{1, 2, 3, 129, 256, 387} {
			d, x := newDense(random(outputs*inputs), random(outputs)), random(inputs)
			got, want := make([]float32, outputs+2*lanes), make([]float32, outputs)
			for i := range got {
				got[i] = 7
			}
			d.times(got[lanes:][:outputs], x)
			d.plain(want, x)
			for i, v := range got {
				switch o := i - lanes; {
				case o < 0 || o >= outputs:
					if v != 7 {
						t.Fatalf("%d outputs of %d inputs: number %d was written", outputs, inputs, o)
					}
				case math.Abs(float64(v-want[o])) > 1e-5:
					t.Fatalf("%d outputs of %d inputs: output %d is %v, want %v", outputs, inputs, o, v, want[o])
				}
			}
		}
	}
}
