package gtcrn

import "sync"

// Positions of the layers, and features of a bin.
const (
	wide     = 129 // bands: the lowest 65 bins, and 64 bands for the bins above
	low      = 65
	middle   = 65 // of the first layer
	features = 3  // magnitude, real and imaginary part
	reach    = 3  // of the first convolution, to both sides
)

// network is all weights. It is shared by all streams and never changes.
type network struct {
	bands, spread []band // from bins to bands and back
	stem          stem
	second        [2]convolution // of the encoder, for each half
	blocks        [blocks]*block
	duals         [2]*dual
	third         [2]convolution // transposed, of the decoder: even positions, then odd ones
	head          head
}

var load = sync.OnceValues(func() (*network, error) {
	image, err := memory(file, memoryLength)
	if err != nil {
		return nil, err
	}
	at := func(address int) *reader { return &reader{image[address:]} }
	n := &network{}
	n.bands = at(addrBands).transposed(wide-low, bins-low, 1).sparse()
	n.spread = at(addrSpread).transposed(bins-low, wide-low, 1).sparse()

	r := at(addrStem)
	n.stem = newStem(r)
	n.second = newSecond(r)
	r = at(addrEncoder)
	for i := range blocks / 2 {
		n.blocks[i] = newBlock(i, r, r)
	}
	states, intra := at(addrStates), at(addrIntra)
	n.duals[0] = newDual(at(addrDual1), states, intra)
	n.duals[1] = newDual(at(addrDual2), at(addrStates2), intra)
	r = at(addrDecoder)
	n.blocks[3] = newBlock(3, r, states)
	n.blocks[4] = newBlock(4, r, r)
	n.blocks[5] = newBlock(5, r, r)
	r = at(addrHead)
	n.third = newThird(r)
	n.head = newHead(r)
	return n, nil
})

// scratch is what one stage after another of a stream computes in.
type scratch struct {
	hidden                     pair // channels of a block
	paths                      pair // states along the frequencies, without margins
	narrow                     plane
	eight                      eight
	update, reset, fresh, kept [width * lanes]float32 // gates
}

func newScratch() scratch {
	return scratch{hidden: newPair(width), paths: newStates(), narrow: newPlane(width)}
}

// newStates is eight states in each half at each position.
func newStates() pair { return pair{make(plane, width*lanes), make(plane, width*lanes)} }

// band is a row of a matrix that is zero but for some neighbours.
type band struct {
	first   int
	weights []float32
}

// sparse is the rows of m.
func (m *matrix) sparse() []band {
	var all []band
	for o := 0; o*m.inputs < len(m.rows); o++ {
		row, first := m.rows[o*m.inputs:][:m.inputs], 0
		for first < len(row)-1 && row[first] == 0 {
			first++
		}
		last := len(row) - 1
		for last > first && row[last] == 0 {
			last--
		}
		all = append(all, band{first, row[first : last+1]})
	}
	return all
}
