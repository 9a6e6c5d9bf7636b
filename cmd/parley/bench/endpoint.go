package bench

import (
	"context"
	"fmt"

	"parley/cmd/parley/bench/endpoint"
	"parley/media"
	"parley/pipeline/turn"
)

// Endpoint measures endpointing, in simulated time: how many turns with pauses in them are cut, and how long the end of one is
// waited for.
type Endpoint struct {
	Half endpoint.Half
}

// floors are the shortest waits, in ms, of the points of a curve.
var floors = []media.Time{100, 200, 300, 400, 600, 800, 1000, 1200, 1600}

// Run measures and returns the rows.
func (e Endpoint) Run(context.Context) ([]Row, error) {
	rows := e.curve("by words", false)
	rows = append(rows, e.curve("by words and a scorer", true)...)
	for _, language := range endpoint.Languages {
		r := endpoint.Play(e.Half, []string{language}, turn.DefaultConfig)
		g := group("endpointing by words, " + language)
		rows = append(rows, g.row("turns cut", r.Share(), "%"), g.row("median wait", float64(r.Median().Milliseconds()), "ms"))
	}
	return rows, nil
}

// curve has the turns of all languages cut less and less, by waiting longer and longer.
func (e Endpoint) curve(name string, scorer bool) (rows []Row) {
	g := group("endpointing " + name + ", turns cut at a median wait of")
	for _, floor := range floors {
		r := endpoint.Play(e.Half, endpoint.Languages, func(language string) turn.Config {
			c := turn.DefaultConfig(language)
			c.MinDelay, c.Scorer = floor*media.Millisecond, scorer
			return c
		})
		rows = append(rows, g.row(fmt.Sprintf("%d ms", r.Median().Milliseconds()), r.Share(), "%"))
	}
	return rows
}
