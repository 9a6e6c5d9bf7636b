//go:build cgo

package main

import (
	"encoding/json"
	"sync/atomic"

	"parley/inference/worker"
	"parley/media"
)

// request is one synthesis asked for.
type request struct {
	stream uint32
	worker.Synthesis
}

// synthesiser is an engine that speaks. It belongs to the goroutine that opened it.
type synthesiser interface {
	// speak synthesises r and hands it to emit, piece by piece, until emit returns false; without
	// samples, it only asks whether to go on. It returns when the speech has ended.
	speak(r worker.Synthesis, emit func(samples []int16, events []worker.Event) (more bool)) error
}

// serveTTS opens an engine, which tells its version, and speaks one request at a time until its
// input ends. Requests are read while speech is made, so that a Cancel ends it at the next piece.
func serveTTS(in *worker.Reader, out *worker.Writer, open func() (synthesiser, string, error)) error {
	requests := make(chan request, 1) // the server asks again only after Done
	var cancelled atomic.Uint32       // the stream whose Cancel came last
	failed := make(chan error, 2)     // one for each of the two goroutines
	go func() { failed <- synthesise(open, requests, out, &cancelled) }()
	go func() { failed <- readTTS(in, out, requests, &cancelled) }()
	return <-failed
}

// readTTS takes the server's messages.
func readTTS(in *worker.Reader, out *worker.Writer, requests chan<- request, cancelled *atomic.Uint32) error {
	return messages(in, out, func(m worker.Message) error {
		switch m.Kind {
		case worker.Cancel:
			cancelled.Store(m.Stream)
		case worker.Speak:
			r := request{stream: m.Stream}
			if json.Unmarshal(m.Payload, &r.Synthesis) != nil {
				return out.Send(worker.Failed, m.Stream, []byte("malformed request"))
			}
			select {
			case requests <- r:
			default:
				return out.Send(worker.Failed, m.Stream, []byte("another request is being spoken"))
			}
		}
		return nil
	})
}

// synthesise owns the engine.
func synthesise(open func() (synthesiser, string, error), requests <-chan request, out *worker.Writer, cancelled *atomic.Uint32) error {
	engine, version, err := open()
	if err != nil {
		return err
	}
	if err := out.Send(worker.Hello, 0, []byte(version)); err != nil {
		return err
	}
	for r := range requests {
		var broken error
		var pcm []byte
		fault := engine.speak(r.Synthesis, func(samples []int16, events []worker.Event) bool {
			if cancelled.Load() == r.stream {
				return false
			}
			if len(samples) == 0 && len(events) == 0 {
				return true
			}
			if len(events) > 0 {
				marks, err := json.Marshal(events)
				if err == nil {
					err = out.Send(worker.Marks, r.stream, marks)
				}
				if err != nil {
					broken = err
					return false
				}
			}
			pcm = media.AppendPCM(pcm[:0], samples)
			broken = out.Send(worker.Audio, r.stream, pcm)
			return broken == nil
		})
		if broken != nil {
			return broken
		}
		if fault != nil {
			err = out.Send(worker.Failed, r.stream, []byte(fault.Error()))
		} else {
			err = out.Send(worker.Done, r.stream, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
