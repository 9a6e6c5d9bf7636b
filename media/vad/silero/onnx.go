package silero

import (
	"encoding/binary"
	"errors"
	"math"
)

var errFile = errors.New("silero: the file of weights is damaged")

// Numbers of the fields of an ONNX file that are read here (onnx.proto of ONNX 1.16).
const (
	modelGraph      = 7
	graphNode       = 1
	nodeOutput      = 2
	nodeAttribute   = 5
	attributeTensor = 5
	attributeGraph  = 6
	tensorType      = 2
	tensorRaw       = 9

	float32Type = 1
)

// tensors are the constants of 32-bit floats of an ONNX file, those of graphs inside of its nodes too, by
// the names of their outputs.
func tensors(model []byte) (map[string][]float32, error) {
	all := map[string][]float32{}
	err := fields(model, func(number int, _ uint64, graph []byte) error {
		if number != modelGraph {
			return nil
		}
		return readGraph(graph, all)
	})
	return all, err
}

func readGraph(graph []byte, all map[string][]float32) error {
	return fields(graph, func(number int, _ uint64, node []byte) error {
		if number != graphNode {
			return nil
		}
		output := ""
		return fields(node, func(number int, _ uint64, value []byte) error {
			switch number {
			case nodeOutput:
				output = string(value)
			case nodeAttribute:
				return readAttribute(value, output, all)
			}
			return nil
		})
	})
}

func readAttribute(attribute []byte, output string, all map[string][]float32) error {
	return fields(attribute, func(number int, _ uint64, value []byte) error {
		switch number {
		case attributeTensor:
			return readTensor(value, output, all)
		case attributeGraph:
			return readGraph(value, all)
		}
		return nil
	})
}

func readTensor(tensor []byte, name string, all map[string][]float32) error {
	floats := false
	return fields(tensor, func(number int, n uint64, value []byte) error {
		switch {
		case number == tensorType:
			floats = n == float32Type
		case number == tensorRaw && floats:
			list := make([]float32, len(value)/4)
			for i := range list {
				list[i] = math.Float32frombits(binary.LittleEndian.Uint32(value[4*i:]))
			}
			all[name] = list
		}
		return nil
	})
}

// fields calls each for the fields of a Protocol Buffers message, in their order: n is the
// value of an integer, and value, which points into message, that of anything with a length.
func fields(message []byte, each func(number int, n uint64, value []byte) error) error {
	for len(message) > 0 {
		key, size := binary.Uvarint(message)
		if size <= 0 {
			return errFile
		}
		message = message[size:]
		var n uint64
		var value []byte
		switch key & 7 { // the wire type
		case 0:
			n, size = binary.Uvarint(message)
		case 1:
			size = 8
		case 2:
			if n, size = binary.Uvarint(message); size <= 0 || n > uint64(len(message)-size) {
				return errFile
			}
			value = message[size : size+int(n)]
			size += int(n)
		case 5:
			size = 4
		default:
			return errFile
		}
		if size <= 0 || size > len(message) {
			return errFile
		}
		message = message[size:]
		if err := each(int(key>>3), n, value); err != nil {
			return err
		}
	}
	return nil
}
