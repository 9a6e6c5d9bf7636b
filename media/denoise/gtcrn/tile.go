package gtcrn

import "math"

// lanes is how many outputs are computed side by side, as many as registers hold. All layers but
// the first have a multiple of eight channels.
const lanes = 8

// margin is how many positions of zeros a plane has at each end.
const margin = 2

// eight is a value of each channel of a plane, or a bias of each output of a tile.
type eight = [lanes]float32

// plane is eight channels along the frequencies: position after position, the channels side by
// side, so that neighbouring positions are one window of a convolution.
type plane []float32

// pair is a layer: sixteen channels, of which most parts of the network take the halves apart.
type pair [2]plane

func newPlane(positions int) plane { return make(plane, (positions+2*margin)*lanes) }

func newPair(positions int) pair { return pair{newPlane(positions), newPlane(positions)} }

// from is the plane from a position on; -1 and -2 are zeros.
func (p plane) from(position int) []float32 { return p[(margin+position)*lanes:] }

// fill writes a bias to n positions, every step values.
func fill(y []float32, bias *eight, n, step int) {
	for i := range n {
		*(*eight)(y[i*step:]) = *bias
	}
}

// rectify multiplies what is negative (PReLU). Half of it is, in no order, so there is no branch.
func rectify(y []float32, slope float32) {
	factors := [2]float32{1, slope}
	for i, v := range y {
		y[i] = v * factors[math.Float32bits(v)>>31]
	}
}

func (y pair) clear() {
	clear(y[0])
	clear(y[1])
}

// plus adds x to y.
func (y pair) plus(x pair) {
	for half := range y {
		to := y[half]
		for i, v := range x[half][:len(to)] {
			to[i] += v
		}
	}
}

// tile is a matrix of eight rows, column by column.
type tile []eight

// newTile makes the matrix of these columns from its values.
func newTile(columns int, at func(row, column int) float32) tile {
	t := make(tile, columns)
	for c := range t {
		for r := range lanes {
			t[c][r] = at(r, c)
		}
	}
	return t
}

// add adds to y the product with a window of x, for each of n windows: one begins every xstep values,
// and its result lies ystep after the one before.
func (t tile) add(y, x []float32, n, ystep, xstep int) {
	for i := range n {
		to, x := (*eight)(y[i*ystep:]), x[i*xstep:][:len(t)]
		y0, y1, y2, y3, y4, y5, y6, y7 := to[0], to[1], to[2], to[3], to[4], to[5], to[6], to[7]
		for c := range t {
			w, v := &t[c], x[c]
			y0 += w[0] * v
			y1 += w[1] * v
			y2 += w[2] * v
			y3 += w[3] * v
			y4 += w[4] * v
			y5 += w[5] * v
			y6 += w[6] * v
			y7 += w[7] * v
		}
		*to = eight{y0, y1, y2, y3, y4, y5, y6, y7}
	}
}

// three is the weights of three neighbouring positions, each channel for itself.
type three [3 * lanes]float32

// add adds to n positions of y the neighbours of the same positions of x.
func (t *three) add(y, x plane, n int) {
	for i := range n {
		to, from := (*eight)(y.from(i)), (*three)(x.from(i-1))
		for c := range to {
			to[c] += t[c]*from[c] + t[lanes+c]*from[lanes+c] + t[2*lanes+c]*from[2*lanes+c]
		}
	}
}
