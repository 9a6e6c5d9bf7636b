package gtcrn

import "math"

// dual is the weights of a grouped dual-path recurrent network: gated recurrent units along the
// frequencies of a frame, in both directions, and then along time, for each half of the channels.
type dual struct {
	intra      [2]both
	intraMerge merge
	inter      [2]gru
	interMerge merge
}

// newDual takes a dual path from r, the matrices of the states of the units along time from
// states, and the units along frequency from intra.
func newDual(r, states, intra *reader) *dual {
	d := &dual{intra: [2]both{newBoth(intra), newBoth(intra)}}
	d.intraMerge = newMerge(r)
	for half := range d.inter {
		d.inter[half] = newGRU(lanes, r, states)
	}
	d.interMerge = newMerge(r)
	return d
}

// run adds to x; states is those of the units along time, at each position.
func (d *dual) run(x, states pair, t *scratch) {
	for half := range x {
		d.intra[half].run(t.paths[half], x[half].from(0), t)
	}
	d.intraMerge.run(x, t.paths, t)
	for half := range x {
		d.inter[half].step(states[half], x[half].from(0), width, t)
	}
	d.interMerge.run(x, states, t)
}

// merge is the weights of a linear layer over all channels and of the normalisation over a frame.
type merge struct {
	tiles        [2][2]tile // of each half, to each half
	bias         [2]eight
	scale, shift [2][width * lanes]float32
}

func newMerge(r *reader) merge {
	var m merge
	w := r.transposed(2*lanes, 2*lanes, 1)
	w.bias = r.take(2 * lanes)
	scale, shift := r.take(width*2*lanes), r.take(width*2*lanes)
	for half := range 2 {
		m.bias[half] = eight(w.bias[half*lanes:])
		for from := range 2 {
			m.tiles[from][half] = w.tile(half*lanes, lanes, same(from*lanes))
		}
		for i := range m.scale[half] {
			at := i/lanes*2*lanes + half*lanes + i%lanes
			m.scale[half][i], m.shift[half][i] = scale[at], shift[at]
		}
	}
	return m
}

// run adds to x the normalised layer of what comes from the paths, which have no margins.
func (m *merge) run(x, paths pair, t *scratch) {
	var sum, squares float64
	for half, y := range t.hidden {
		to := y.from(0)[:width*lanes]
		fill(to, &m.bias[half], width, lanes)
		m.tiles[0][half].add(to, paths[0], width, lanes, lanes)
		m.tiles[1][half].add(to, paths[1], width, lanes, lanes)
		for _, v := range to {
			sum += float64(v)
			squares += float64(v) * float64(v)
		}
	}
	const n = 2 * lanes * width
	mean := sum / n
	factor := float32(1 / math.Sqrt(max(squares/n-mean*mean, 0)+1e-8))
	for half, y := range t.hidden {
		to, from := x[half].from(0)[:width*lanes], y.from(0)[:width*lanes]
		scale, shift := &m.scale[half], &m.shift[half]
		for i, v := range from {
			to[i] += (v-float32(mean))*factor*scale[i] + shift[i]
		}
	}
}

// path is how many states the units along frequency have in each direction.
const path = 4

// both is the weights of gated recurrent units along the frequencies: four forward and four backward.
type both struct {
	gates     [2]tile // of the inputs: update and reset, in each direction
	gatesBias [2]eight
	fresh     tile // of the inputs, in both directions
	freshBias eight
	states    [2]turn
}

// turn is the matrices of the four states of one direction, column by column.
type turn struct {
	gates    [path]eight // update and reset
	kept     [path][path]float32
	keptBias [path]float32
}

func newBoth(r *reader) both {
	var b both
	var input [2]*matrix
	for way := range b.states {
		input[way] = r.matrix(3*path, lanes)
		state := r.matrix(3*path, path)
		input[way].bias, state.bias = r.take(3*path), r.take(3*path)
		b.gates[way] = input[way].tile(0, lanes, same(0))
		for k := range lanes {
			b.gatesBias[way][k] = input[way].bias[k] + state.bias[k]
		}
		t := &b.states[way]
		t.keptBias = [path]float32(state.bias[2*path:])
		for c := range path {
			for k := range lanes {
				t.gates[c][k] = state.at(k, c)
			}
			for k := range path {
				t.kept[c][k] = state.at(2*path+k, c)
			}
		}
	}
	b.fresh = newTile(lanes, func(row, column int) float32 {
		return input[row/path].at(2*path+row%path, column)
	})
	for k := range b.freshBias {
		b.freshBias[k] = input[k/path].bias[2*path+k%path]
	}
	return b
}

// run writes the states at each position to y: four forward and four backward.
func (b *both) run(y, x []float32, t *scratch) {
	gates, fresh := t.update[:], t.fresh[:]
	fill(fresh, &b.freshBias, width, lanes)
	b.fresh.add(fresh, x, width, lanes, lanes)
	for way := range b.states {
		fill(gates, &b.gatesBias[way], width, lanes)
		b.gates[way].add(gates, x, width, lanes, lanes)
		var h [path]float32
		for i := range width {
			at := i * lanes
			if way == 1 {
				at = (width - 1 - i) * lanes
			}
			h = b.states[way].step(h, (*eight)(gates[at:]), (*[path]float32)(fresh[at+way*path:]))
			*(*[path]float32)(y[at+way*path:]) = h
		}
	}
}

// step is the states after h, with what the inputs give.
func (t *turn) step(h [path]float32, gates *eight, fresh *[path]float32) [path]float32 {
	var next [path]float32
	for k, old := range h {
		update, reset, kept := gates[k], gates[path+k], t.keptBias[k]
		for c, v := range h {
			update += t.gates[c][k] * v
			reset += t.gates[c][path+k] * v
			kept += t.kept[c][k] * v
		}
		v := tanh(fresh[k] + sigmoid(reset)*kept)
		next[k] = v + sigmoid(update)*(old-v)
	}
	return next
}
