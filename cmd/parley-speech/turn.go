//go:build cgo

package main

import (
	"encoding/binary"
	"math"

	"parley/inference/onnx"
	"parley/inference/smartturn"
	"parley/inference/worker"
	"parley/media"
)

// turnContract is what a file of smart-turn must keep. The name of its output is not the same in
// all versions.
var turnContract = onnx.Contract{
	Inputs:  []onnx.Tensor{{Name: "input_features", Type: onnx.Float32, Shape: []int64{onnx.Any, smartturn.Bands, smartturn.Frames}}},
	Outputs: []onnx.Tensor{{Type: onnx.Float32, Shape: []int64{onnx.Any, 1}}},
}

// pause is one to be judged.
type pause struct {
	stream uint32
	speech []int16
}

// serveTurns judges pauses, one at a time, until its input ends.
func serveTurns(in *worker.Reader, out *worker.Writer, library, model string) error {
	if err := onnx.Load(library); err != nil {
		return err
	}
	graph, err := onnx.Open(model, turnContract)
	if err != nil {
		return err
	}
	if err := out.Send(worker.Hello, 0, []byte("smart-turn")); err != nil {
		return err
	}
	pauses := make(chan pause, 16) // more than the server asks of one child
	failed := make(chan error, 2)  // one for each of the two goroutines
	go func() { failed <- judge(graph, pauses, out) }()
	go func() { failed <- readTurns(in, out, pauses) }()
	return <-failed
}

// readTurns takes the server's messages.
func readTurns(in *worker.Reader, out *worker.Writer, pauses chan<- pause) error {
	return messages(in, out, func(m worker.Message) error {
		if m.Kind == worker.Score {
			select {
			case pauses <- pause{m.Stream, media.AppendSamples(nil, m.Payload)}:
			default:
				return out.Send(worker.Failed, m.Stream, []byte("too many pauses wait"))
			}
		}
		return nil
	})
}

// judge owns the features.
func judge(graph *onnx.Graph, pauses <-chan pause, out *worker.Writer) error {
	features := smartturn.NewFeatures()
	for p := range pauses {
		made, err := graph.Run(onnx.Value{Float32: features.Of(p.speech), Shape: []int64{1, smartturn.Bands, smartturn.Frames}})
		switch {
		case err == nil && len(made[0].Float32) == 1:
			err = out.Send(worker.Scored, p.stream, binary.LittleEndian.AppendUint32(nil, math.Float32bits(made[0].Float32[0])))
		case err == nil:
			err = out.Send(worker.Failed, p.stream, []byte("the network gives no score"))
		default:
			err = out.Send(worker.Failed, p.stream, []byte(err.Error()))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
