// Package fft transforms real blocks of a fixed even length and back, without allocating.
package fft

import "math"

// FFT transforms real blocks of a fixed even length and back. The length is the
// window itself (320 samples at 16 kHz) and not the next power of two: a third
// fewer bins is a third less work in everything that follows.
//
// It packs the block into half as many complex numbers (even samples real, odd
// samples imaginary) and runs self-sorting Stockham passes of radix 2, 3, 4 and
// 5 over them. It allocates only in New; it is not for concurrent use.
type FFT struct {
	n      int // real length
	passes []pass
	split  []complex64 // exp(-2 pi i k / n), to separate the two packed halves
	a, b   []complex64 // n/2 each
}

// pass is one radix-r step: it splits transforms of length r*m, of which stride
// are interleaved, into r transforms of length m.
type pass struct {
	radix, m, stride int
	twiddle          []complex64 // r-1 for each of the m butterflies
}

// Length is the smallest length from n on that FFT can transform.
func Length(n int) int {
	for n = max(n, 2); ; n++ {
		if n%2 == 0 && smooth(n/2) {
			return n
		}
	}
}

// smooth says whether n has no prime factor above 5.
func smooth(n int) bool {
	for _, p := range []int{2, 3, 5} {
		for n%p == 0 {
			n /= p
		}
	}
	return n == 1
}

// New prepares for length n, one that Length returned.
func New(n int) *FFT {
	half := n / 2
	f := &FFT{n: n, split: make([]complex64, half/2+1),
		a: make([]complex64, half), b: make([]complex64, half)}
	for k := range f.split {
		f.split[k] = root(k, n)
	}
	// Odd radices come first, while the inner loops are short anyway.
	for left, stride := half, 1; left > 1; {
		r := 2
		for _, try := range []int{5, 3, 4} {
			if left%try == 0 {
				r = try
				break
			}
		}
		p := pass{radix: r, m: left / r, stride: stride}
		for j := range p.m {
			for q := 1; q < r; q++ {
				p.twiddle = append(p.twiddle, root(j*q, left))
			}
		}
		f.passes = append(f.passes, p)
		left, stride = p.m, stride*r
	}
	return f
}

// root is exp(-2 pi i k / n).
func root(k, n int) complex64 {
	s, c := math.Sincos(-2 * math.Pi * float64(k%n) / float64(n))
	return complex(float32(c), float32(s))
}

// Forward writes the n/2+1 bins of the n samples in x to spectrum. A full-scale
// constant has n times its value in bin 0.
func (f *FFT) Forward(spectrum []complex64, x []float32) {
	half := f.n / 2
	for i := range f.a {
		f.a[i] = complex(x[2*i], x[2*i+1])
	}
	z := f.run()
	r, i := real(z[0]), imag(z[0])
	spectrum[0] = complex(r+i, 0)
	spectrum[half] = complex(r-i, 0)
	for k := 1; k < len(f.split); k++ {
		p, q := z[k], z[half-k]
		q = complex(real(q), -imag(q))
		even, odd := scaled(0.5, p+q), mulI(scaled(0.5, q-p))
		t := odd * f.split[k]
		spectrum[k] = even + t
		t = even - t
		spectrum[half-k] = complex(real(t), -imag(t))
	}
}

// Inverse undoes Forward.
func (f *FFT) Inverse(x []float32, spectrum []complex64) {
	half := f.n / 2
	scale := 1 / float32(f.n)
	// The packed spectrum is conjugated here and its transform below, which
	// turns the forward passes into backward ones.
	r, i := real(spectrum[0])*scale, real(spectrum[half])*scale
	f.a[0] = complex(r+i, i-r)
	for k := 1; k < len(f.split); k++ {
		p, q := spectrum[k], spectrum[half-k]
		q = complex(real(q), -imag(q))
		w := f.split[k]
		even, odd := p+q, mulI(p-q)*complex(real(w), -imag(w))
		t := even + odd
		f.a[k] = complex(real(t)*scale, -imag(t)*scale)
		t = even - odd
		f.a[half-k] = complex(real(t)*scale, imag(t)*scale)
	}
	for j, z := range f.run() {
		x[2*j], x[2*j+1] = real(z), -imag(z)
	}
}

// run transforms f.a and returns the result, which lies in f.a or f.b.
func (f *FFT) run() []complex64 {
	src, dst := f.a, f.b
	for i := range f.passes {
		p := &f.passes[i]
		switch p.radix {
		case 2:
			p.two(dst, src)
		case 3:
			p.three(dst, src)
		case 4:
			p.four(dst, src)
		default:
			p.five(dst, src)
		}
		src, dst = dst, src
	}
	return src
}

// mulI is i*z without the four multiplications.
func mulI(z complex64) complex64 { return complex(-imag(z), real(z)) }

// scaled is s*z without the four multiplications.
func scaled(s float32, z complex64) complex64 { return complex(s*real(z), s*imag(z)) }
