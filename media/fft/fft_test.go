package fft

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"
)

func TestFFTLength(t *testing.T) {
	for n, want := range map[int]int{0: 2, 160: 160, 320: 320, 440: 450, 441: 450, 480: 480, 882: 900, 960: 960} {
		if got := Length(n); got != want {
			t.Errorf("Length(%d) = %d, want %d", n, got, want)
		}
	}
}

// TestFFT compares with the definition of the transform, and there and back.
func TestFFT(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{2, 4, 6, 10, 160, 320, 450, 480, 900, 960} {
		f := New(n)
		x, back := make([]float32, n), make([]float32, n)
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		spectrum := make([]complex64, n/2+1)
		f.Forward(spectrum, x)
		for k, got := range spectrum {
			var want complex128
			for i, v := range x {
				want += complex(float64(v), 0) * cmplx.Rect(1, -2*math.Pi*float64(k*i%n)/float64(n))
			}
			if d := cmplx.Abs(complex128(got) - want); d > 2e-6*float64(n) {
				t.Fatalf("n=%d bin %d: %v, want %v", n, k, got, want)
			}
		}
		f.Inverse(back, spectrum)
		for i := range x {
			if math.Abs(float64(back[i]-x[i])) > 1e-5 {
				t.Fatalf("n=%d sample %d: %g came back as %g", n, i, x[i], back[i])
			}
		}
	}
}

func BenchmarkFFT320(b *testing.B) {
	f := New(320)
	x, s := make([]float32, 320), make([]complex64, 161)
	x[3] = 1
	for b.Loop() {
		f.Forward(s, x)
		f.Inverse(x, s)
	}
}
