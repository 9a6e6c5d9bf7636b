package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"parley/inference"
)

// Bounds of what a model may ask for in one reply.
const (
	maxCalls     = 16
	maxArguments = 64 << 10
)

// Reply is the streamed answer of a language model while it is read. It belongs to one goroutine.
type Reply struct {
	*Answer
	// Usage is what the reply has consumed so far, which each delta says: counted, until the vendor says more.
	Usage  inference.Usage
	Finish inference.Finish // why the model stopped; empty: it does not say
	Done   bool             // the reply is complete if the stream ends now
	End    func() error     // tells what only the end of the stream makes complete; nil: there is nothing

	yield      func(inference.Delta, error) bool
	characters int // written
	turn       int // messages before it, for identifiers that the vendor leaves out
	calls      int
}

// ErrLeft says that the consumer has left the sequence, which must not be touched again.
var ErrLeft = errors.New("the consumer left")

// Complete asks a model for r by sending body as JSON, and streams its reply as inference.LLM has it. What it consumed is
// counted from the characters until the vendor tells its own, so a reply that is cut short says it, too; a
// request that the vendor never began to answer counts as nothing.
//
// open returns what takes the data of each event, valid until it returns: io.EOF says that it was the last one.
func (c *Client) Complete(ctx context.Context, path string, body any, r inference.Request, open func(*Reply) func([]byte) error) iter.Seq2[inference.Delta, error] {
	return func(yield func(inference.Delta, error) bool) {
		if ctx.Err() != nil {
			yield(inference.Delta{}, context.Cause(ctx))
			return
		}
		text, err := json.Marshal(body)
		if err != nil { // a tool's parameters are not JSON
			yield(inference.Delta{}, c.Fault(inference.ErrRefused, errors.New("the tools are not valid JSON")))
			return
		}
		a, err := c.Post(ctx, path, "application/json", text)
		if err != nil {
			yield(inference.Delta{}, err)
			return
		}
		defer a.Close()
		p := &Reply{Answer: a, yield: yield, turn: len(r.Messages)}
		p.Usage = inference.Usage{In: inference.CountTokens(r.Characters()), Source: inference.UsageCounted}
		err = p.read(open(p))
		var last inference.Delta
		if err == nil {
			last.Finish = p.Finish
		}
		if err == ErrLeft || p.Tell(last) != nil || err == nil {
			return
		}
		yield(inference.Delta{}, err)
	}
}

// read takes events until the end of the reply.
func (r *Reply) read(take func([]byte) error) error {
	in := NewEvents(r.Answer)
	for {
		data, err := in.Next()
		switch {
		case err == io.EOF && !r.Done:
			return r.Fault(inference.ErrFailed, io.ErrUnexpectedEOF)
		case err == io.EOF:
			return r.end()
		case err == ErrLine || err == ErrStream:
			return r.Fault(inference.ErrFailed, err)
		case err != nil:
			return err
		case r.Context().Err() != nil: // lines that were read before the cancellation
			return context.Cause(r.Context())
		}
		if err := take(data); err == io.EOF {
			return r.end()
		} else if err != nil {
			return err
		}
	}
}

func (r *Reply) end() error {
	if r.End == nil {
		return nil
	}
	return r.End()
}

// Decode reads the data of an event.
func (r *Reply) Decode(data []byte, to any) error {
	if json.Unmarshal(data, to) != nil {
		return r.Fault(inference.ErrFailed, errors.New("an event that is not JSON"))
	}
	return nil
}

// Count counts characters that the model wrote, of which the vendor has not said yet how many tokens they are.
func (r *Reply) Count(characters int) {
	r.characters += characters
	if r.Usage.Source == inference.UsageCounted {
		r.Usage.Out = inference.CountTokens(r.characters)
	}
}

// Tell gives the consumer a delta, with the usage so far. Its error ends the reply.
func (r *Reply) Tell(d inference.Delta) error {
	if (d.Text != "" || d.ToolCall != nil) && r.Context().Err() != nil {
		return context.Cause(r.Context())
	}
	u := r.Usage
	d.Usage = &u
	if !r.yield(d, nil) {
		return ErrLeft
	}
	return nil
}

// Call tells a complete call of a tool, and what the model wants back with it; nil: nothing. Without an identifier it gets one;
// arguments are JSON, or empty where there are none.
func (r *Reply) Call(c inference.ToolCall, part *inference.Part) error {
	if c.ID == "" {
		c.ID = fmt.Sprintf("call_%d_%d", r.turn, r.calls)
	}
	if strings.TrimSpace(c.Arguments) == "" {
		c.Arguments = "{}"
	}
	r.calls++
	switch {
	case r.calls > maxCalls:
		return r.Fault(inference.ErrFailed, errors.New("more than 16 tool calls in a reply"))
	case c.Name == "" || len(c.Arguments) > maxArguments || !json.Valid([]byte(c.Arguments)):
		return r.Fault(inference.ErrFailed, errors.New("a broken tool call"))
	}
	return r.Tell(inference.Delta{ToolCall: &c, Part: part})
}

// Part is a piece of the reply that its model wants back as it came.
func (r *Reply) Part(raw json.RawMessage) *inference.Part {
	return &inference.Part{Engine: r.Engine(), Provider: raw}
}
