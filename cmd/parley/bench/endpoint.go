package bench

import (
	"context"
	"fmt"
	"slices"

	"parley/cmd/parley/bench/endpoint"
	"parley/media"
	"parley/pipeline/turn"
)

// Endpoint measures endpointing, in simulated time: how many turns with pauses in them are cut, and how long the end of one is
// waited for.
type Endpoint struct {
	Half endpoint.Half
}

// listed is what the rule before did: whatever did not end in a listed word was over after 200 ms, or as long as the caller's pauses
// were on average. It was measured on these turns.
var listed = map[endpoint.Half]struct {
	cut  float64    // % of the turns
	wait media.Time // median
}{endpoint.Tuned: {58.3, 360 * media.Millisecond}, endpoint.Judged: {67.3, 360 * media.Millisecond}}

// cutBar is what may be cut by default, in percent of the turns.
const cutBar = 5

// floors are the shortest waits, in ms, of the points of a curve.
var floors = []media.Time{200, 300, 400, 500, 600, 800, 1000, 1200, 1600}

// judge is who ends turns.
type judge struct {
	name   string
	scorer bool
	share  float64 // of what the rule before cut, at most, at the same wait
}

var judges = []judge{{"by words", false, 0.5}, {"by words and a scorer", true, 0.25}}

// Run measures and returns the rows.
func (e Endpoint) Run(context.Context) ([]Row, error) {
	var rows []Row
	for _, j := range judges {
		rows = slices.Concat(rows, e.curve(j), e.bars(j))
	}
	for _, language := range endpoint.Languages {
		r := endpoint.Play(e.Half, []string{language}, judges[0].config)
		g := group("endpointing by words, " + language)
		rows = append(rows, g.row("turns cut", r.Share(), "%"), g.row("median wait", float64(r.Median().Milliseconds()), "ms"))
	}
	return rows, nil
}

// bars are what a rule must reach: at the median wait of the one before, and by default.
func (e Endpoint) bars(j judge) []Row {
	g, before := group("endpointing "+j.name), listed[e.Half]
	same, usual := e.play(j, before.wait), endpoint.Play(e.Half, endpoint.Languages, j.config)
	return []Row{g.most("turns cut at the wait of the rule before", same.Share(), "%", j.share*before.cut),
		g.most("median wait then", float64(same.Median().Milliseconds()), "ms", float64(before.wait.Milliseconds())),
		g.most("turns cut by default", usual.Share(), "%", cutBar), g.row("median wait by default", float64(usual.Median().Milliseconds()), "ms")}
}

// curve has the turns of all languages cut less and less, by waiting longer and longer.
func (e Endpoint) curve(j judge) (rows []Row) {
	g := group("endpointing " + j.name + ", turns cut at a median wait of")
	for _, floor := range floors {
		r := e.play(j, floor*media.Millisecond)
		rows = append(rows, g.row(fmt.Sprintf("%d ms", r.Median().Milliseconds()), r.Share(), "%"))
	}
	return rows
}

// play has turns end after floor where the words, or the scorer, are sure, of all callers alike.
func (e Endpoint) play(j judge, floor media.Time) endpoint.Result {
	return endpoint.Play(e.Half, endpoint.Languages, func(language string) turn.Config {
		c := j.config(language)
		c.ScoredDelay, c.LearntMax = floor, 0
		if c.MinDelay = max(c.MinDelay, floor); !j.scorer {
			c.MinDelay = floor
		}
		return c
	})
}

// config is the default.
func (j judge) config(language string) turn.Config {
	c := turn.DefaultConfig(language)
	c.Scorer = j.scorer
	return c
}
