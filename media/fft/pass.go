package fft

// The butterflies. Each reads its legs a quarter (third, fifth) of the block
// apart and writes them next to one another, so that no reordering is needed.

func (p *pass) two(dst, src []complex64) {
	s := p.stride
	for j := range p.m {
		w := p.twiddle[j]
		x0, x1 := src[s*j:][:s], src[s*(j+p.m):][:s]
		y0, y1 := dst[2*s*j:][:s], dst[s*(2*j+1):][:s]
		for q := range s {
			a, b := x0[q], x1[q]
			y0[q] = a + b
			y1[q] = (a - b) * w
		}
	}
}

func (p *pass) three(dst, src []complex64) {
	const sin60 = 0.86602540378443864676
	s := p.stride
	for j := range p.m {
		w1, w2 := p.twiddle[2*j], p.twiddle[2*j+1]
		x0, x1, x2 := src[s*j:][:s], src[s*(j+p.m):][:s], src[s*(j+2*p.m):][:s]
		y0, y1, y2 := dst[3*s*j:][:s], dst[s*(3*j+1):][:s], dst[s*(3*j+2):][:s]
		for q := range s {
			a, b, c := x0[q], x1[q], x2[q]
			sum, diff := b+c, mulI(scaled(sin60, b-c))
			mid := a - scaled(0.5, sum)
			y0[q] = a + sum
			y1[q] = (mid - diff) * w1
			y2[q] = (mid + diff) * w2
		}
	}
}

func (p *pass) four(dst, src []complex64) {
	s := p.stride
	for j := range p.m {
		w1, w2, w3 := p.twiddle[3*j], p.twiddle[3*j+1], p.twiddle[3*j+2]
		x0, x1 := src[s*j:][:s], src[s*(j+p.m):][:s]
		x2, x3 := src[s*(j+2*p.m):][:s], src[s*(j+3*p.m):][:s]
		y0, y1 := dst[4*s*j:][:s], dst[s*(4*j+1):][:s]
		y2, y3 := dst[s*(4*j+2):][:s], dst[s*(4*j+3):][:s]
		for q := range s {
			sum02, diff02 := x0[q]+x2[q], x0[q]-x2[q]
			sum13, diff13 := x1[q]+x3[q], mulI(x1[q]-x3[q])
			y0[q] = sum02 + sum13
			y1[q] = (diff02 - diff13) * w1
			y2[q] = (sum02 - sum13) * w2
			y3[q] = (diff02 + diff13) * w3
		}
	}
}

func (p *pass) five(dst, src []complex64) {
	const (
		cos72, sin72   = 0.30901699437494742410, 0.95105651629515357212
		cos144, sin144 = -0.80901699437494742410, 0.58778525229247312917
	)
	s := p.stride
	for j := range p.m {
		w := p.twiddle[4*j:][:4]
		for q := range s {
			a := src[s*j+q]
			b, e := src[s*(j+p.m)+q], src[s*(j+4*p.m)+q]
			c, d := src[s*(j+2*p.m)+q], src[s*(j+3*p.m)+q]
			outer, inner := b+e, c+d
			du, di := b-e, c-d
			m1 := a + scaled(cos72, outer) + scaled(cos144, inner)
			m2 := a + scaled(cos144, outer) + scaled(cos72, inner)
			t1 := mulI(scaled(sin72, du) + scaled(sin144, di))
			t2 := mulI(scaled(sin144, du) - scaled(sin72, di))
			out := dst[s*5*j+q:]
			out[0] = a + outer + inner
			out[s] = (m1 - t1) * w[0]
			out[2*s] = (m2 - t2) * w[1]
			out[3*s] = (m2 + t2) * w[2]
			out[4*s] = (m1 + t1) * w[3]
		}
	}
}
