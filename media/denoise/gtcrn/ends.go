package gtcrn

import "math"

// stem is the first convolution of the encoder, every second position of a window of five, together with what
// comes before it: each position has its features and those of both neighbours. So an output is of seven
// positions. Beside the first and the last position are zeros, in place of features and
// neighbours both, which the outputs at the ends therefore take apart.
type stem struct {
	first, inner, last [2]tile // to each half of the outputs
	bias               [2]eight
	slope              float32
}

func newStem(r *reader) stem {
	const window, kernel, columns = 5, 3, (2*reach + 1) * features
	s := stem{slope: constant(slopesAt[0])}
	m := r.matrix(2*lanes, features*kernel*window)
	m.bias = r.take(2 * lanes)
	for half := range s.bias {
		s.bias[half] = eight(m.bias[half*lanes:])
		sum := func(from, to int) tile {
			return newTile(columns, func(row, column int) float32 {
				var w float32
				for tap := from; tap < to; tap++ {
					if k := column/features - tap; k >= 0 && k < kernel {
						w += m.at(half*lanes+row, (column%features*kernel+k)*window+tap)
					}
				}
				return w
			})
		}
		s.first[half], s.inner[half], s.last[half] = sum(2, window), sum(0, window), sum(0, window-2)
	}
	return s
}

// run writes to y; x is the features of all positions, and of reach zeros at each end.
func (s *stem) run(y pair, x []float32) {
	const step = 2 * features
	for half, p := range y {
		fill(p.from(0), &s.bias[half], middle, lanes)
		s.first[half].add(p.from(0), x, 1, lanes, step)
		s.inner[half].add(p.from(1), x[step:], middle-2, lanes, step)
		s.last[half].add(p.from(middle-1), x[(middle-1)*step:], 1, lanes, step)
		rectify(p, s.slope)
	}
}

// convolution is of one half of the channels to the same half, strided by two.
type convolution struct {
	bias  eight
	tiles [2]tile // one, or of the even and of the odd positions
	slope float32
}

func newSecond(r *reader) [2]convolution {
	const window = 5
	m := r.matrix(2*lanes, lanes*window)
	m.bias = r.take(2 * lanes)
	var c [2]convolution
	for half := range c {
		c[half].bias, c[half].slope = eight(m.bias[half*lanes:]), constant(slopesAt[1])
		c[half].tiles[0] = m.tile(half*lanes, lanes*window, taps(window))
	}
	return c
}

// narrow writes every second position of x to y.
func (c *convolution) narrow(y, x plane) {
	fill(y.from(0), &c.bias, width, lanes)
	c.tiles[0].add(y.from(0), x.from(-2), width, lanes, 2*lanes)
	rectify(y, c.slope)
}

// newThird takes the convolution that doubles the positions: output o has the tap o+2-2*i of input i.
func newThird(r *reader) [2]convolution {
	const window = 5
	whole := &matrix{inputs: lanes * window}
	for range 2 {
		m := r.transposed(lanes, lanes, window)
		whole.rows = append(whole.rows, m.rows...)
		whole.bias = append(whole.bias, r.take(lanes)...)
	}
	whole.normalise(r)
	var c [2]convolution
	for half := range c {
		c[half].bias, c[half].slope = eight(whole.bias[half*lanes:]), constant(slopesAt[len(slopesAt)-1])
		for odd := range 2 {
			// The window of an even position begins one before, that of an odd one at its half.
			c[half].tiles[odd] = whole.tile(half*lanes, (3-odd)*lanes, func(column int) int {
				return column%lanes*window + 4 - odd - 2*(column/lanes)
			})
		}
	}
	return c
}

// widen writes twice as many positions as x has to y.
func (c *convolution) widen(y, x plane) {
	fill(y.from(0), &c.bias, middle, lanes)
	c.tiles[0].add(y.from(0), x.from(-1), width, 2*lanes, lanes)
	c.tiles[1].add(y.from(1), x.from(0), width-1, 2*lanes, lanes)
	rectify(y, c.slope)
}

// head is the convolution that gives the mask, the real and the imaginary part at twice as many
// positions. Each tile gives four positions, from four of each half of the inputs.
type head struct {
	tiles [2]tile
	bias  eight
}

// heads is how many tiles give all positions, and masks how many values they write.
const (
	heads = (wide + 3) / 4
	masks = heads * lanes
)

func newHead(r *reader) head {
	const window, inputs = 5, 4 * lanes
	m := r.transposed(2, 2*lanes, window)
	m.bias = r.take(2)
	m.normalise(r)
	var h head
	for half := range h.tiles {
		h.tiles[half] = newTile(inputs, func(row, column int) float32 {
			tap := row/2 + 4 - 2*(column/lanes)
			if tap < 0 || tap >= window {
				return 0
			}
			return m.at(row%2, (half*lanes+column%lanes)*window+tap)
		})
	}
	for k := range h.bias {
		h.bias[k] = m.bias[k%2]
	}
	return h
}

// run writes the mask of all positions, and of some more.
func (h *head) run(mask *[masks]float32, x pair) {
	fill(mask[:], &h.bias, heads, lanes)
	for half, p := range x {
		h.tiles[half].add(mask[:], p.from(-1), heads, lanes, 2*lanes)
	}
	for i, v := range mask[:2*wide] {
		mask[i] = tanh(v)
	}
}

// magnitude is that of a bin.
func magnitude(z complex64) float32 {
	return float32(math.Sqrt(float64(real(z)*real(z)+imag(z)*imag(z)) + 1e-12))
}
