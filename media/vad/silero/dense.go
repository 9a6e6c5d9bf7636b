package silero

// lanes is how many outputs are computed side by side, as many as registers hold.
const lanes = 8

// dense is a matrix and a bias. The rows of each eight outputs lie interleaved, so that they
// are read in order.
type dense struct {
	weights, bias []float32
}

// newDense takes a matrix row by row; the rows are a multiple of lanes.
func newDense(rows, bias []float32) dense {
	n := len(rows) / len(bias)
	d := dense{make([]float32, 0, len(rows)), bias}
	for o := 0; o < len(bias); o += lanes {
		for k := range n {
			for l := range lanes {
				d.weights = append(d.weights, rows[(o+l)*n+k])
			}
		}
	}
	return d
}

func (d *dense) rows() int { return len(d.bias) }

// plain writes the product with x to y, on any processor.
func (d *dense) plain(y, x []float32) {
	w := d.weights
	for o := 0; o < len(d.bias); o += lanes {
		b := (*[lanes]float32)(d.bias[o:])
		y0, y1, y2, y3, y4, y5, y6, y7 := b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]
		for _, v := range x {
			r := (*[lanes]float32)(w)
			y0 += r[0] * v
			y1 += r[1] * v
			y2 += r[2] * v
			y3 += r[3] * v
			y4 += r[4] * v
			y5 += r[5] * v
			y6 += r[6] * v
			y7 += r[7] * v
			w = w[lanes:]
		}
		*(*[lanes]float32)(y[o:]) = [lanes]float32{y0, y1, y2, y3, y4, y5, y6, y7}
	}
}
