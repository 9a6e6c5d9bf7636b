package worker

import (
	"context"
	"encoding/json"
	"errors"

	"parley/inference"
)

// maxAttempts is how many workers are asked for a speech that nobody has heard
// anything of: both of two may have died just now, unnoticed, so there is a third.
const maxAttempts = 3

// ErrStopped: the receiver of a speech wants no more.
var ErrStopped = errors.New("stopped")

// Speak has a worker speak r and hands pass what it says, piece by piece, until pass returns
// false: then the error is ErrStopped. It returns when the worker is free again. What is made
// and not yet passed waits in memory.
//
// Other errors: the cause of ctx, or an *inference.Error, ErrUnavailable when no worker can take
// the request, ErrFailed when one refused it, or died or gave up after speech had begun; before
// that others are asked.
func (p *Pool) Speak(ctx context.Context, r Synthesis, b Bounds, pass func(Piece) (more bool)) error {
	request, err := json.Marshal(r)
	if err != nil {
		return Fault(p.cfg.Name, err)
	}
	heard := false
	for attempt := 1; ; attempt++ {
		err := p.attempt(ctx, request, b, func(piece Piece) bool {
			heard = true
			return pass(piece)
		})
		switch {
		case err == nil, err == ErrStopped:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, ErrLost) && !heard && attempt < maxAttempts:
			continue // nobody has heard anything of it: another worker says it
		}
		return Fault(p.cfg.Name, err)
	}
}

// attempt asks one worker and returns when that worker is free again.
func (p *Pool) attempt(ctx context.Context, request []byte, b Bounds, pass func(Piece) bool) error {
	in := newIncoming(b)
	stream, err := p.Open(ctx, in)
	if err != nil {
		return err
	}
	defer stream.Close()
	defer in.release(stream)
	inference.Sent(ctx)
	if err := stream.Send(Speak, request); err != nil {
		return err
	}
	for {
		piece, err := in.next(ctx)
		if err != nil || piece == nil {
			return err
		}
		inference.Got(ctx, piece.At)
		if !pass(*piece) {
			return ErrStopped
		}
	}
}
