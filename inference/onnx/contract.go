// Package onnx runs neural networks in ONNX files with ONNX Runtime, a shared library that is
// opened when it is first needed, so that programs build and run without it. A file is held to
// a Contract when it is opened: what a loader relies on, tensor by tensor.
//
// Only parley-speech uses it: graphs are other people's files, and what the library does with
// them must not become the server's trouble.
package onnx

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Library is the file name of ONNX Runtime.
const Library = "libonnxruntime.so.1"

// Type is the type of a tensor's elements.
type Type string

// The types that graphs here have.
const (
	Float32 Type = "float32"
	Int64   Type = "int64"
)

// Any is a dimension of any size.
const Any = -1

// Tensor is an input or an output of a graph.
type Tensor struct {
	Name  string // of a Contract; empty: the tensor at that place, whatever its name
	Type  Type
	Shape []int64 // Any: the size is not fixed
}

// Contract is what a loader relies on. Outputs beyond it are let be; inputs are not, for nothing
// would be given to them.
type Contract struct{ Inputs, Outputs []Tensor }

// ContractError is a graph that is not what its loader relies on.
type ContractError struct {
	File    string // without its directory
	Tensor  string
	Problem string
}

func (e *ContractError) Error() string {
	return fmt.Sprintf("contract: %s: the tensor %s %s", e.File, e.Tensor, e.Problem)
}

// check compares a graph's tensors with the contract and returns the first difference as a
// *ContractError; nil: there is none.
func (c Contract) check(file string, inputs, outputs []Tensor) error {
	for _, side := range []struct {
		kind         string
		wanted, have []Tensor
	}{{"an input", c.Inputs, inputs}, {"an output", c.Outputs, outputs}} {
		for n, want := range side.wanted {
			i := slices.IndexFunc(side.have, func(t Tensor) bool { return t.Name == want.Name })
			if want.Name == "" && n < len(side.have) {
				i = n
			}
			if i < 0 {
				return &ContractError{file, cmp.Or(want.Name, fmt.Sprint(n)), fmt.Sprintf("is missing; %s %s%s is needed", side.kind, want.Type, shape(want.Shape))}
			}
			if have := side.have[i]; have.Type != want.Type || !fits(have.Shape, want.Shape) {
				return &ContractError{file, have.Name, fmt.Sprintf("is %s%s; %s %s%s is needed", have.Type, shape(have.Shape), side.kind, want.Type, shape(want.Shape))}
			}
		}
	}
	for _, have := range inputs {
		if !slices.ContainsFunc(c.Inputs, func(t Tensor) bool { return t.Name == have.Name }) {
			return &ContractError{file, have.Name, "is an input that this version does not know"}
		}
	}
	return nil
}

// fits says whether a tensor of that shape can be used as the wanted one: where one of the two
// has any size it follows the other.
func fits(have, want []int64) bool {
	return slices.EqualFunc(have, want, func(a, b int64) bool { return a < 0 || b < 0 || a == b })
}

func shape(dimensions []int64) string {
	words := make([]string, len(dimensions))
	for i, d := range dimensions {
		if words[i] = fmt.Sprint(d); d < 0 {
			words[i] = "any"
		}
	}
	return "[" + strings.Join(words, ",") + "]"
}

// Value is a tensor with its elements, row by row, in the one of the two that is of its type.
type Value struct {
	Shape   []int64
	Float32 []float32
	Int64   []int64
}
