package anthropictest

import (
	"cmp"
	"net/http"

	"parley/inference/enginetest/loopbacktest"
)

// stream is one reply while it is sent.
type stream struct {
	loopbacktest.Tokens
	index int // of the block
}

// stream sends a reply event by event.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, f Fault, req *Request, a answer) {
	s.Stream(w, r, f, shapes, event, func(k *loopbacktest.Stream) error {
		t := &stream{Tokens: loopbacktest.Tokens{Stream: k, Delays: s.Script.Delays, Max: req.MaxTokens}}
		err := t.reply(req, &a)
		if err == nil {
			t.Finish(a.Out)
		}
		return err
	})
}

// reply sends all events of an answer.
func (t *stream) reply(req *Request, a *answer) error {
	err := t.Send(map[string]any{"type": "message_start", "message": a.message(req.Model, []any{}, nil, 1)})
	if err == nil && a.Thinking != "" {
		err = t.block(map[string]any{"type": "thinking", "thinking": "", "signature": ""}, "thinking_delta", "thinking", loopbacktest.Pairs(a.Thinking))
		if err == nil {
			err = t.delta("signature_delta", "signature", a.signature)
		}
		if err == nil {
			err = t.stop()
		}
	}
	if err == nil && a.Text != "" && !t.Full {
		err = t.block(map[string]any{"type": "text", "text": ""}, "text_delta", "text", loopbacktest.Pairs(a.Text))
		if err == nil {
			err = t.stop()
		}
	}
	for _, tool := range a.Tools {
		if err == nil && !t.Full {
			err = t.block(map[string]any{"type": "tool_use", "id": tool.ID, "name": tool.Name, "input": map[string]any{}}, "input_json_delta", "partial_json", pieces(tool))
			if err == nil {
				err = t.stop()
			}
		}
	}
	if err != nil {
		return err
	}
	stop, sequence := a.Stop, any(nil)
	if t.Full {
		stop = "max_tokens"
	}
	if a.Sequence != "" {
		sequence = a.Sequence
	}
	err = t.Send(map[string]any{"type": "message_delta", "delta": map[string]any{"stop_reason": stop, "stop_sequence": sequence}, "usage": a.usage(cmp.Or(a.Out, t.Out))})
	if err != nil {
		return err
	}
	return t.Send(map[string]any{"type": "message_stop"})
}

// block begins a block and sends its pieces, until the tokens are used up.
func (t *stream) block(start map[string]any, delta, field string, pieces []string) error {
	first, err := t.Begin()
	if err == nil {
		err = t.Send(map[string]any{"type": "content_block_start", "index": t.index, "content_block": start})
	}
	if err == nil && first {
		err = t.Send(map[string]any{"type": "ping"})
	}
	if err != nil {
		return err
	}
	return t.Say(pieces, func(piece string) error { return t.delta(delta, field, piece) })
}

func (t *stream) delta(kind, field, piece string) error {
	return t.Send(map[string]any{"type": "content_block_delta", "index": t.index, "delta": map[string]any{"type": kind, field: piece}})
}

// stop ends a block.
func (t *stream) stop() error {
	t.index++
	return t.Send(map[string]any{"type": "content_block_stop", "index": t.index - 1})
}
