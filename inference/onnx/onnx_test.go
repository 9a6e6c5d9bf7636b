//go:build cgo

package onnx_test

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"parley/inference/onnx"
	"parley/inference/onnx/onnxtest"
)

func load(t *testing.T) {
	t.Helper()
	if err := onnx.Load(onnxtest.Library(t)); err != nil {
		t.Fatal(err)
	}
}

// line is y = 2x + 1, for any number of values.
var line = onnxtest.Graph{
	Inputs:    []onnx.Tensor{{Name: "x", Type: onnx.Float32, Shape: []int64{1, onnx.Any}}},
	Outputs:   []onnx.Tensor{{Name: "y", Type: onnx.Float32, Shape: []int64{1, onnx.Any}}},
	Nodes:     []onnxtest.Node{{Op: "Mul", In: []string{"x", "two"}, Out: []string{"t"}}, {Op: "Add", In: []string{"t", "one"}, Out: []string{"y"}}},
	Constants: map[string]onnx.Value{"two": {Float32: []float32{2}, Shape: []int64{1}}, "one": {Float32: []float32{1}, Shape: []int64{1}}},
}

// TestGraph: several goroutines run one graph, each with values of its own.
func TestGraph(t *testing.T) {
	load(t)
	g, err := onnx.Open(onnxtest.Write(t, t.TempDir(), "line.onnx", line), onnx.Contract{Inputs: line.Inputs, Outputs: line.Outputs})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for range 50 {
				x := make([]float32, n+1)
				for i := range x {
					x[i] = float32(n*100 + i)
				}
				got, err := g.Run(onnx.Value{Float32: x, Shape: []int64{1, int64(len(x))}})
				if err != nil {
					t.Error(err)
					return
				}
				for i := range x {
					x[i] = 2*x[i] + 1
				}
				if len(got) != 1 || !slices.Equal(got[0].Float32, x) || !slices.Equal(got[0].Shape, []int64{1, int64(len(x))}) {
					t.Errorf("%v, want %v", got, x)
					return
				}
			}
		})
	}
	all.Wait()
	for name, in := range map[string][]onnx.Value{"nothing": nil, "a shape that is not that of the values": {{Float32: []float32{1, 2}, Shape: []int64{1, 3}}}, "another rank": {{Float32: []float32{1, 2}, Shape: []int64{1, 1, 2}}}} {
		if _, err := g.Run(in...); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestContract: a graph that is not what its loader relies on is refused, and the tensor named.
func TestContract(t *testing.T) {
	load(t)
	file := onnxtest.Write(t, t.TempDir(), "line.onnx", line)
	x, y := line.Inputs[0], line.Outputs[0]
	changed := func(t onnx.Tensor, change func(*onnx.Tensor)) []onnx.Tensor {
		change(&t)
		return []onnx.Tensor{t}
	}
	for want, c := range map[string]onnx.Contract{
		"contract: line.onnx: the tensor z is missing; an input float32[1,any] is needed":         {Inputs: changed(x, func(t *onnx.Tensor) { t.Name = "z" }), Outputs: line.Outputs},
		"contract: line.onnx: the tensor x is float32[1,any]; an input int64[1,any] is needed":    {Inputs: changed(x, func(t *onnx.Tensor) { t.Type = onnx.Int64 }), Outputs: line.Outputs},
		"contract: line.onnx: the tensor y is float32[1,any]; an output float32[2,any] is needed": {Inputs: line.Inputs, Outputs: changed(y, func(t *onnx.Tensor) { t.Shape = []int64{2, onnx.Any} })},
		"contract: line.onnx: the tensor y is float32[1,any]; an output float32[any] is needed":   {Inputs: line.Inputs, Outputs: changed(y, func(t *onnx.Tensor) { t.Shape = []int64{onnx.Any} })},
		"contract: line.onnx: the tensor x is an input that this version does not know":           {Outputs: line.Outputs},
	} {
		_, err := onnx.Open(file, c)
		if of, ok := errors.AsType[*onnx.ContractError](err); !ok || of.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if g, err := onnx.Open(file, onnx.Contract{Inputs: line.Inputs, Outputs: changed(y, func(t *onnx.Tensor) { t.Name = "" })}); err != nil {
		t.Errorf("a tensor by its place: %v", err)
	} else if got, err := g.Run(onnx.Value{Float32: []float32{3}, Shape: []int64{1, 1}}); err != nil || got[0].Float32[0] != 7 {
		t.Errorf("a tensor by its place: %v %v", got, err)
	}
	if g, err := onnx.Open(file, onnx.Contract{Inputs: changed(x, func(t *onnx.Tensor) { t.Shape = []int64{1, 7} }), Outputs: line.Outputs}); err != nil {
		t.Errorf("a size that the graph leaves open: %v", err)
	} else {
		g.Close()
	}
	for name, bytes := range map[string]string{"empty.onnx": "", "text.onnx": "these are no weights", "cut.onnx": string(line.Bytes()[:60])} {
		file := filepath.Join(t.TempDir(), name)
		write(t, file, bytes)
		if _, err := onnx.Open(file, onnx.Contract{}); err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), filepath.Dir(file)+"/"+name+":") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPublishedGraph: the library reads a published file, with conditions and a state, and makes
// of it what it should: noise is no speech.
func TestPublishedGraph(t *testing.T) {
	load(t)
	const chunk = 576
	g, err := onnx.Open(filepath.Join("..", "..", "media", "vad", "silero", "vendor", "silero_vad_v5.onnx"), onnx.Contract{
		Inputs:  []onnx.Tensor{{Name: "input", Type: onnx.Float32, Shape: []int64{onnx.Any, onnx.Any}}, {Name: "state", Type: onnx.Float32, Shape: []int64{2, onnx.Any, 128}}, {Name: "sr", Type: onnx.Int64}},
		Outputs: []onnx.Tensor{{Name: "output", Type: onnx.Float32, Shape: []int64{onnx.Any, 1}}, {Name: "stateN", Type: onnx.Float32, Shape: []int64{onnx.Any, onnx.Any, onnx.Any}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	state := onnx.Value{Float32: make([]float32, 256), Shape: []int64{2, 1, 128}}
	x := make([]float32, chunk)
	for n := range 20 {
		for i := range x {
			x[i] = float32(math.Sin(float64(n*i*i))) / 100
		}
		got, err := g.Run(onnx.Value{Float32: x, Shape: []int64{1, chunk}}, state, onnx.Value{Int64: []int64{16000}, Shape: []int64{}})
		if err != nil {
			t.Fatal(err)
		}
		if p := got[0].Float32[0]; !(p >= 0 && p < 0.3) {
			t.Errorf("chunk %d of noise is speech with %v", n, p)
		}
		state = got[1]
	}
}
