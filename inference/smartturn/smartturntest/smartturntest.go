// Package smartturntest writes a stand-in of the network smart-turn: a tiny graph with the same
// inputs and outputs that takes a turn for over when its last quarter of a second is much quieter than
// what was before.
package smartturntest

import (
	"testing"

	"parley/inference/onnx"
	"parley/inference/onnx/onnxtest"
	"parley/inference/smartturn"
)

// File is the name of the published network.
const File = "smart-turn-v3.2-cpu.onnx"

// Network is the graph. Its score is the sigmoid of 8 (all - end) - 4, where all and end are the
// means of the features of all 8 s and of their end.
func Network() onnxtest.Graph {
	whole := []int{1, 2}
	return onnxtest.Graph{
		Inputs:  []onnx.Tensor{{Name: "input_features", Type: onnx.Float32, Shape: []int64{onnx.Any, smartturn.Bands, smartturn.Frames}}},
		Outputs: []onnx.Tensor{{Name: "logits", Type: onnx.Float32, Shape: []int64{onnx.Any, 1}}},
		Constants: map[string]onnx.Value{"from": ints(smartturn.Frames - 25), "to": ints(smartturn.Frames), "axis": ints(2), "last": ints(1),
			"eight": floats(8), "four": floats(4)},
		Nodes: []onnxtest.Node{
			{Op: "Slice", In: []string{"input_features", "from", "to", "axis"}, Out: []string{"tail"}},
			{Op: "ReduceMean", In: []string{"tail"}, Out: []string{"end"}, Attributes: map[string]any{"axes": whole, "keepdims": 0}},
			{Op: "ReduceMean", In: []string{"input_features"}, Out: []string{"all"}, Attributes: map[string]any{"axes": whole, "keepdims": 0}},
			{Op: "Sub", In: []string{"all", "end"}, Out: []string{"fall"}},
			{Op: "Mul", In: []string{"fall", "eight"}, Out: []string{"steep"}},
			{Op: "Sub", In: []string{"steep", "four"}, Out: []string{"x"}},
			{Op: "Sigmoid", In: []string{"x"}, Out: []string{"p"}},
			{Op: "Unsqueeze", In: []string{"p", "last"}, Out: []string{"logits"}},
		},
	}
}

// Write writes it to dir under its name.
func Write(t testing.TB, dir string) (file string) {
	t.Helper()
	return onnxtest.Write(t, dir, File, Network())
}

func ints(v int64) onnx.Value { return onnx.Value{Int64: []int64{v}, Shape: []int64{1}} }

func floats(v float32) onnx.Value { return onnx.Value{Float32: []float32{v}, Shape: []int64{1}} }
