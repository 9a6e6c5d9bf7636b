package trace

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/otel/propagation"
	otel "go.opentelemetry.io/otel/trace"

	"parley/inference"
	"parley/media"
	"parley/pipeline/event"
	"parley/pipeline/reply"
)

// maxOfCall bounds the notes of one call: a conversation of two hours has fewer.
// Further events are not in its trace.
const maxOfCall = 8000

// Call is a call that is traced. A nil one is not, and all of its methods do nothing.
type Call struct {
	tracer *Tracer
	root   otel.Span

	mu    sync.Mutex // of what follows, until the call is over
	notes []note
	heard bool // the first words of the turn in progress are noted
	full  bool // events are missing
	ended bool
	at    time.Time // its end
	why   media.Ended
}

// note is an event with the time at which it came.
type note struct {
	kind       event.Kind
	turn       int
	generation int
	at         time.Time
	// name is a function's or an engine's; word an outcome or a fault; id a function call's.
	name, word, id string
	timing         *reply.Timing
	usage          *reply.Usage
}

// Header is the traceparent header of requests that belong to the call; empty: none.
func (c *Call) Header() string {
	if c == nil {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(otel.ContextWithSpan(context.Background(), c.root), carrier)
	return carrier[header]
}

// Observe notes an event. It runs on the conductor, a few times in a turn.
func (c *Call) Observe(e event.Event) {
	if c == nil || !c.root.IsRecording() {
		return
	}
	n := note{kind: e.Kind, turn: e.Turn, generation: e.Generation}
	switch e.Kind {
	case event.Thinking, event.Listening, event.Interrupted, event.UserLine, event.UserPartial, event.SteppedOut:
	case event.ToolAsked, event.ToolBegun:
		n.name, n.id = e.Call.Name, e.Call.ID
	case event.ToolEnded:
		n.name, n.id, n.word = e.Call.Name, e.Call.ID, e.Text
	case event.Answered:
		n.word = e.Text
	case event.Fault, event.Recovered:
		n.word = inference.ErrFailed.String()
		if f, ok := errors.AsType[*inference.Error](e.Err); ok {
			n.name, n.word = f.Engine, f.Fault.String()
		}
	case event.Used:
		u := e.Usage // a copy: otherwise every event would be on the heap
		n.usage = &u
	case event.Timed:
		t := e.Timing
		n.timing = &t
	default:
		return
	}
	n.at = time.Now()
	c.note(n)
}

func (c *Call) note(n note) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch n.kind {
	case event.UserPartial:
		if c.heard {
			return // only the first words of a turn matter
		}
		c.heard = true
	case event.UserLine, event.Thinking, event.SteppedOut:
		c.heard = false
	}
	switch {
	case c.ended:
	case len(c.notes) == maxOfCall:
		c.full = true
	default:
		c.notes = append(c.notes, n)
	}
}

// End hands the call to the tracer, which drops it when too many wait. It does not
// block; only the first End counts.
func (c *Call) End(why media.Ended) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	c.ended, c.at, c.why = true, time.Now(), why
	if !c.root.IsRecording() {
		return // the account does not want the call traced
	}
	n := int64(len(c.notes))
	if c.tracer.notes.Add(n) > maxNotes {
		c.tracer.notes.Add(-n)
		c.tracer.dropped.Add(1)
		return
	}
	select {
	case c.tracer.over <- c:
	default:
		c.tracer.notes.Add(-n)
		c.tracer.dropped.Add(1)
	}
}
