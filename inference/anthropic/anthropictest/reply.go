package anthropictest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"parley/inference/enginetest/loopbacktest"
)

// answer is a reply with all that the script left out.
type answer struct {
	Reply
	id        string
	signature string // "" without thinking
	hour      bool   // what is cached is kept for an hour
}

// complete fills in what the script left out, and remembers what must come back unchanged.
func (s *Server) complete(req *Request, r Reply) answer {
	a := answer{Reply: r, id: s.Numbered("msg_")}
	a.Tools = slices.Clone(r.Tools)
	a.In = cmp.Or(r.In, (req.Bytes+3)/4)
	s.Note(func(b *Books) {
		b.TokensIn, b.CacheRead, b.CacheWrite = b.TokensIn+a.In, b.CacheRead+a.CacheRead, b.CacheWrite+a.CacheWrite
	})
	if a.Thinking != "" {
		a.signature = s.Numbered("EqQBCgIYAhIM+/")
	}
	for i, t := range a.Tools {
		a.Tools[i].ID = cmp.Or(t.ID, s.Numbered("toolu_"))
		a.Tools[i].Input = cmp.Or(t.Input, "{}")
	}
	if a.Stop == "" {
		a.Stop = "end_turn"
		if len(a.Tools) > 0 {
			a.Stop = "tool_use"
		}
	}
	for _, m := range req.marks() {
		a.hour = a.hour || m.TTL == "1h"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.signature != "" {
		s.thoughts[a.signature] = a.Thinking
		for _, t := range a.Tools {
			s.signed[t.ID] = a.signature
		}
	}
	return a
}

// usage is what the reply cost when so many tokens were said.
func (a *answer) usage(out int) map[string]any {
	five, hour := a.CacheWrite, 0
	if a.hour {
		five, hour = 0, a.CacheWrite
	}
	return map[string]any{
		"input_tokens": a.In, "cache_read_input_tokens": a.CacheRead, "cache_creation_input_tokens": a.CacheWrite,
		"cache_creation": map[string]any{"ephemeral_5m_input_tokens": five, "ephemeral_1h_input_tokens": hour}, "output_tokens": out,
	}
}

// message is the reply as one object, content and end without what is still to come.
func (a *answer) message(model string, content []any, stop any, out int) map[string]any {
	var sequence any
	if stop != nil && a.Sequence != "" {
		sequence = a.Sequence
	}
	return map[string]any{"id": a.id, "type": "message", "role": "assistant", "model": model, "content": content,
		"stop_reason": stop, "stop_sequence": sequence, "usage": a.usage(out)}
}

// whole answers a request that is not streamed.
func (s *Server) whole(w http.ResponseWriter, req *Request, a answer) {
	content := []any{}
	if a.Thinking != "" {
		content = append(content, map[string]any{"type": "thinking", "thinking": a.Thinking, "signature": a.signature})
	}
	if a.Text != "" {
		content = append(content, map[string]any{"type": "text", "text": a.Text})
	}
	for _, t := range a.Tools {
		content = append(content, map[string]any{"type": "tool_use", "id": t.ID, "name": t.Name, "input": json.RawMessage(t.Input)})
	}
	out := cmp.Or(a.Out, len(loopbacktest.Words(a.Thinking))+len(loopbacktest.Words(a.Text))+5*len(a.Tools))
	s.Note(func(b *Books) { b.TokensOut += out })
	loopbacktest.Answer(w, http.StatusOK, a.message(req.Model, content, a.Stop, out))
}

// pieces are those of a call's input, behind an empty one as the vendor sends it.
func pieces(t ToolUse) []string {
	if t.Pieces == nil && t.Input == "{}" {
		return []string{""}
	}
	return append([]string{""}, t.Split()...)
}

// event is one event of a stream.
func event(data []byte, kind string) []byte {
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", cmp.Or(kind, "content_block_delta"), data)
}
