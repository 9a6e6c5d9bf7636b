package espeak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"parley/inference/worker"
	"parley/media"
)

const (
	// maxSegmentSamples bounds the speech of one segment, far above what its
	// characters can become: ten minutes, 26 MB. More ends the request.
	maxSegmentSamples = int(Rate) * 600
	// stuckAfter is how long a worker may make no sound while it is asked to;
	// usually it makes 60 ms of it in 0.05 ms.
	stuckAfter = 5 * time.Second
)

// piece is what a worker sent at once.
type piece struct {
	samples []int16
	events  []worker.Event
	at      time.Time // when it came
}

// incoming holds what a worker has said and the receiver has not pulled. It
// takes everything at once: a worker that waited for a slow receiver would keep
// the others waiting.
type incoming struct {
	wake chan struct{} // capacity 1: something has changed

	mu      sync.Mutex
	pieces  []piece
	events  []worker.Event // of the next piece
	samples int            // received so far
	ended   bool           // the worker is through with it, or dead
	stuck   bool           // it made no sound for too long
	err     error          // why it failed
}

func newIncoming() *incoming { return &incoming{wake: make(chan struct{}, 1)} }

// Receive takes a message of the worker.
func (in *incoming) Receive(kind worker.Kind, payload []byte) {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch kind {
	case worker.Marks:
		if err := json.Unmarshal(payload, &in.events); err != nil {
			in.err = fmt.Errorf("malformed marks: %w", err)
		}
	case worker.Audio:
		if in.samples += len(payload) / 2; in.samples > maxSegmentSamples {
			in.err = errors.New("the speech has no end")
			break
		}
		in.pieces = append(in.pieces, piece{media.AppendSamples(make([]int16, 0, len(payload)/2), payload), in.events, time.Now()})
		in.events = nil
	case worker.Done:
		in.ended = true
	case worker.Failed:
		in.ended, in.err = true, errors.New(string(payload))
	}
	in.signal()
}

// Lost handles the death of the worker.
func (in *incoming) Lost() {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.ended {
		in.ended, in.err = true, worker.ErrLost
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
func (in *incoming) next(ctx context.Context) (*piece, error) {
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
		case <-time.After(stuckAfter):
			in.mu.Lock()
			in.stuck = true
			in.mu.Unlock()
			return nil, fmt.Errorf("%w: no sound for %v", worker.ErrLost, stuckAfter)
		}
	}
}

// release ends what the worker still does for this request; a worker that does
// not obey is killed.
func (in *incoming) release(s *worker.Stream) {
	patience := time.After(stuckAfter)
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
			s.Send(worker.Cancel, nil) // an error means it is dying: Lost follows
		}
		select {
		case <-in.wake:
		case <-patience:
			s.Abandon()
		}
	}
}
