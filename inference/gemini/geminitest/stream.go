package geminitest

import (
	"cmp"
	"encoding/base64"
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
	signature string // of the first call, or else of the text; "": nothing is signed
}

// complete fills in what the script left out, and remembers what must come back unchanged.
func (s *Server) complete(req *Request, r Reply) answer {
	a := answer{Reply: r, id: s.Numbered("resp-")}
	a.In = cmp.Or(r.In, (req.Bytes+3)/4)
	s.Note(func(b *Books) { b.TokensIn, b.CacheRead = b.TokensIn+a.In, b.CacheRead+a.CacheRead })
	a.Tools = slices.Clone(r.Tools)
	for i, t := range a.Tools {
		a.Tools[i].Input = cmp.Or(t.Input, "{}")
		if t.ID == "" && req.signs() {
			a.Tools[i].ID = s.Numbered("call-")
		}
	}
	if a.Thinking == "" && !req.signs() {
		return a
	}
	a.signature = base64.StdEncoding.EncodeToString([]byte(s.Numbered("thoughts ")))
	signed := ""
	if len(a.Tools) > 0 {
		t := a.Tools[0]
		signed = (&Call{t.ID, t.Name, json.RawMessage(t.Input)}).canonical()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.signed[a.signature] = signed
	return a
}

// stream is one reply while it is sent.
type stream struct {
	loopbacktest.Tokens
	req *Request
	*answer
}

// stream sends a reply event by event.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, f Fault, req *Request, reply Reply) {
	a := s.complete(req, reply)
	s.Stream(w, r, f, shapes, event, func(k *loopbacktest.Stream) error {
		t := &stream{Tokens: loopbacktest.Tokens{Stream: k, Delays: s.Script.Delays}, req: req, answer: &a}
		if req.Generation.MaxTokens != nil {
			t.Max = *req.Generation.MaxTokens
		}
		err := t.reply()
		if err == nil && a.Block == "" {
			t.Finish(a.Out)
		}
		return err
	})
}

// event is one event of a stream.
func event(data []byte, _ string) []byte { return fmt.Appendf(nil, "data: %s\r\n\r\n", data) }

// reply sends all events of an answer.
func (t *stream) reply() error {
	if t.Block != "" {
		return t.send(0, map[string]any{"promptFeedback": map[string]any{"blockReason": t.Block}})
	}
	err := t.Think(loopbacktest.Pairs(t.Thinking), func(piece string) error {
		if think := t.req.Generation.Thinking; think == nil || !think.Included {
			return nil
		}
		return t.part(map[string]any{"text": piece, "thought": true})
	})
	if err == nil && !t.Full {
		err = t.Say(loopbacktest.Pairs(t.Text), func(piece string) error { return t.part(map[string]any{"text": piece}) })
	}
	for i, tool := range t.Tools {
		if err == nil && !t.Full {
			err = t.Say([]string{tool.Input}, func(string) error { return t.call(&tool, i == 0) })
		}
	}
	if err != nil {
		return err
	}
	return t.end()
}

// call sends a call in one part. Of several the first one is signed.
func (t *stream) call(tool *ToolUse, first bool) error {
	call := map[string]any{"name": tool.Name, "args": json.RawMessage(tool.Input)}
	if tool.ID != "" {
		call["id"] = tool.ID
	}
	part := map[string]any{"functionCall": call}
	if first && t.signature != "" {
		part["thoughtSignature"] = t.signature
	}
	return t.part(part)
}

// end sends why the model stopped. Without calls the signature comes now, beside an empty text.
func (t *stream) end() error {
	reason := cmp.Or(t.Stop, "STOP")
	if t.Full {
		reason = "MAX_TOKENS"
	}
	candidate := map[string]any{"index": 0, "finishReason": reason}
	switch reason {
	case "STOP", "MAX_TOKENS":
		part := map[string]any{"text": ""}
		if len(t.Tools) == 0 && t.signature != "" && !t.Full {
			part["thoughtSignature"] = t.signature
		}
		candidate["content"] = content(part)
	case "SAFETY":
		candidate["safetyRatings"] = []any{map[string]any{"category": "HARM_CATEGORY_DANGEROUS_CONTENT", "probability": "HIGH", "blocked": true}}
	case "MALFORMED_FUNCTION_CALL":
		candidate["content"], candidate["finishMessage"] = map[string]any{}, "Malformed function call"
	}
	return t.send(cmp.Or(t.answer.Out, t.Tokens.Out), map[string]any{"candidates": []any{candidate}})
}

func content(part map[string]any) map[string]any {
	return map[string]any{"role": "model", "parts": []any{part}}
}

func (t *stream) part(part map[string]any) error {
	return t.send(t.Tokens.Out, map[string]any{"candidates": []any{map[string]any{"index": 0, "content": content(part)}}})
}

// send adds to a response what each has: what was used so far, of it so many tokens said and thought.
func (t *stream) send(out int, response map[string]any) error {
	in := t.In + t.CacheRead
	usage := map[string]any{"promptTokenCount": in, "totalTokenCount": in + out, "promptTokensDetails": []any{map[string]any{"modality": "TEXT", "tokenCount": in}}}
	for name, n := range map[string]int{"candidatesTokenCount": out - t.Thought, "thoughtsTokenCount": t.Thought, "cachedContentTokenCount": t.CacheRead} {
		if n > 0 { // zeros are left out in protocol buffers
			usage[name] = n
		}
	}
	response["usageMetadata"], response["modelVersion"], response["responseId"] = usage, t.req.Model, t.id
	return t.Send(response)
}
