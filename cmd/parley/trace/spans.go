package trace

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	otel "go.opentelemetry.io/otel/trace"

	"parley/media"
	"parley/pipeline/event"
	"parley/pipeline/reply"
)

// part is one reply of the agent, with the caller's words that it answers.
type part struct {
	turn, generation int
	begin, end       time.Time
	heard, said      time.Time // the caller's first words and their line; zero: none
	spoke            time.Time // first audio; zero: never
	timing           *reply.Timing
	usage            *reply.Usage
	tools            []*run
	happened         []note // that are events of its span
}

// run is one call of a function.
type run struct {
	name, id, outcome string
	begin, end        time.Time
}

// story is what the notes of a call say, in order.
type story struct {
	parts       []*part
	open        *part // nil: the agent listens
	heard, said time.Time
	happened    []note // outside of parts
}

// spans makes and ends the call's spans.
func (c *Call) spans() {
	var s story
	for _, n := range c.notes {
		s.tell(n)
	}
	ctx := otel.ContextWithSpan(context.Background(), c.root)
	for _, p := range s.parts {
		if p.end.IsZero() {
			p.end = c.at
		}
		c.tracer.part(ctx, p)
	}
	for _, n := range s.happened {
		mark(c.root, n)
		if n.kind == event.Answered {
			c.root.SetAttributes(attribute.String("parley.answered_by", n.word))
		}
	}
	c.root.SetAttributes(attribute.String("parley.end_reason", string(c.why.Reason)))
	if c.why.Detail != "" {
		c.root.SetAttributes(attribute.String("parley.end_detail", string(c.why.Detail)))
	}
	if c.full {
		c.root.SetAttributes(attribute.Bool("parley.trace.incomplete", true))
	}
	if c.why.Reason == media.Failed {
		c.root.SetStatus(codes.Error, string(c.why.Reason))
	} else {
		c.root.SetStatus(codes.Ok, "")
	}
	c.root.End(otel.WithTimestamp(c.at))
}

// tell takes the next note.
func (s *story) tell(n note) {
	switch n.kind {
	case event.UserPartial:
		if s.heard.IsZero() {
			s.heard = n.at
		}
	case event.UserLine:
		s.said = n.at
	case event.SteppedOut: // what was said to a supervisor belongs to no reply
		s.heard, s.said = time.Time{}, time.Time{}
	case event.Thinking:
		s.close(n.at)
		p := &part{turn: n.turn, generation: n.generation, begin: n.at, heard: s.heard, said: s.said}
		if !p.heard.IsZero() {
			p.begin = p.heard
		}
		s.heard, s.said = time.Time{}, time.Time{}
		s.parts, s.open = append(s.parts, p), p
	case event.Timed:
		if p := s.of(n.generation); p != nil {
			p.timing, p.spoke = n.timing, n.at
			if began := n.at.Add(-n.timing.Total); began.Before(p.begin) {
				p.begin = began
			}
		}
	case event.Used:
		if p := s.of(n.generation); p != nil && !n.usage.Speculative() {
			p.usage = n.usage
		} else {
			s.happened = append(s.happened, n)
		}
	case event.Listening:
		s.close(n.at)
	case event.Interrupted:
		s.happen(n)
		s.close(n.at)
	case event.ToolAsked, event.ToolBegun, event.ToolEnded:
		s.tool(n)
	default:
		s.happen(n)
	}
}

func (s *story) close(at time.Time) {
	if s.open != nil {
		s.open.end = at
		s.open = nil
	}
}

// of is the reply of a generation; 0 and unknown ones have none.
func (s *story) of(generation int) *part {
	for i := len(s.parts) - 1; i >= 0 && generation > 0; i-- {
		if s.parts[i].generation == generation {
			return s.parts[i]
		}
	}
	return nil
}

func (s *story) happen(n note) {
	if s.open != nil {
		s.open.happened = append(s.open.happened, n)
	} else {
		s.happened = append(s.happened, n)
	}
}

