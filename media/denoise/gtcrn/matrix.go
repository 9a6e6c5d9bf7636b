package gtcrn

// matrix is the weights of a layer and a bias for each output. The taps of an input of a convolution are
// inputs side by side.
type matrix struct {
	inputs int
	rows   []float32 // one for each output
	bias   []float32
}

// matrix takes one row for each output.
func (r *reader) matrix(outputs, inputs int) *matrix {
	return &matrix{inputs: inputs, rows: r.take(outputs * inputs)}
}

// transposed takes one row for each input, which has the taps of each output side by side.
func (r *reader) transposed(outputs, inputs, taps int) *matrix {
	columns, m := r.take(outputs*inputs*taps), &matrix{inputs: inputs * taps}
	for o := range outputs {
		for i := range inputs {
			m.rows = append(m.rows, columns[(i*outputs+o)*taps:][:taps]...)
		}
	}
	return m
}

// at is the weight of an input for an output, zero for input -1.
func (m *matrix) at(output, input int) float32 {
	if input < 0 {
		return 0
	}
	return m.rows[output*m.inputs+input]
}

// normalise takes a normalisation over batches from r, a scale, a bias, a mean and a deviation for each
// output, and folds it into the weights.
func (m *matrix) normalise(r *reader) {
	n := len(m.bias)
	scale, bias, mean, deviation := r.take(n), r.take(n), r.take(n), r.take(n)
	for o := range n {
		factor := scale[o] / deviation[o]
		m.bias[o] = (m.bias[o]-mean[o])*factor + bias[o]
		for i := range m.inputs {
			m.rows[o*m.inputs+i] *= factor
		}
	}
}

// tile is eight outputs from first on, each of its columns for the input that input names.
func (m *matrix) tile(first, columns int, input func(column int) int) tile {
	return newTile(columns, func(row, column int) float32 { return m.at(first+row, input(column)) })
}

// same names the inputs in their order, from first on.
func same(first int) func(int) int {
	return func(column int) int { return first + column }
}

// taps names inputs for a window of positions that have eight channels each: a channel of
// the matrix has n taps.
func taps(n int) func(int) int {
	return func(column int) int { return column%lanes*n + column/lanes }
}
