package gtcrn

// blocks is how many blocks of grouped temporal convolution there are, the first half of them in
// the encoder.
const blocks = 6

// dilations is how many frames lie between the taps of each block.
var dilations = [blocks]int{1, 2, 5, 5, 2, 1}

// width is how many positions the layers between the encoder's and the decoder's convolutions have.
const width = 33

// block is the weights of a grouped temporal convolution: one half of the channels is convolved along
// frequency and time and weighted by attention, then the halves are shuffled.
type block struct {
	dilation   int
	spread     [2]tile // of three neighbouring positions, to each half of the hidden channels
	spreadBias [2]eight
	deep       [2][3]three // of a frame, the oldest first
	deepBias   [2]eight
	narrow     [2]tile // of each half of the hidden channels
	narrowBias eight
	slopes     [2]float32
	gru        gru  // of the mean squares of the channels
	attend     tile // of its state
	attendBias eight
}

// newBlock takes a block from r, and the matrix of its GRU's state from states. In the decoder the
// convolutions are transposed.
func newBlock(number int, r, states *reader) *block {
	const hidden = 2 * lanes
	decoder := number >= blocks/2
	b := &block{dilation: dilations[number], attendBias: attendBias(number)}
	b.slopes = [2]float32{constant(slopesAt[2+2*number]), constant(slopesAt[3+2*number])}
	pointwise := func(outputs, inputs int) *matrix {
		if !decoder {
			m := r.matrix(outputs, inputs)
			m.bias = r.take(outputs)
			return m
		}
		m := r.transposed(outputs, inputs, 1)
		m.bias = r.take(outputs)
		m.normalise(r)
		return m
	}
	m := pointwise(hidden, 3*lanes)
	for half := range b.spread {
		b.spreadBias[half] = eight(m.bias[half*lanes:])
		b.spread[half] = m.tile(half*lanes, 3*lanes, taps(3))
	}
	if decoder {
		m = r.matrix(hidden, 12) // nine, and three that pad
		m.bias = deepBias(number - blocks/2)
		m.normalise(r)
	} else {
		m = r.matrix(hidden, 9)
		m.bias = r.take(hidden)
	}
	for half := range b.deep {
		b.deepBias[half] = eight(m.bias[half*lanes:])
		for time := range 3 {
			for k := range b.deep[half][time] {
				tap := 3*time + k/lanes
				if decoder {
					tap = 8 - tap
				}
				b.deep[half][time][k] = m.at(half*lanes+k%lanes, tap)
			}
		}
	}
	m = pointwise(lanes, hidden)
	b.narrowBias = eight(m.bias)
	for half := range b.narrow {
		b.narrow[half] = m.tile(0, lanes, same(half*lanes))
	}
	b.gru = newGRU(2*lanes, r, states)
	b.attend = r.transposed(lanes, 2*lanes, 1).tile(0, 2*lanes, same(0))
	return b
}

// blockState is what a block remembers.
type blockState struct {
	frames []pair // the hidden channels of the latest frames, in a ring
	at     int    // the oldest of them
	gru    []float32
}

func (b *block) newState() blockState {
	s := blockState{frames: make([]pair, 2*b.dilation+1), gru: make([]float32, b.gru.size())}
	for i := range s.frames {
		s.frames[i] = newPair(width)
	}
	return s
}

func (s *blockState) reset() {
	for _, f := range s.frames {
		f.clear()
	}
	clear(s.gru)
}

// run writes what the block makes of x to y.
func (b *block) run(y, x pair, s *blockState, t *scratch) {
	now := s.frames[s.at]
	for half, p := range now {
		fill(p.from(0), &b.spreadBias[half], width, lanes)
		b.spread[half].add(p.from(0), x[0].from(-1), width, lanes, lanes)
		rectify(p, b.slopes[0])
	}
	s.at = (s.at + 1) % len(s.frames)
	narrow := t.narrow
	fill(narrow.from(0), &b.narrowBias, width, lanes)
	for half, p := range t.hidden {
		fill(p.from(0), &b.deepBias[half], width, lanes)
		for time := range b.deep[half] {
			b.deep[half][time].add(p, s.frames[(s.at+time*b.dilation)%len(s.frames)][half], width)
		}
		rectify(p, b.slopes[1])
		b.narrow[half].add(narrow.from(0), p.from(0), width, lanes, lanes)
	}
	b.weigh(narrow, s.gru, t)
	shuffle(y, narrow, x[1])
}

// weigh multiplies each channel with its attention, which follows from the mean squares.
func (b *block) weigh(p plane, state []float32, t *scratch) {
	var mean eight
	for i := range width {
		for c, v := range (*eight)(p.from(i)) {
			mean[c] += v * v
		}
	}
	for c := range mean {
		mean[c] /= width
	}
	t.eight = mean
	b.gru.step(state, t.eight[:], 1, t)
	t.eight = b.attendBias
	b.attend.add(t.eight[:], state, 1, 0, 0)
	for c, v := range t.eight {
		mean[c] = sigmoid(v)
	}
	for i := range width {
		v := (*eight)(p.from(i))
		for c, m := range mean {
			v[c] *= m
		}
	}
}

// shuffle writes the channels of a and b in turns.
func shuffle(y pair, a, b plane) {
	for i := range width {
		a, b := (*eight)(a.from(i)), (*eight)(b.from(i))
		for half, p := range y {
			to := (*eight)(p.from(i))
			for c := range lanes / 2 {
				to[2*c], to[2*c+1] = a[half*lanes/2+c], b[half*lanes/2+c]
			}
		}
	}
}
