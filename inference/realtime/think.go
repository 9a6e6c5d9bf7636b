package realtime

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"

	"parley/inference"
)

// LLM is the engine as a language model, which has heard the caller itself.
func (c *Call) LLM() inference.LLM { return model{c} }

type model struct{ *Call }

// Info implements inference.LLM.
func (c model) Info() inference.Info { return c.info() }

// Complete implements inference.LLM. A turn that the engine has heard is answered by the reply that it gives by itself;
// for all else it is asked: after the results of functions, a turn that was typed, or silence.
func (c model) Complete(ctx context.Context, r inference.Request) iter.Seq2[inference.Delta, error] {
	return func(yield func(inference.Delta, error) bool) {
		p, err := c.answer(ctx, &r)
		if err != nil {
			yield(inference.Delta{}, err)
			return
		}
		for {
			var d inference.Delta
			more := false
			err := c.await(ctx, func() bool {
				if more = len(p.deltas) > 0; more {
					d, p.deltas = p.deltas[0], p.deltas[1:]
				}
				return more || p.over
			})
			if err == nil && !more {
				err = p.err
			}
			if (more || err != nil) && yield(d, err) && err == nil {
				continue
			}
			c.forget(p)
			return
		}
	}
}

// forget interrupts a reply that is not wanted any more, unless its text is complete: its voice may go on.
func (c model) forget(p *reply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !p.over {
		c.interruptLocked(p, 0)
	}
}

// answer finds the reply to a request.
func (c model) answer(ctx context.Context, r *inference.Request) (p *reply, err error) {
	asked := false
	c.wait(+1)
	defer c.wait(-1)
	err = c.await(ctx, func() bool {
		if c.session == nil {
			return false
		}
		if !asked {
			asked = true
			p = c.requestLocked(r)
		}
		if p == nil {
			p = c.untakenLocked()
		}
		if p != nil {
			p.use = answer
		}
		return p != nil
	})
	return p, err
}

// wait counts a request that waits for its reply to begin.
func (c model) wait(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests += n
	c.signalLocked()
}

// untakenLocked is the reply to what the caller said; nil: it has not begun.
func (c model) untakenLocked() *reply {
	for _, p := range c.replies {
		if p.use == untaken {
			return p
		}
	}
	return nil
}

// requestLocked tells the engine what is new in a request and asks for a reply, which it returns; nil: the engine
// answers by itself what it heard.
func (c model) requestLocked(r *inference.Request) *reply {
	c.instructLocked(r)
	c.config.History = r.Messages
	c.said = slices.DeleteFunc(c.said, func(p *reply) bool { return p.use != untaken })
	c.replies = slices.DeleteFunc(c.replies, func(p *reply) bool { return p.use != untaken && p.over && len(p.audio) == 0 })
	heard, results := c.heard, c.resultsLocked(r.Messages)
	c.heard = false
	var last inference.Message
	if n := len(r.Messages); n > 0 {
		last = r.Messages[n-1]
	}
	switch {
	case results, last.Role != inference.RoleUser:
		return c.askLocked("", answer)
	case heard:
		return nil
	}
	return c.askLocked(fmt.Sprintf("The caller has typed this; answer it: %q", last.Text), answer)
}

// Begins tells the engine what requests will say and offer: it answers the first turn before there is one.
func (c *Call) Begins(r *inference.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.instructLocked(r)
}

// instructLocked tells the engine the prompt and the tools of a request, where they are others.
func (c *Call) instructLocked(r *inference.Request) {
	prompt := r.Instructions()
	if prompt == c.config.Prompt && slices.EqualFunc(r.Tools, c.config.Tools, sameTool) {
		return
	}
	c.config.Prompt, c.config.Tools = prompt, r.Tools
	if c.session != nil {
		c.session.Update(prompt, r.Tools)
	}
}

// resultsLocked gives the engine the results that it does not have yet; false: there is none.
func (c model) resultsLocked(messages []inference.Message) (any bool) {
	for _, m := range messages {
		if m.Role == inference.RoleTool && !c.given[m.ToolCallID] {
			c.given[m.ToolCallID], any = true, true
			c.session.ToolResult(m.ToolCallID, m.Text)
		}
	}
	return any
}

func sameTool(a, b inference.Tool) bool {
	return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Parameters, b.Parameters)
}
