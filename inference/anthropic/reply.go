package anthropic

import (
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

// reply reads one streamed message.
type reply struct {
	*remote.Reply
	blocks map[int]*block
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

// take handles one event. Those of other types are of no use to a call.
func (p *reply) take(data []byte) error {
	var e event
	if err := p.Decode(data, &e); err != nil {
		return err
	}
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
			p.Finish = finishes[e.Delta.Stop]
		}
		p.count(e.Usage)
	case "message_stop":
		return io.EOF
	case "error":
		return p.Refused(e.Error)
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
		p.Usage.Cached = whole(u.CacheRead)
		p.Usage.In = whole(u.In) + whole(u.CacheWrite) + p.Usage.Cached
	}
	if u.Out != nil {
		p.Usage.Out, p.Usage.Source = whole(u.Out), inference.UsageProvider
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
	if err := p.Decode(e.Block, &head); err != nil {
		return err
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
	p.Count(utf8.RuneCountInString(d.Text + d.JSON + d.Thinking)) // until message_delta says it
	switch d.Type {
	case "text_delta":
		if d.Text != "" {
			return p.Tell(inference.Delta{Text: d.Text})
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
		return p.Call(inference.ToolCall{ID: b.id, Name: b.name, Arguments: b.input.String()}, nil)
	case "thinking":
		opaque, err := json.Marshal(map[string]string{"type": "thinking", "thinking": b.thinking.String(), "signature": b.signature.String()})
		if err != nil {
			return p.Fault(inference.ErrFailed, err)
		}
		b.opaque = opaque
	}
	if b.opaque != nil {
		return p.Tell(inference.Delta{Part: p.Part(b.opaque)})
	}
	return nil
}