// tool begins or ends a function: its result may come when the reply is over.
func (s *story) tool(n note) {
	for i := len(s.parts) - 1; i >= 0; i-- {
		for _, r := range s.parts[i].tools {
			if r.id == n.id && r.end.IsZero() {
				if n.kind == event.ToolEnded {
					r.end, r.outcome = n.at, n.word
				}
				return
			}
		}
	}
	p := s.of(n.generation)
	if p == nil {
		p = s.open
	}
	if p == nil {
		return
	}
	r := &run{name: n.name, id: n.id, begin: n.at}
	if n.kind == event.ToolEnded { // it never began: nobody runs it
		r.end, r.outcome = n.at, n.word
	}
	p.tools = append(p.tools, r)
}

// part makes the spans of one reply.
func (t *Tracer) part(ctx context.Context, p *part) {
	name := "turn"
	if p.turn == 0 { // nobody asked: a greeting, a question whether somebody is there
		name = "reply"
	}
	ctx, span := t.spans.Start(ctx, name, otel.WithTimestamp(p.begin),
		otel.WithAttributes(attribute.Int("parley.turn", p.turn), attribute.Int("parley.generation", p.generation)))
	if !p.heard.IsZero() && !p.said.IsZero() {
		t.stage(ctx, "recognition", p.heard, p.said)
	}
	if m := p.timing; m != nil {
		asked := p.spoke.Add(m.Endpoint - m.Total)
		text := asked.Add(m.Model)
		t.stage(ctx, "endpointing", p.spoke.Add(-m.Total), asked)
		t.stage(ctx, "model", asked, text)
		t.stage(ctx, "voice", text, text.Add(m.Voice))
		t.stage(ctx, "transport", text.Add(m.Voice), p.spoke)
		span.SetAttributes(attribute.Int64("parley.endpoint_ms", m.Endpoint.Milliseconds()), attribute.Int64("parley.model_ms", m.Model.Milliseconds()),
			attribute.Int64("parley.voice_ms", m.Voice.Milliseconds()), attribute.Int64("parley.overhead_ms", m.Overhead.Milliseconds()),
			attribute.Int64("parley.total_ms", m.Total.Milliseconds()))
	}
	end := p.end
	for _, r := range p.tools {
		if r.end.IsZero() {
			r.end, r.outcome = p.end, "unfinished"
		}
		t.stage(ctx, "tool", r.begin, r.end, attribute.String("parley.tool.name", r.name), attribute.String("parley.outcome", r.outcome))
		if r.end.After(end) {
			end = r.end
		}
	}
	for _, n := range p.happened {
		mark(span, n)
	}
	if u := p.usage; u != nil {
		span.SetAttributes(attribute.String("parley.outcome", string(u.Outcome)),
			attribute.Int("parley.tokens.in", u.Tokens.In), attribute.Int("parley.tokens.out", u.Tokens.Out))
		if u.Outcome == reply.Failed {
			span.SetStatus(codes.Error, string(u.Outcome))
		}
	}
	span.End(otel.WithTimestamp(end))
}

// stage makes one span that is over.
func (t *Tracer) stage(ctx context.Context, name string, begin, end time.Time, more ...attribute.KeyValue) {
	_, span := t.spans.Start(ctx, name, otel.WithTimestamp(begin),
		otel.WithAttributes(attribute.Float64("parley.ms", float64(end.Sub(begin).Microseconds())/1000)), otel.WithAttributes(more...))
	span.End(otel.WithTimestamp(end))
}

// mark adds what happened at one moment.
func mark(span otel.Span, n note) {
	name := n.kind.String()
	attributes := []attribute.KeyValue{}
	if n.usage != nil {
		name = "speculation_" + string(n.usage.Outcome)
	}
	if n.name != "" {
		attributes = append(attributes, attribute.String("parley.engine", n.name))
	}
	if n.word != "" {
		attributes = append(attributes, attribute.String("parley.outcome", n.word))
	}
	span.AddEvent(name, otel.WithTimestamp(n.at), otel.WithAttributes(attributes...))
}
