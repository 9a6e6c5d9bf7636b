// Package onnxtest writes tiny graphs as ONNX files, with names, types and shapes of real ones, so
// that what loads and runs those can be tested without their weights.
package onnxtest

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"

	"parley/inference/onnx"
)

// Graph is a graph: nodes in an order in which each finds its inputs made.
type Graph struct {
	Inputs, Outputs []onnx.Tensor
	Nodes           []Node
	Constants       map[string]onnx.Value
}

// Node is one operation, of version 17 of the operators of ONNX.
type Node struct {
	Op         string
	In, Out    []string
	Attributes map[string]any // int, float32, []int or Type
}

// Type is an attribute that names a type, such as that of Cast.
type Type onnx.Type

// Numbers of element types (TensorProto.DataType of onnx.proto3).
var types = map[onnx.Type]uint64{onnx.Float32: 1, onnx.Int64: 7, "int32": 6}

// Write writes the graph to dir, which is made, under a name.
func Write(t testing.TB, dir, name string, g Graph) (file string) {
	t.Helper()
	file = filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, g.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// Bytes is the graph as a ModelProto of version 8.
func (g Graph) Bytes() []byte {
	var graph message
	for _, n := range g.Nodes {
		graph.bytes(1, n.encode())
	}
	graph.text(2, "test")
	for name, v := range g.Constants {
		graph.bytes(5, constant(name, v))
	}
	for _, in := range g.Inputs {
		graph.bytes(11, described(in))
	}
	for _, out := range g.Outputs {
		graph.bytes(12, described(out))
	}
	var operators, model message
	operators.number(2, 17)
	model.number(1, 8)
	model.bytes(7, graph)
	model.bytes(8, operators)
	return model
}

func (n Node) encode() message {
	var m message
	for _, in := range n.In {
		m.text(1, in)
	}
	for _, out := range n.Out {
		m.text(2, out)
	}
	m.text(4, n.Op)
	for name, value := range n.Attributes {
		var a message
		a.text(1, name)
		switch v := value.(type) {
		case int:
			a.number(3, uint64(v))
			a.number(20, 2)
		case float32:
			a.float(2, v)
			a.number(20, 1)
		case []int:
			for _, i := range v {
				a.number(8, uint64(i))
			}
			a.number(20, 7)
		case Type:
			a.number(3, types[onnx.Type(v)])
			a.number(20, 2)
		default:
			panic("onnxtest: an attribute of a type that is not written here")
		}
		m.bytes(5, a)
	}
	return m
}

func constant(name string, v onnx.Value) message {
	var m message
	for _, d := range v.Shape {
		m.number(1, uint64(d))
	}
	var raw []byte
	if v.Int64 != nil {
		m.number(2, types[onnx.Int64])
		for _, n := range v.Int64 {
			raw = binary.LittleEndian.AppendUint64(raw, uint64(n))
		}
	} else {
		m.number(2, types[onnx.Float32])
		for _, f := range v.Float32 {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(f))
		}
	}
	m.text(8, name)
	m.bytes(9, raw)
	return m
}

func described(t onnx.Tensor) message {
	var shape message
	for _, d := range t.Shape {
		var dimension message
		if d >= 0 {
			dimension.number(1, uint64(d))
		} else {
			dimension.text(2, "any")
		}
		shape.bytes(1, dimension)
	}
	var tensor, kind, m message
	tensor.number(1, types[t.Type])
	tensor.bytes(2, shape)
	kind.bytes(1, tensor)
	m.text(1, t.Name)
	m.bytes(2, kind)
	return m
}

// message is a message of protocol buffers that is being written.
type message []byte

func (m *message) number(field int, n uint64) {
	*m = binary.AppendUvarint(binary.AppendUvarint(*m, uint64(field)<<3), n)
}

func (m *message) float(field int, f float32) {
	*m = binary.LittleEndian.AppendUint32(binary.AppendUvarint(*m, uint64(field)<<3|5), math.Float32bits(f))
}

func (m *message) bytes(field int, b []byte) {
	*m = append(binary.AppendUvarint(binary.AppendUvarint(*m, uint64(field)<<3|2), uint64(len(b))), b...)
}

func (m *message) text(field int, s string) { m.bytes(field, []byte(s)) }
