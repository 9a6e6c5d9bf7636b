package pipeline

import (
	"context"
	"time"

	"parley/media/isolate"
	"parley/pipeline/crew"
	"parley/pipeline/journal"
	"parley/pipeline/reply"
	"parley/pipeline/turn"
)

// settleMost bounds the wait for engines and functions at the end of a call.
const settleMost = 5 * time.Second

// callCrew are the goroutines of a call but the conductor's.
type callCrew struct {
	crew.Crew[message]
	stops chan turn.Event // holds one: ends asked for by Stop
}

func newCrew() callCrew {
	return callCrew{crew.New[message](mailboxSize), make(chan turn.Event, 1)}
}

// Post implements reply.Crew.
func (w *callCrew) Post(ctx context.Context, p reply.Part) bool {
	return w.Send(ctx, message{kind: msgPart + messageKind(p.Kind), part: p})
}

// settle waits for every goroutine of the call and drops what they still post, but
// for usage: what was consumed is counted. Engines and functions that have not returned
// after settleMost are left behind and counted: the call ends with what is known.
func (c *Call) settle() {
	if asr := c.caller.Detach(); asr != nil {
		c.crew.Release("pipeline/release", asr.Close)
	}
	n := c.crew.Settle(settleMost, func() { c.empty(journal.Late, c.takeLate) }, func(m message) { c.receive(m, journal.Late, c.takeLate) })
	if n > 0 {
		isolate.Leak(n)
		c.cfg.Log.Error("engines or functions did not return at the end of a call", "goroutines", n)
	}
}
