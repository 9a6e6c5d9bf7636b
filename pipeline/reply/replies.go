package reply

import (
	"context"
	"strings"
	"time"

	"parley/inference"
	"parley/pipeline/agent"
	"parley/pipeline/playout"
	"parley/pipeline/turn"
)

// MaxCalls bounds the functions that one completion may call.
const MaxCalls = 16

// Replies are the replies of a call: the latest, a speculative one, and those whose usage is
// not reported yet. They belong to the conductor.
type Replies struct {
	Maker       *Maker
	History     History
	Number      int    // public generation of the latest
	Latest      *Reply // nil before the first
	Speculative *Reply // nil: none

	begun    int
	updates  int            // changes of the agent
	owed     map[int]*Reply // completions whose usage is not reported
	greeting greeting
}

// greeting is what is left of the first message when it is interrupted.
type greeting struct {
	rest    string // from the beginning of the sentence that was interrupted; empty: it was not
	unheard string // from the first word that was not heard
}

// Kinds of completions.
const (
	kindReply       = "reply"
	kindSpeculative = "speculative" // which did not become the answer
)

// Usage is what one completion of the language model consumed.
type Usage struct {
	Generation int // internal number of the completion, from 1; discarded ones have one too
	// Kind is reply, or speculative for one that was begun before the end of its turn and
	// did not become the answer.
	Kind    string
	Outcome Outcome
	Tokens  inference.Usage
	Engine  string // that wrote it; empty: none did
}

// Speculative says that the completion was begun before the end of its turn and did not
// become the answer.
func (u *Usage) Speculative() bool { return u.Kind == kindSpeculative }

// Begin has the engines make r, until ctx ends.
func (b *Replies) Begin(ctx context.Context, r *Reply, o Order, now time.Time) {
	b.begun++
	r.Gen, o.Gen, r.Clock.Asked, r.MovedAt = b.begun, b.begun, now, now
	if o.Request != nil {
		if r.Completion = new(Completion); !o.Request.NoTools {
			r.Completion.MostCalls = MaxCalls
		}
		if b.owed == nil {
			b.owed = map[int]*Reply{}
		}
		b.owed[r.Gen] = r
	}
	r.Making = b.Maker.Make(ctx, o)
}

// Request asks the model to go on with the conversation.
func (b *Replies) Request(a *agent.Agent, tools []inference.Tool) *inference.Request {
	return &inference.Request{System: a.System(), Unheard: b.greeting.unheard, Messages: b.History.Messages(), Tools: tools, Language: a.Language}
}

// Line is what the agent says for a line; of a first message that was interrupted, the rest. It is empty in a language in which
// the agent has none.
func (b *Replies) Line(a *agent.Agent, l turn.Line) string {
	if l == turn.Greeting && b.greeting.rest != "" && a.FirstMessage != "" {
		return b.greeting.rest
	}
	return a.Line(l)
}

// Remember takes what was heard of the latest reply, up to h, into the history.
func (b *Replies) Remember(a *agent.Agent, text string, h playout.Position) {
	r := b.Latest
	interrupted := r.outcome == Cut
	if (text != "" || len(r.Calls) > 0) && !b.History.Prompted(r.Prompts, text, interrupted) {
		add := b.History.Add
		if r.Line == turn.Reconnected {
			add = b.History.Precede
		}
		add(inference.Message{Role: inference.RoleAgent, Text: text, Interrupted: interrupted, ToolCalls: r.Calls, Parts: r.Own})
	}
	switch {
	case r.Line != turn.Greeting:
	case interrupted:
		b.interrupted(a, text, h)
	default:
		if r.outcome == Committed {
			b.greeting = greeting{}
		}
		b.Maker.lines.greeted()
	}
}

// interrupted notes how much of the first message was heard.
func (b *Replies) interrupted(a *agent.Agent, heard string, h playout.Position) {
	list := Pieces(b.Line(a, turn.Greeting), a.Language)
	all := strings.Join(list, " ")
	from := 0
	if h.Gen == b.Latest.Gen && !b.Latest.voice.retried { // else the sentences are others
		from = min(h.Seg, len(list))
	}
	b.greeting = greeting{rest: strings.Join(list[from:], " "), unheard: strings.TrimSpace(strings.TrimPrefix(all, heard))}
}

// Updated notes that the agent has changed.
func (b *Replies) Updated() { b.updates++ }

// revision changes with all that a reply depends on besides the caller's words: the
// history, the functions' results, the agent.
func (b *Replies) revision() int { return b.History.revision + b.updates }

// Speculate has the engines make a speculative reply to turn.
func (b *Replies) Speculate(ctx context.Context, turn int, o Order, now time.Time) *Reply {
	b.Speculative = &Reply{Turn: turn, stage: speculative, Speculation: &Speculation{revision: b.revision()}}
	b.Begin(ctx, b.Speculative, o, now)
	return b.Speculative
}

// Park keeps what the engines of the speculative reply made; false: they failed.
func (b *Replies) Park(p Part) bool {
	s := b.Speculative.Speculation
	switch {
	case p.Kind == Finished && p.Err != nil:
		return false
	case p.Kind == Call:
		if s.calls++; s.calls > MaxCalls {
			return true
		}
	}
	s.parked = append(s.parked, p)
	return true
}

// Drop ends the speculative reply, whose turn went on, and returns it.
func (b *Replies) Drop(outcome Outcome) *Reply {
	r := b.Speculative
	b.Speculative = nil
	r.stage, r.outcome, r.Speculation.parked = done, outcome, nil
	r.Making.Cancel(ErrConcluded)
	return r
}

// Fits says that the speculative reply still answers its turn: the conversation has not
// changed under it.
func (b *Replies) Fits() bool {
	return b.Speculative != nil && b.Speculative.Speculation.revision == b.revision()
}

// Commit makes the speculative reply the latest, the answer to its turn, and returns what its
// engines have made meanwhile.
func (b *Replies) Commit(now time.Time) (parked []Part) {
	r := b.Speculative
	parked = r.Speculation.parked
	b.Latest, b.Speculative = r, nil
	r.stage, r.Speculation, r.Clock.Asked, r.MovedAt = composing, nil, now, now
	r.Making.release()
	return parked
}

// Written takes the end of the model's part of a reply, alive or dead; nil: none is waited for.
func (b *Replies) Written(p Part) *Reply {
	r := b.owed[p.Gen]
	if r == nil {
		return nil
	}
	usage := p.Usage
	r.Completion.Usage, r.Completion.Engine = &usage, p.Engine
	if p.Err != nil && !r.Made() {
		r.err = p.Err
	}
	return r
}

// Usage is what a completion consumed, once: when the reply is done and the count is known.
func (b *Replies) Usage(r *Reply) (u Usage, ok bool) {
	if r.Live() || !r.Written() || b.owed[r.Gen] == nil {
		return u, false
	}
	delete(b.owed, r.Gen)
	u = Usage{Generation: r.Gen, Kind: kindReply, Outcome: r.outcome, Tokens: *r.Completion.Usage, Engine: r.Completion.Engine}
	if r.Speculation != nil {
		u.Kind = kindSpeculative
	}
	return u, true
}
