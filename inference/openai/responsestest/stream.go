package responsestest

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"parley/inference/enginetest/loopbacktest"
)

// created is when all responses were created.
const created = 1767225600

// answer is a reply with all that the script left out.
type answer struct {
	Reply
	id        string
	reasoning string // the id of the reasoning; "": there is none
	sealed    string // its encrypted_content; "": nobody asked for it
	message   string // the id of the text
}

// complete fills in what the script left out, and remembers what must come back unchanged.
func (s *Server) complete(req *Request, r Reply) answer {
	a := answer{Reply: r, id: s.Numbered("resp_"), message: s.Numbered("msg_")}
	a.In = cmp.Or(r.In, (req.Bytes+3)/4)
	s.Note(func(b *Books) {
		b.TokensIn, b.CacheRead, b.CacheWrite = b.TokensIn+a.In, b.CacheRead+a.CacheRead, b.CacheWrite+a.CacheWrite
	})
	a.Tools = slices.Clone(r.Tools)
	for i, t := range a.Tools {
		a.Tools[i].ID, a.Tools[i].Input = cmp.Or(t.ID, s.Numbered("call_")), cmp.Or(t.Input, "{}")
	}
	if a.Thinking == "" {
		return a
	}
	a.reasoning = s.Numbered("rs_")
	if !slices.Contains(req.Include, sealedReasoning) {
		return a
	}
	a.sealed = s.Numbered("gAAAAAB")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sealed[a.reasoning], s.needs[a.message] = a.sealed, a.reasoning
	for _, t := range a.Tools {
		s.needs[t.ID] = a.reasoning
	}
	return a
}

// fields are those of an event or an item.
type fields = map[string]any

// stream is one reply while it is sent.
type stream struct {
	loopbacktest.Tokens
	*answer
	req *Request

	events int
	output []any // the items that are complete
}

// stream sends a reply event by event.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, f Fault, req *Request, reply Reply) {
	a := s.complete(req, reply)
	w.Header().Set("x-request-id", s.Numbered("req_"))
	limits(w.Header(), 1)
	t := &stream{answer: &a, req: req, output: []any{}}
	s.Stream(w, r, f, t.shapes(), event, func(k *loopbacktest.Stream) error {
		t.Tokens = loopbacktest.Tokens{Stream: k, Delays: s.Script.Delays}
		if req.MaxTokens != nil {
			t.Max = *req.MaxTokens
		}
		err := t.reply()
		if err == nil {
			t.Finish(a.Out)
		}
		return err
	})
}

// event is one event of a stream.
func event(data []byte, kind string) []byte {
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", cmp.Or(kind, "response.output_text.delta"), data)
}

// shapes are what faults send.
func (t *stream) shapes() loopbacktest.Shapes {
	return loopbacktest.Shapes{
		Nulls: fields{"type": "response.output_text.delta", "item_id": nil, "delta": nil, "response": nil},
		Fail: func(reason string) any {
			code := cmp.Or(reason, "server_error")
			return fields{"type": "error", "sequence_number": t.events, "code": code, "message": "An error occurred: " + code, "param": nil}
		},
	}
}

// reply sends all events of an answer.
func (t *stream) reply() error {
	for _, kind := range []string{"response.created", "response.in_progress"} {
		if err := t.send(kind, fields{"response": t.response("in_progress")}); err != nil {
			return err
		}
	}
	if t.reasoning != "" {
		if err := t.reason(); err != nil {
			return err
		}
	}
	if t.Text != "" && !t.Full {
		if err := t.write(); err != nil {
			return err
		}
	}
	for _, tool := range t.Tools {
		if t.Full {
			break
		}
		if err := t.call(&tool); err != nil {
			return err
		}
	}
	return t.end()
}

// send sends one event.
func (t *stream) send(kind string, e fields) error {
	e["type"], e["sequence_number"] = kind, t.events
	t.events++
	return t.Send(e)
}

// response is the response as it is now.
func (t *stream) response(status string) fields {
	return fields{"id": t.id, "object": "response", "created_at": created, "status": status, "model": t.req.Model, "output": t.output,
		"error": nil, "incomplete_details": nil, "previous_response_id": nil, "store": false, "usage": nil}
}

// item sends the beginning of an item and then what say says; its own events are sent by tell. It returns how
// the item ended.
func (t *stream) item(begun fields, say func(tell func(kind string, e fields) error) error) (status string, err error) {
	index, id := len(t.output), begun["id"]
	tell := func(kind string, e fields) error {
		e["item_id"], e["output_index"] = id, index
		return t.send(kind, e)
	}
	if _, err = t.Begin(); err == nil {
		err = t.send("response.output_item.added", fields{"output_index": index, "item": begun})
	}
	if err == nil {
		err = say(tell)
	}
	if t.Full {
		return "incomplete", err
	}
	return "completed", err
}

