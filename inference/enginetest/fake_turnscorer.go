package enginetest

import (
	"context"
	"slices"
	"sync"
	"time"

	"parley/inference"
)

// FakeTurnScorer gives planned scores, After a wait. Safe for use from several
// goroutines once its fields are set.
type FakeTurnScorer struct {
	After time.Duration
	// Prob gives the probability; nil: 0.5 for all.
	Prob func(inference.Pause) float64
	Err  error

	mu     sync.Mutex
	pauses []inference.Pause
}

// Info implements inference.TurnScorer.
func (f *FakeTurnScorer) Info() inference.Info {
	return inference.Info{Name: "fake-scorer", Description: "fake turn scorer for tests", Languages: []string{"en", "es"}, Local: true}
}

// Score implements inference.TurnScorer.
func (f *FakeTurnScorer) Score(ctx context.Context, p inference.Pause) (float64, error) {
	p.Audio = slices.Clone(p.Audio)
	f.mu.Lock()
	f.pauses = append(f.pauses, p)
	f.mu.Unlock()
	if err := sleep(ctx, f.After); err != nil {
		return 0, err
	}
	if f.Err != nil {
		return 0, f.Err
	}
	if f.Prob == nil {
		return 0.5, nil
	}
	return f.Prob(p), nil
}

// Pauses lists what it was asked so far, oldest first.
func (f *FakeTurnScorer) Pauses() []inference.Pause {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.pauses)
}
