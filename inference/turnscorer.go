package inference

import "context"

// TurnScorer judges from sound and words whether a caller who pauses has
// finished. It works beside the call: the conductor asks at a pause, goes on, and
// uses the answer when it comes in time.
type TurnScorer interface {
	Info() Info
	// Score returns the probability, 0 to 1, that the turn is over. ctx carries the
	// deadline, after which the answer is of no use; an error means no answer.
	Score(ctx context.Context, p Pause) (float64, error)
}

// Pause is what a TurnScorer judges. It may be read until Score returns, and is
// not changed meanwhile.
type Pause struct {
	Audio    []int16 // the end of the turn, 16 kHz, at most 8 s, the pause included
	Text     string  // what was recognised of the turn so far
	Language string  // two letters
	Said     string  // what the agent said before it
}