// done sends the end of an item.
func (t *stream) done(item fields) error {
	t.output = append(t.output, item)
	return t.send("response.output_item.done", fields{"output_index": len(t.output) - 1, "item": item})
}

// reason sends the reasoning. Its encrypted content is valid at its end only; that of its beginning is another.
func (t *stream) reason() error {
	item := fields{"id": t.reasoning, "type": "reasoning", "summary": []any{}}
	if t.sealed != "" {
		item["encrypted_content"] = t.sealed[:len(t.sealed)-1]
	}
	part := fields{"type": "summary_text", "text": t.Thinking}
	_, err := t.item(item, func(tell func(string, fields) error) error {
		if t.req.Reasoning.Summary == "" {
			return t.Think(loopbacktest.Pairs(t.Thinking), func(string) error { return nil })
		}
		if err := tell("response.reasoning_summary_part.added", fields{"summary_index": 0, "part": fields{"type": "summary_text", "text": ""}}); err != nil {
			return err
		}
		err := t.Think(loopbacktest.Pairs(t.Thinking), func(piece string) error {
			return tell("response.reasoning_summary_text.delta", fields{"summary_index": 0, "delta": piece})
		})
		if err == nil && !t.Full {
			err = tell("response.reasoning_summary_text.done", fields{"summary_index": 0, "text": t.Thinking})
		}
		if err == nil && !t.Full {
			err = tell("response.reasoning_summary_part.done", fields{"summary_index": 0, "part": part})
		}
		return err
	})
	if err != nil || t.Full {
		return err
	}
	item = maps.Clone(item)
	if t.sealed != "" {
		item["encrypted_content"] = t.sealed
	}
	if t.req.Reasoning.Summary != "" {
		item["summary"] = []any{part}
	}
	return t.done(item)
}

// write sends the text.
func (t *stream) write() error {
	text := ""
	part := func() fields {
		return fields{"type": "output_text", "text": text, "annotations": []any{}, "logprobs": []any{}}
	}
	item := fields{"id": t.message, "type": "message", "role": "assistant", "status": "in_progress", "content": []any{}}
	status, err := t.item(item, func(tell func(string, fields) error) error {
		err := tell("response.content_part.added", fields{"content_index": 0, "part": part()})
		if err == nil {
			err = t.Say(loopbacktest.Pairs(t.Text), func(piece string) error {
				text += piece
				return tell("response.output_text.delta", fields{"content_index": 0, "delta": piece, "logprobs": []any{}})
			})
		}
		if err == nil {
			err = tell("response.output_text.done", fields{"content_index": 0, "text": text, "logprobs": []any{}})
		}
		if err == nil {
			err = tell("response.content_part.done", fields{"content_index": 0, "part": part()})
		}
		return err
	})
	if err != nil {
		return err
	}
	item = maps.Clone(item)
	item["status"], item["content"] = status, []any{part()}
	return t.done(item)
}

// call sends a call. One that is cut off has no arguments.done, and an end that says so.
func (t *stream) call(tool *ToolUse) error {
	arguments := ""
	item := fields{"id": "fc_" + tool.ID, "type": "function_call", "status": "in_progress", "call_id": tool.ID, "name": tool.Name, "arguments": ""}
	status, err := t.item(item, func(tell func(string, fields) error) error {
		err := t.Say(tool.Split(), func(piece string) error {
			arguments += piece
			return tell("response.function_call_arguments.delta", fields{"delta": piece})
		})
		if err == nil && !t.Full {
			err = tell("response.function_call_arguments.done", fields{"name": tool.Name, "arguments": arguments})
		}
		return err
	})
	if err != nil {
		return err
	}
	item = maps.Clone(item)
	item["status"], item["arguments"] = status, arguments
	return t.done(item)
}

// end sends how the response ended, and what it cost.
func (t *stream) end() error {
	if t.Fail != "" {
		r := t.response("failed")
		r["error"] = fields{"code": t.Fail, "message": "An error occurred: " + t.Fail}
		return t.send("response.failed", fields{"response": r})
	}
	stop, status := t.Stop, "completed"
	if t.Full {
		stop = "max_output_tokens"
	}
	if stop != "" {
		status = "incomplete"
	}
	r := t.response(status)
	if stop != "" {
		r["incomplete_details"] = fields{"reason": stop}
	}
	in, out := t.In+t.CacheRead+t.CacheWrite, cmp.Or(t.answer.Out, t.Tokens.Out)
	r["usage"] = fields{
		"input_tokens": in, "input_tokens_details": fields{"cached_tokens": t.CacheRead, "cache_write_tokens": t.CacheWrite},
		"output_tokens": out, "output_tokens_details": fields{"reasoning_tokens": t.Thought}, "total_tokens": in + out,
	}
	return t.send("response."+status, fields{"response": r})
}
