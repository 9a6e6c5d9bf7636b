package engine

import (
	"slices"
	"sync"
	"time"

	"parley/inference"
	"parley/media"
	"parley/pipeline"
)

// Bounds of what a conversation waits for a recogniser's last word: the least, because the
// slowest hundredth of few utterances says little, and the most, after which a caller
// takes the line to be dead.
const (
	minPatience = 600 * time.Millisecond
	maxPatience = 10 * time.Second
)

// How many of a recogniser's latest answers are remembered, and how many it takes before
// they count for more than what the engine's makers say.
const (
	patienceOf    = 500
	patienceAfter = 20
)

// Patience learns how long recognisers take from the end of an utterance to its last result,
// as conversations see it. Its zero value has seen nothing. Its methods may be called from
// several goroutines.
type Patience struct {
	mu   sync.Mutex
	seen map[string]*answerTimes // by the names of the engines
}

// answerTimes are the latest of a list of engines.
type answerTimes struct {
	took [patienceOf]time.Duration
	n    int // all that were seen
}

// Fit makes a conversation as patient as a recogniser needs, and learns from it.
func (p *Patience) Fit(cfg *pipeline.Config, engine inference.Info) {
	cfg.Turn.Batch = engine.Feed == inference.FeedBatch
	cfg.Turn.Recogniser = media.FromDuration(p.of(engine))
	cfg.Recognised = func(wait time.Duration) { p.learn(engine.Name, wait) }
}

// of is the time in which 99 of 100 utterances were recognised.
func (p *Patience) of(engine inference.Info) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	wait := engine.Latency
	if a := p.seen[engine.Name]; a != nil && a.n >= patienceAfter {
		took := slices.Clone(a.took[:min(a.n, patienceOf)])
		slices.Sort(took)
		wait = took[(len(took)*99+99)/100-1]
	}
	return min(max(minPatience, wait), maxPatience)
}

// learn notes how long an utterance took.
func (p *Patience) learn(engine string, wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen == nil {
		p.seen = map[string]*answerTimes{}
	}
	a := p.seen[engine]
	if a == nil {
		a = &answerTimes{}
		p.seen[engine] = a
	}
	a.took[a.n%patienceOf] = wait
	a.n++
}
