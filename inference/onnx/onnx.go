//go:build cgo

package onnx

import (
	"cmp"
	"fmt"
	"path/filepath"
	"sync"

	ort "github.com/yalue/onnxruntime_go"
)

var loading sync.Mutex

// Load opens ONNX Runtime, of version 1.24 or later, from the shared library at path; empty:
// wherever the system's loader finds it. A process has one: later calls do nothing.
func Load(path string) error {
	loading.Lock()
	defer loading.Unlock()
	if ort.IsInitialized() {
		return nil
	}
	ort.SetSharedLibraryPath(cmp.Or(path, Library))
	if err := ort.InitializeEnvironment(ort.WithLogLevelError()); err != nil {
		return fmt.Errorf("ONNX Runtime does not start: %w", err)
	}
	return nil
}

// Graph is a graph that was opened. It may be used from several goroutines, each of which
// then works on a thread of its own.
type Graph struct {
	file     string
	contract Contract
	session  *ort.DynamicAdvancedSession
}

// Open reads the graph in a file, which must keep the contract: else the error is a
// *ContractError. Load comes first.
func Open(file string, c Contract) (*Graph, error) {
	has, makes, err := ort.GetInputOutputInfo(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(file), err)
	}
	if err := c.check(filepath.Base(file), described(has), described(makes)); err != nil {
		return nil, err
	}
	options, err := ort.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	defer options.Destroy()
	// One thread each: several calls are served beside each other, and all yield to audio.
	if err := cmp.Or(options.SetIntraOpNumThreads(1), options.SetInterOpNumThreads(1)); err != nil {
		return nil, err
	}
	session, err := ort.NewDynamicAdvancedSession(file, names(c.Inputs, has), names(c.Outputs, makes), options)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(file), err)
	}
	return &Graph{filepath.Base(file), c, session}, nil
}

// Close frees the graph, which nobody may use any more.
func (g *Graph) Close() error { return g.session.Destroy() }

func described(infos []ort.InputOutputInfo) []Tensor {
	list := make([]Tensor, len(infos))
	for i, info := range infos {
		list[i] = Tensor{Name: info.Name, Type: typeOf(info), Shape: info.Dimensions}
	}
	return list
}

func typeOf(info ort.InputOutputInfo) Type {
	switch {
	case info.OrtValueType != ort.ONNXTypeTensor:
		return Type(info.OrtValueType.String())
	case info.DataType == ort.TensorElementDataTypeFloat:
		return Float32
	case info.DataType == ort.TensorElementDataTypeInt64:
		return Int64
	}
	return Type(info.DataType.String())
}

// names are those of wanted tensors in a file, which has kept its contract.
func names(wanted []Tensor, have []ort.InputOutputInfo) []string {
	out := make([]string, len(wanted))
	for i, t := range wanted {
		if out[i] = t.Name; t.Name == "" {
			out[i] = have[i].Name
		}
	}
	return out
}

// Run runs the graph with the inputs of its contract, in that order, which are not kept, and
// returns the outputs, which belong to the caller.
func (g *Graph) Run(inputs ...Value) ([]Value, error) {
	if len(inputs) != len(g.contract.Inputs) {
		return nil, fmt.Errorf("%s: %d inputs, it takes %d", g.file, len(inputs), len(g.contract.Inputs))
	}
	in, out := make([]ort.Value, len(inputs)), make([]ort.Value, len(g.contract.Outputs))
	defer func() {
		for _, v := range append(in, out...) {
			if v != nil {
				v.Destroy()
			}
		}
	}()
	for i, v := range inputs {
		var err error
		if in[i], err = tensorOf(v); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", g.file, g.contract.Inputs[i].Name, err)
		}
	}
	if err := g.session.Run(in, out); err != nil {
		return nil, fmt.Errorf("%s: %w", g.file, err)
	}
	results := make([]Value, len(out))
	for i, v := range out {
		var err error
		if results[i], err = valueOf(v); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", g.file, g.contract.Outputs[i].Name, err)
		}
	}
	return results, nil
}

// tensorOf is a value as the runtime takes it, which wants a scalar for one without dimensions.
func tensorOf(v Value) (ort.Value, error) {
	if v.Int64 != nil {
		return tensor(v.Shape, v.Int64)
	}
	return tensor(v.Shape, v.Float32)
}

func tensor[T ort.TensorData](shape []int64, data []T) (ort.Value, error) {
	if len(shape) == 0 && len(data) == 1 {
		s, err := ort.NewScalar(data[0])
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	t, err := ort.NewTensor(ort.NewShape(shape...), data)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// valueOf copies what the runtime made, whose memory is freed.
func valueOf(v ort.Value) (Value, error) {
	switch t := v.(type) {
	case *ort.Tensor[float32]:
		return Value{Shape: t.GetShape(), Float32: append([]float32(nil), t.GetData()...)}, nil
	case *ort.Tensor[int64]:
		return Value{Shape: t.GetShape(), Int64: append([]int64(nil), t.GetData()...)}, nil
	}
	return Value{}, fmt.Errorf("a value of the type %T", v)
}
