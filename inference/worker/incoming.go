package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"parley/media"
)

// Piece is speech that a worker sent at once. The receiver owns its slices.
type Piece struct {
	Samples []int16
	Events  []Event   // what begins in it; empty: the engine does not say
	At      time.Time // when it came
}

// Bounds are what one synthesis may take.
type Bounds struct {
	// Silence is how long a worker may make no sound while it is asked to; then it is killed.
	Silence time.Duration
	// Samples is the most that the speech may have; more end the request.
	Samples int
}

// incoming holds what a worker has said and the receiver has not pulled. It
// takes everything at once: a worker that waited for a slow receiver would keep
// the others waiting.
type incoming struct {
	bounds Bounds
	wake   chan struct{} // capacity 1: something has changed

	mu      sync.Mutex
	pieces  []Piece
	events  []Event // of the next piece
	samples int     // received so far
	ended   bool    // the worker is through with it, or dead
	stuck   bool    // it made no sound for too long
	err     error   // why it failed
}

func newIncoming(b Bounds) *incoming { return &incoming{bounds: b, wake: make(chan struct{}, 1)} }

// Receive takes a message of the worker.
func (in *incoming) Receive(kind Kind, payload []byte) {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch kind {
	case Marks:
		if err := json.Unmarshal(payload, &in.events); err != nil {
			in.err = fmt.Errorf("malformed marks: %w", err)
		}
	case Audio:
		if in.samples += len(payload) / 2; in.samples > in.bounds.Samples {
			in.err = errors.New("the speech has no end")
			break
		}
		in.pieces = append(in.pieces, Piece{media.AppendSamples(make([]int16, 0, len(payload)/2), payload), in.events, time.Now()})
		in.events = nil
	case Done:
		in.ended = true
	case Failed:
		in.ended, in.err = true, errors.New(string(payload))
	}
	in.signal()
}

// Lost handles the death of the worker.
func (in *incoming) Lost() {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.ended {
		in.ended, in.err = true, ErrLost
	}
	in.signal()
}

func (in *incoming) signal() {
	select {
	case in.wake <- struct{}{}:
	default:
	}
}

// next waits for the next piece; nil means the end.
func (in *incoming) next(ctx context.Context) (*Piece, error) {
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		in.mu.Lock()
		pieces, ended, err := in.pieces, in.ended, in.err
		if len(pieces) > 0 && err == nil {
			in.pieces = pieces[1:]
		}
		in.mu.Unlock()
		switch {
		case err != nil:
			return nil, err
		case len(pieces) > 0:
			return &pieces[0], nil
		case ended:
			return nil, nil
		}
		select {
		case <-in.wake:
		case <-ctx.Done():
		case <-time.After(in.bounds.Silence):
			in.mu.Lock()
			in.stuck = true
			in.mu.Unlock()
			return nil, fmt.Errorf("%w: no sound for %v", ErrLost, in.bounds.Silence)
		}
	}
}

// release ends what the worker still does for this request; a worker that does
// not obey is killed.
func (in *incoming) release(s *Stream) {
	patience := time.After(in.bounds.Silence)
	for asked := false; ; asked = true {
		in.mu.Lock()
		ended, stuck := in.ended, in.stuck
		in.pieces = nil
		in.mu.Unlock()
		if ended {
			return
		}
		switch {
		case asked:
		case stuck:
			s.Abandon()
		default:
			s.Send(Cancel, nil) // an error means it is dying: Lost follows
		}
		select {
		case <-in.wake:
		case <-patience:
			s.Abandon()
		}
	}
}
