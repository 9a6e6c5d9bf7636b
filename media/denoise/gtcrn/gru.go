package gtcrn

// gru is gated recurrent units with eight inputs (Cho et al. 2014; the reset gate acts on the product
// with the state, as in PyTorch), for each eight of their states.
type gru []units

// units are eight states: the new one is a mean, weighed by the update gate, of the old one and of a
// fresh one.
type units struct {
	update, reset gate
	fresh, kept   gate // of the inputs alone, of the states alone
}

// gate is the sum of a bias and of two products.
type gate struct {
	bias         eight
	input, state tile
}

// newGRU takes the weights of the inputs from r and those of the states from states; the gates are in
// the order update, reset, fresh.
func newGRU(size int, r, states *reader) gru {
	input := r.transposed(3*size, lanes, 1)
	input.bias = r.take(3 * size)
	state := states.transposed(3*size, size, 1)
	state.bias = states.take(3 * size)
	g := make(gru, size/lanes)
	for j := range g {
		part := func(gates int) gate {
			first := gates*size + j*lanes
			p := gate{eight(input.bias[first:]), input.tile(first, lanes, same(0)), state.tile(first, size, same(0))}
			for k := range p.bias {
				p.bias[k] += state.bias[first+k]
			}
			return p
		}
		u := &g[j]
		u.update, u.reset = part(0), part(1)
		u.fresh = gate{eight(input.bias[2*size+j*lanes:]), part(2).input, nil}
		u.kept = gate{eight(state.bias[2*size+j*lanes:]), nil, part(2).state}
	}
	return g
}

func (g gru) size() int { return lanes * len(g) }

// step takes the inputs of n gated recurrent units with the same weights and changes their states.
func (g gru) step(states, inputs []float32, n int, t *scratch) {
	size := g.size()
	run := func(to []float32, p *gate) {
		fill(to, &p.bias, n, size)
		p.input.add(to, inputs, n, size, lanes)
		p.state.add(to, states, n, size, size)
	}
	for j := range g {
		u, at := &g[j], j*lanes
		run(t.update[at:], &u.update)
		run(t.reset[at:], &u.reset)
		run(t.fresh[at:], &u.fresh)
		run(t.kept[at:], &u.kept)
	}
	for i, h := range states[:n*size] {
		fresh := tanh(t.fresh[i] + sigmoid(t.reset[i])*t.kept[i])
		states[i] = fresh + sigmoid(t.update[i])*(h-fresh)
	}
}
