package gtcrn

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"math"
)

// file is a WebAssembly module of the network. Nothing of it is run: it is where the weights are.
//
//go:embed vendor/gtcrn.wasm
var file []byte

var errFile = errors.New("gtcrn: the file of weights is damaged")

// Where the weights begin in the memory of the module, in bytes. They lie in the order in which the code
// here takes them, a matrix as one row for each output unless something else is said. They were found by
// their numbers, which the published ONNX file of the network has by name. In the encoder, normalisations
// over batches are part of the weights; in the decoder they lie beside them, with the deviation in place
// of the variance.
const (
	addrStem     = 4128                // convolutions of 5 taps: 9 to 16 channels, then 16 to 16 in two groups
	addrEncoder  = 10496               // the first three blocks
	addrStates   = 35360               // of the states of units along time: the first dual path, then the fourth block
	addrBands    = 40352               // 192 bins to 64 bands, a row for each input
	addrDual1    = 89504               // the first dual path
	addrStates2  = 101856              // of the states of units along time: the second dual path
	addrDual2    = addrStates2 + 1728  // the second dual path
	addrDecoder  = 116736              // the last three blocks
	addrHead     = 140640              // transposed convolutions of 5 taps: 16 to 16 channels in two groups, 16 to 2
	addrSpread   = 144208              // 64 bands to 192 bins, a row for each input
	addrIntra    = 193360              // units along frequencies: of two dual paths, two halves, two directions
	memoryLength = addrIntra + 8*4*168 // of what is read
)

// Where the weights are that are part of the module's code, in bytes of the file: the slopes of the
// rectifiers, and of each block the biases of its attention and, in the decoder, of its depthwise
// convolution.
var (
	slopesAt = [3 + 2*blocks]int{28908, 29263, 30052, 30520, 33921, 34393, 37890, 38362,
		59138, 64148, 67828, 72766, 76645, 81583, 85383}
	attendAt = [blocks]int{32438, 36311, 40280, 66085, 74921, 83738}
	deepAt   = [blocks / 2]int{59599, 68217, 77034}
)

const (
	attendStep = 37  // from the last four biases of attention to the first four
	deepStep   = 269 // from one bias of a depthwise convolution to the next
)

// reader takes numbers one after another.
type reader struct{ from []byte }

// take is the next n numbers.
func (r *reader) take(n int) []float32 {
	list := make([]float32, n)
	for i := range list {
		list[i] = math.Float32frombits(binary.LittleEndian.Uint32(r.from[4*i:]))
	}
	r.from = r.from[4*n:]
	return list
}

// constant is a number in the code of the module.
func constant(at int) float32 {
	r := reader{file[at:]}
	return r.take(1)[0]
}

// attendBias is the bias of the attention of a block.
func attendBias(block int) eight {
	r := reader{file[attendAt[block]:]}
	high := r.take(4)
	r.from = file[attendAt[block]+attendStep:]
	return eight(append(r.take(4), high...))
}

// deepBias is the bias of the depthwise convolution of a block of the decoder.
func deepBias(block int) []float32 {
	list := make([]float32, 2*lanes)
	for i := range list {
		list[i] = constant(deepAt[block] + i*deepStep)
	}
	return list
}

// memory is what the memory of a module has before it runs: its data segments (WebAssembly Core
// Specification 2.0, 5.5.14), up to length bytes.
func memory(module []byte, length int) ([]byte, error) {
	const dataSection, i32Const, end = 11, 0x41, 0x0b
	image := make([]byte, length)
	r := module[min(8, len(module)):]
	next := func() int {
		n, size := binary.Uvarint(r)
		if size <= 0 || n > 1<<30 {
			r = nil
			return 0
		}
		r = r[size:]
		return int(n)
	}
	for len(r) > 0 {
		section := next()
		if size := next(); section != dataSection {
			r = r[min(size, len(r)):]
			continue
		}
		for range next() {
			mode, op, at, stop, n := next(), next(), next(), next(), next()
			if mode != 0 || op != i32Const || stop != end || n > len(r) {
				return nil, errFile
			}
			if at < length {
				copy(image[at:], r[:n])
			}
			r = r[n:]
		}
		return image, nil
	}
	return nil, errFile
}
