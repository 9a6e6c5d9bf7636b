package g722

// taps are every second coefficient of the quadrature mirror filters, which are symmetric: the
// others are these backwards (clause 3.1, table 11).
var taps = [12]int32{3, -11, 12, 32, -210, 951, 3876, -805, 362, -156, 53, -11}

// window is a filter's memory: the last 12 values, written twice, so that they always stand in a row.
type window struct {
	values [2 * len(taps)]int32
	at     int
}

// push takes a value and returns all, the oldest first.
func (w *window) push(v int32) *[len(taps)]int32 {
	w.values[w.at], w.values[w.at+len(taps)] = v, v
	w.at = (w.at + 1) % len(taps)
	return (*[len(taps)]int32)(w.values[w.at:])
}

// splitter is the transmitting pair of filters: it makes a sample of each band, of 15 bits, out of
// two (block TXQMF).
type splitter struct{ even, odd window }

func (s *splitter) split(first, second int16) (low, high int32) {
	x, y := s.even.push(int32(first)), s.odd.push(int32(second))
	a, b := int32(0), int32(0)
	for i, h := range taps {
		a += h * x[i]
		b += h * y[len(taps)-1-i]
	}
	return (a + b) >> 14, (b - a) >> 14
}

// joiner is the receiving pair: it makes two samples out of one of each band (block RECQMF).
type joiner struct{ sum, difference window }

func (j *joiner) join(low, high int32) (first, second int16) {
	d, s := j.difference.push(low-high), j.sum.push(low+high)
	a, b := int32(0), int32(0)
	for i, h := range taps {
		a += h * d[len(taps)-1-i]
		b += h * s[i]
	}
	return int16(saturate(a >> 11)), int16(saturate(b >> 11))
}
