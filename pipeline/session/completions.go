package session

import (
	"context"
	"errors"
	"hash/maphash"
	"iter"
	"strings"
	"time"

	"parley/inference"
	"parley/pipeline/tool"
	"parley/store/history"
)

// Bounds of the completions that are stored of a call; none follows one that does not fit.
const (
	maxCompletions     = 1000
	maxCompletionBytes = 1 << 20  // about, of all texts
	maxAnswerBytes     = 32 << 10 // of one answer
)

// asked is what the model was asked last: each request is stored as what it has beyond the one before.
// Of what is long only hashes are kept.
type asked struct {
	seed     maphash.Seed
	count    int // completions
	bytes    int // of them
	system   uint64
	tools    uint64
	messages []uint64
}

// noted has a completion of an engine stored, the request before the model is asked and the answer when it is over.
func (s *Session) noted(ctx context.Context, r inference.Request, engine string, answer iter.Seq2[inference.Delta, error]) iter.Seq2[inference.Delta, error] {
	return func(yield func(inference.Delta, error) bool) {
		begun := time.Now()
		c := s.completionBegun(&r, begun)
		if c == nil {
			answer(yield)
			return
		}
		a := &history.CompletionAnswer{Engine: engine, Outcome: history.CompletionCut}
		var text strings.Builder
		defer func() { // also when the engine panics
			a.Text, a.TookMS = text.String(), time.Since(begun).Milliseconds()
			s.completionEnded(c, a)
		}()
		for d, err := range answer {
			if a.FirstMS == nil && (d.Text != "" || d.ToolCall != nil) {
				first := time.Since(begun).Milliseconds()
				a.FirstMS = &first
			}
			if d.Engine != "" {
				a.Engine = d.Engine
			}
			if d.ToolCall != nil {
				a.Calls = append(a.Calls, callOf(d.ToolCall))
			}
			if d.Finish != "" {
				a.Finish = string(d.Finish)
			}
			if text.Len()+len(d.Text) <= maxAnswerBytes {
				text.WriteString(d.Text)
			}
			if err != nil && ctx.Err() == nil {
				a.Outcome, a.Failure = history.CompletionFailed, failureOf(err)
			}
			if !yield(d, err) {
				return
			}
		}
		if a.Outcome == history.CompletionCut && ctx.Err() == nil {
			a.Outcome = history.CompletionDone
		}
	}
}

// failureOf is why a model failed, in a word: what its vendor said of it may hold anything.
func failureOf(err error) string {
	if e, ok := errors.AsType[*inference.Error](err); ok {
		return e.Fault.String()
	}
	return "failed"
}

func callOf(c *inference.ToolCall) history.CompletionCall {
	return history.CompletionCall{ID: c.ID, Name: tool.Clip(c.Name, maxArguments), Arguments: tool.Clip(c.Arguments, maxArguments)}
}

// completionBegun has a request stored. nil: there were too many, or it is not stored.
func (s *Session) completionBegun(r *inference.Request, at time.Time) (c *history.Completion) {
	s.note(func() {
		asked := &s.history.asked
		if asked.count == maxCompletions || asked.bytes > maxCompletionBytes {
			return
		}
		c = &history.Completion{No: asked.count, Request: asked.beyond(r)}
		c.Request.AtMS = s.clock.ran(at).Milliseconds()
		if !s.record(history.Happened{Completion: c}) {
			c = nil
			return
		}
		asked.count++
	})
	return c
}

func (s *Session) completionEnded(c *history.Completion, a *history.CompletionAnswer) {
	s.note(func() {
		s.history.asked.bytes += len(a.Text)
		s.record(history.Happened{Completion: &history.Completion{No: c.No, Request: c.Request, Answer: a}})
	})
}

// beyond is what a request has that the one before had not.
func (a *asked) beyond(r *inference.Request) (q history.CompletionRequest) {
	if prompt := r.Prompt(); a.changes(&a.system, prompt) {
		q.System = &prompt
		a.bytes += len(prompt)
	}
	var tools strings.Builder
	for _, t := range r.Tools {
		tools.WriteString(t.Name + "\x00" + t.Description + "\x00" + string(t.Parameters) + "\x00")
	}
	if a.changes(&a.tools, tools.String()) {
		q.Tools = []history.CompletionTool{} // and not null: none
		for _, t := range r.Tools {
			q.Tools = append(q.Tools, history.CompletionTool{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
		}
		a.bytes += tools.Len()
	}
	now := make([]uint64, len(r.Messages))
	same := true
	for i := range r.Messages {
		m := &r.Messages[i]
		now[i] = a.hash(m)
		if same = same && i < len(a.messages) && a.messages[i] == now[i]; same {
			q.Same++
			continue
		}
		out := history.CompletionMessage{Role: string(m.Role), Text: m.Text, Interrupted: m.Interrupted, CallID: m.ToolCallID}
		for j := range m.ToolCalls {
			out.Calls = append(out.Calls, callOf(&m.ToolCalls[j]))
		}
		q.Messages = append(q.Messages, out)
		a.bytes += len(m.Text)
	}
	a.messages = now
	return q
}

// changes notes the hash of a text, and says whether it is another than before. The first is.
func (a *asked) changes(was *uint64, text string) bool {
	h := maphash.String(a.seed, text)
	changed := *was != h || a.count == 0
	*was = h
	return changed
}

func (a *asked) hash(m *inference.Message) uint64 {
	var h maphash.Hash
	h.SetSeed(a.seed)
	for _, part := range []string{string(m.Role), m.Text, m.ToolCallID} {
		h.WriteString(part)
		h.WriteByte(0)
	}
	if m.Interrupted {
		h.WriteByte(1)
	}
	for _, c := range m.ToolCalls {
		h.WriteString(c.ID + "\x00" + c.Name + "\x00" + c.Arguments + "\x00")
	}
	return h.Sum64()
}
