package anthropictest

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

// errOver is why nothing more is said.
var errOver = errors.New("the stream is over")

// stream is one reply while it is sent.
type stream struct {
	server *Server
	w      http.ResponseWriter
	r      *http.Request
	fault  Fault
	max    int // tokens

	sent  int // events, without those of the fault
	bytes int
	index int // of the block
	out   int // tokens
	begun bool
	full  bool // the tokens are used up
}

// stream sends a reply event by event.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, f Fault, req *Request, a answer) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	t := &stream{server: s, w: w, r: r, fault: f, max: req.MaxTokens}
	err := t.flush()
	if err == nil {
		err = t.meet()
	}
	if err == nil {
		err = t.reply(req, &a)
	}
	if r.Context().Err() != nil {
		s.Note(func(b *Books) { b.Cancels++ })
	}
	if err == nil && a.Out > 0 {
		s.Note(func(b *Books) { b.TokensOut += a.Out - t.out })
	}
}

// reply sends all events of an answer.
func (t *stream) reply(req *Request, a *answer) error {
	err := t.send(map[string]any{"type": "message_start", "message": a.message(req.Model, []any{}, nil, 1)})
	if err == nil && a.Thinking != "" {
		err = t.block(map[string]any{"type": "thinking", "thinking": "", "signature": ""}, "thinking_delta", "thinking", pairs(a.Thinking))
		if err == nil {
			err = t.delta("signature_delta", "signature", a.signature)
		}
		if err == nil {
			err = t.stop()
		}
	}
	if err == nil && a.Text != "" && !t.full {
		err = t.block(map[string]any{"type": "text", "text": ""}, "text_delta", "text", pairs(a.Text))
		if err == nil {
			err = t.stop()
		}
	}
	for _, tool := range a.Tools {
		if err == nil && !t.full {
			err = t.block(map[string]any{"type": "tool_use", "id": tool.ID, "name": tool.Name, "input": map[string]any{}}, "input_json_delta", "partial_json", tool.pieces())
			if err == nil {
				err = t.stop()
			}
		}
	}
	if err != nil {
		return err
	}
	stop, sequence := a.Stop, any(nil)
	if t.full {
		stop = "max_tokens"
	}
	if a.Sequence != "" {
		sequence = a.Sequence
	}
	err = t.send(map[string]any{"type": "message_delta", "delta": map[string]any{"stop_reason": stop, "stop_sequence": sequence}, "usage": a.usage(cmp.Or(a.Out, t.out))})
	if err != nil {
		return err
	}
	return t.send(map[string]any{"type": "message_stop"})
}

// pairs are a text two words at a time.
func pairs(text string) (list []string) {
	all := words(text)
	for len(all) > 1 {
		list, all = append(list, all[0]+all[1]), all[2:]
	}
	return append(list, all...)
}

// block begins a block and sends its pieces, until the tokens are used up.
func (t *stream) block(start map[string]any, delta, field string, pieces []string) error {
	if !t.begun && !t.wait(t.server.script.Delays.FirstToken) {
		return errOver
	}
	if err := t.send(map[string]any{"type": "content_block_start", "index": t.index, "content_block": start}); err != nil {
		return err
	}
	if !t.begun {
		if err := t.send(map[string]any{"type": "ping"}); err != nil {
			return err
		}
	}
	for _, piece := range pieces {
		tokens := max(1, len(words(piece)))
		for range tokens {
			if t.begun && !t.wait(t.server.script.Delays.Token) {
				return errOver
			}
			t.begun = true
		}
		if t.full = t.out+tokens > t.max; t.full {
			return nil
		}
		t.out += tokens
		if err := t.delta(delta, field, piece); err != nil {
			return err
		}
		t.server.Note(func(b *Books) { b.TokensOut += tokens })
	}
	return nil
}

func (t *stream) delta(kind, field, piece string) error {
	return t.send(map[string]any{"type": "content_block_delta", "index": t.index, "delta": map[string]any{"type": kind, field: piece}})
}

// stop ends a block.
func (t *stream) stop() error {
	t.index++
	return t.send(map[string]any{"type": "content_block_stop", "index": t.index - 1})
}

func (t *stream) wait(delay func() time.Duration) bool {
	return t.server.Wait(t.r.Context(), loopbacktest.Draw(delay))
}

// send sends one event, and does what the fault wants after it.
func (t *stream) send(message map[string]any) error {
	data, err := json.Marshal(message)
	if err == nil {
		err = t.write(event(data, message["type"]))
	}
	if err != nil {
		return err
	}
	t.sent++
	return t.meet()
}

// meet does what the fault wants after the events so far.
func (t *stream) meet() error {
	if t.fault.Then == loopbacktest.Nothing || t.fault.AfterBytes > 0 || t.sent != t.fault.AfterMessages {
		return nil
	}
	switch m := t.fault.Then.Message(shapes, t.fault.Reason).(type) {
	case []byte:
		if err := t.write(event(m, "content_block_delta")); err != nil {
			return err
		}
	case map[string]any:
		data, err := json.Marshal(m)
		if err == nil {
			err = t.write(event(data, m["type"]))
		}
		if err != nil {
			return err
		}
	}
	switch t.fault.Then {
	case loopbacktest.Cut:
		loopbacktest.CutRequest(t.r)
		return errOver
	case loopbacktest.Stall:
		select {
		case <-t.r.Context().Done():
		case <-t.server.Done():
		}
		return errOver
	case loopbacktest.Close, loopbacktest.Fail:
		return errOver
	}
	return nil
}

// write sends bytes, as far as the fault lets them through.
func (t *stream) write(data []byte) error {
	if n := t.fault.AfterBytes; n > 0 && t.bytes+len(data) >= n {
		_, _ = t.w.Write(data[:n-t.bytes])
		_ = t.flush()
		loopbacktest.CutRequest(t.r)
		return errOver
	}
	t.bytes += len(data)
	if _, err := t.w.Write(data); err != nil {
		return err
	}
	if t.r.Context().Err() != nil {
		return errOver
	}
	return t.flush()
}

func (t *stream) flush() error { return http.NewResponseController(t.w).Flush() }
