package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"parley/inference"
	"parley/inference/remote"
)

// Bounds of a reply.
const (
	maxBlocks    = 64
	maxArguments = 64 << 10
	maxThinking  = 256 << 10
)

// errLeft: the consumer has left the sequence, which must not be touched again.
var errLeft = errors.New("the consumer left")

// reply reads one streamed message.
type reply struct {
	*remote.Answer
	yield      func(inference.Delta, error) bool
	usage      inference.Usage
	characters int
	blocks     map[int]*block
	finish     inference.Finish
}

// block is one block of the message while it is written.
type block struct {
	kind, id, name string
	input          strings.Builder
	thinking       strings.Builder
	signature      strings.Builder
	opaque         json.RawMessage // a block that comes whole
}

// event is one of the stream's events.
type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Usage usage `json:"usage"`
	} `json:"message"`
	Block json.RawMessage `json:"content_block"`
	Delta struct {
		Type      string `json:"type"`
		Text      string `json:"text"`
		JSON      string `json:"partial_json"`
		Thinking  string `json:"thinking"`
		Signature string `json:"signature"`
		Stop      string `json:"stop_reason"`
	} `json:"delta"`
	Usage usage        `json:"usage"`
	Error remote.Named `json:"error"`
}

// usage is in tokens, cumulative for the message; nil: no news.
type usage struct {
	In         *int `json:"input_tokens"`
	CacheWrite *int `json:"cache_creation_input_tokens"`
	CacheRead  *int `json:"cache_read_input_tokens"`
	Out        *int `json:"output_tokens"`
}

// finishes are Anthropic's names for why a model stopped.
var finishes = map[string]inference.Finish{
	"end_turn": inference.FinishStop, "stop_sequence": inference.FinishStop, "pause_turn": inference.FinishStop,
	"max_tokens": inference.FinishLength, "model_context_window_exceeded": inference.FinishLength,
	"tool_use": inference.FinishTools, "refusal": inference.FinishFiltered,
}

// read takes events until the end of the message.
func (p *reply) read() error {
	in := remote.NewEvents(p.Answer)
	for {
		data, err := in.Next()
		switch {
		case err == io.EOF:
			return p.Fault(inference.ErrFailed, io.ErrUnexpectedEOF)
		case err == remote.ErrLine || err == remote.ErrStream:
			return p.Fault(inference.ErrFailed, err)
		case err != nil:
			return err
		case p.Context().Err() != nil: // lines that were read before the cancellation
			return context.Cause(p.Context())
		}
		var e event
		if json.Unmarshal(data, &e) != nil {
			return p.Fault(inference.ErrFailed, errors.New("an event that is not JSON"))
		}
		if e.Type == "message_stop" {
			return p.tell(inference.Delta{Finish: p.finish})
		}
		if err := p.take(e); err != nil {
			return err
		}
	}
}

// tell yields a delta with the usage so far.
func (p *reply) tell(d inference.Delta) error {
	u := p.usage
	d.Usage = &u
	if !p.yield(d, nil) {
		return errLeft
	}
	return nil
}

// take handles one event. Those of other types are of no use to a call.
func (p *reply) take(e event) error {
	switch e.Type {
	case "message_start":
		e.Message.Usage.Out = nil // of what is still to be written
		p.count(e.Message.Usage)
	case "content_block_start":
		return p.start(e)
	case "content_block_delta":
		return p.grow(e)
	case "content_block_stop":
		return p.stop(e.Index)
	case "message_delta":
		if e.Delta.Stop != "" {
			p.finish = finishes[e.Delta.Stop]
		}
		p.count(e.Usage)
	case "error":
		return p.failed(e.Error)
	}
	return nil
}

// count takes what Anthropic says was consumed: it is cumulative, and what was read from its cache stands beside the
// input.
func (p *reply) count(u usage) {
	if u.In == nil && u.Out == nil {
		return
	}
	whole := func(n *int) int {
		if n == nil {
			return 0
		}
		return max(0, *n)
	}
	if u.In != nil {
		p.usage.Cached = whole(u.CacheRead)
		p.usage.In = whole(u.In) + whole(u.CacheWrite) + p.usage.Cached
	}
	if u.Out != nil {
		p.usage.Out, p.usage.Source = whole(u.Out), inference.UsageProvider
	}
}

func (p *reply) start(e event) error {
	if len(p.blocks) == maxBlocks {
		return p.Fault(inference.ErrFailed, errors.New("more than 64 blocks in a reply"))
	}
	var head struct {
		Type string `json:"type"`
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	if json.Unmarshal(e.Block, &head) != nil {
		return p.Fault(inference.ErrFailed, errors.New("an event that is not JSON"))
	}
	b := &block{kind: head.Type, id: head.ID, name: head.Name}
	if head.Type == "redacted_thinking" {
		b.opaque = e.Block
	}
	p.blocks[e.Index] = b
	return nil
}

// grow takes a piece of a block.
func (p *reply) grow(e event) error {
	b := p.blocks[e.Index]
	if b == nil {
		return nil
	}
	d := e.Delta
	p.characters += utf8.RuneCountInString(d.Text + d.JSON + d.Thinking)
	if counted := inference.CountTokens(p.characters); counted > p.usage.Out {
		p.usage.Out = counted // until message_delta says it
	}
	switch d.Type {
	case "text_delta":
		if d.Text != "" {
			return p.tell(inference.Delta{Text: d.Text})
		}
	case "input_json_delta":
		b.input.WriteString(d.JSON)
	case "thinking_delta":
		b.thinking.WriteString(d.Thinking)
	case "signature_delta":
		b.signature.WriteString(d.Signature)
	}
	if b.input.Len() > maxArguments || b.thinking.Len() > maxThinking || b.signature.Len() > maxThinking {
		return p.Fault(inference.ErrFailed, errors.New("a block that is too long"))
	}
	return nil
}

// stop hands on a block that is complete: a call, or thinking, which its next request brings back.
func (p *reply) stop(index int) error {
	b := p.blocks[index]
	if b == nil {
		return nil
	}
	switch b.kind {
	case "tool_use":
		arguments := b.input.String()
		if strings.TrimSpace(arguments) == "" {
			arguments = "{}"
		}
		if b.name == "" || b.id == "" || !json.Valid([]byte(arguments)) {
			return p.Fault(inference.ErrFailed, errors.New("a broken tool call"))
		}
		return p.tell(inference.Delta{ToolCall: &inference.ToolCall{ID: b.id, Name: b.name, Arguments: arguments}})
	case "thinking":
		opaque, err := json.Marshal(map[string]string{"type": "thinking", "thinking": b.thinking.String(), "signature": b.signature.String()})
		if err != nil {
			return p.Fault(inference.ErrFailed, err)
		}
		b.opaque = opaque
	}
	if b.opaque != nil {
		return p.tell(inference.Delta{Part: &inference.Part{Engine: p.Engine(), Provider: b.opaque}})
	}
	return nil
}

// failed is an error in the stream, after a good status.
func (p *reply) failed(e remote.Named) error {
	fault := inference.ErrFailed
	switch e.Type {
	case "rate_limit_error", "overloaded_error":
		fault = inference.ErrUnavailable
	case "authentication_error", "permission_error", "invalid_request_error", "billing_error", "not_found_error":
		fault = inference.ErrRefused
	}
	text := "error in the stream"
	if name := p.Name(e); name != "" {
		text += ": " + name
	}
	return p.Fault(fault, errors.New(text))
}
