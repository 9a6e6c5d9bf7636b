//go:build !cgo

package onnx

import "errors"

var errNoCgo = errors.New("this program was built without cgo and cannot open ONNX Runtime")

// Graph is a graph that was opened; without cgo there is none.
type Graph struct{}

// Load says why it cannot.
func Load(string) error { return errNoCgo }

// Open says why it cannot.
func Open(string, Contract) (*Graph, error) { return nil, errNoCgo }

// Close does nothing.
func (*Graph) Close() error { return nil }

// Run says why it cannot.
func (*Graph) Run(...Value) ([]Value, error) { return nil, errNoCgo }
