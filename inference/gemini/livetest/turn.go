package livetest

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"parley/inference/enginetest/loopbacktest"
	"parley/inference/enginetest/replytest"
	"parley/inference/gemini/geminitest"
)

// The model's audio.
const (
	outRate = 24000
	outMime = "audio/pcm;rate=24000"
)

// How turns end.
const (
	complete    = "complete"
	interrupted = "interrupted"
	called      = "call"
	cut         = "cut"
)

// turn is one turn of the model while it is in progress. Its fields belong to the lock of its session.
type turn struct {
	*Turn
	at      int               // its content's place in the history; below 0: it has none
	calls   []geminitest.Call // that are not answered
	isQuiet bool              // all results so far want no answer
	isPaid  bool              // its usage was sent
	ctx     context.Context
	stop    context.CancelFunc
}

// answer begins the next turn, or has it follow the one in progress.
func (s *session) answer() {
	if s.turn != nil {
		s.owing = true
		return
	}
	t := &turn{Turn: &Turn{Usage: s.reads()}, at: -1}
	number := &s.memory.replies
	if s.server.script.Continue {
		number = &s.server.replies
	}
	var reply Reply
	s.server.note(func() {
		reply = replytest.Nth(s.server.script.Replies, *number)
		*number++
		s.memory.spoke = true
		s.server.turns = append(s.server.turns, t.Turn)
	})
	t.ctx, t.stop = context.WithCancel(s.wire.Context())
	s.turn = t
	steps := s.steps(t, reply)
	s.server.Go(func() {
		defer t.stop()
		replytest.Run(t.ctx, s.server.Server, &s.mu, steps)
	})
}

// steps are how a reply is given.
func (s *session) steps(t *turn, reply Reply) (list []replytest.Step) {
	pace := s.server.script.Pace
	after := pace.First
	add := func(do func()) {
		list = append(list, replytest.Step{After: after, Do: do})
		after = pace.Piece
	}
	for _, p := range reply.Pieces(loopbacktest.S16, outRate, 1) {
		add(func() { s.say(t, p) })
	}
	if len(reply.Calls) > 0 {
		add(func() { s.call(t, reply.Calls) })
		return list
	}
	if len(list) == 0 {
		add(func() {})
	}
	return append(list,
		replytest.Step{Do: func() { s.content(map[string]any{"generationComplete": true}) }},
		replytest.Step{After: s.server.script.Delays.Playback, Do: func() { s.finish(t, complete, reply.End) }})
}

// say sends a piece.
func (s *session) say(t *turn, p replytest.Piece) {
	part := map[string]any{"text": p.Text}
	length := time.Duration(0)
	if s.setup.speaks() {
		length = p.Length
		part = map[string]any{"inlineData": map[string]any{"mimeType": outMime, "data": p.Audio}}
	}
	if s.setup.speaks() || p.Text != "" {
		s.content(map[string]any{"modelTurn": map[string]any{"parts": []any{part}}})
	}
	if s.setup.speaks() && s.setup.Out != nil && p.Text != "" {
		s.content(map[string]any{"outputTranscription": map[string]any{"text": p.Text}})
	}
	if t.at < 0 {
		t.at = len(s.memory.contents)
		s.remember(Content{Role: "model"})
	}
	s.server.note(func() {
		t.Text, t.Audio = t.Text+p.Text, t.Audio+length
		c := &s.memory.contents[t.at]
		c.Text, c.Audio = t.Text, t.Audio
		t.Usage.TextOut, t.Usage.AudioOut = c.tokens()
	})
}

// call calls functions, and waits for their results.
func (s *session) call(t *turn, calls []Call) {
	text := ""
	for _, c := range calls {
		t.calls = append(t.calls, geminitest.Call{ID: s.server.Numbered("call_"), Name: c.Name, Args: json.RawMessage(c.Arguments)})
		text += c.Name + c.Arguments
	}
	t.isQuiet = true
	s.server.note(func() { t.Usage.TextOut += replytest.Tokens(text) })
	s.remember(Content{Role: "model", Text: text})
	s.send(map[string]any{"toolCall": map[string]any{"functionCalls": slices.Clone(t.calls)}})
	s.pay(t, map[string]any{})
	if s.setup.Resumption != nil {
		s.send(map[string]any{"sessionResumptionUpdate": map[string]any{}}) // not resumable
	}
}

// pay sends the usage of a turn with a message, unless it was sent. It is in the books before the client can read it.
func (s *session) pay(t *turn, message map[string]any) {
	o := loopbacktest.Outgoing{Message: message}
	if !t.isPaid {
		u := t.Usage
		t.isPaid, message["usageMetadata"] = true, u.object()
		o.Before = func() { s.server.Note(u.note) }
	}
	s.out.Add(o)
}

// finish ends a turn, and begins the one that is owed.
func (s *session) finish(t *turn, end, reason string) {
	t.stop()
	s.server.note(func() { t.End, t.Reason = end, reason })
	s.turn = nil
	if end != called {
		done := map[string]any{"turnComplete": true}
		if reason != "" {
			done["turnCompleteReason"] = reason
		}
		s.pay(t, map[string]any{"serverContent": done})
		s.offer()
	}
	if s.owing {
		s.owing = false
		s.answer()
	}
}

// interrupt ends the turn in progress. What was said stands.
func (s *session) interrupt() {
	t := s.turn
	s.owing = false
	var ids []string
	for _, c := range t.calls {
		ids = append(ids, c.ID)
		s.cancelled[c.ID] = true
	}
	if len(ids) > 0 {
		s.send(map[string]any{"toolCallCancellation": map[string]any{"ids": ids}})
	}
	s.server.Note(func(b *Books) { b.Cancels++ })
	s.content(map[string]any{"interrupted": true})
	s.finish(t, interrupted, "")
}

// results takes those of functions. One that comes after its call was cancelled is not heard.
func (s *session) results(list []result) error {
	if len(list) == 0 {
		return invalid("Request contains an invalid argument: there are no function responses.")
	}
	for _, r := range list {
		if err := r.check(); err != nil {
			return err
		}
		if s.cancelled[r.ID] {
			continue
		}
		at := -1
		if s.turn != nil {
			at = slices.IndexFunc(s.turn.calls, func(c geminitest.Call) bool { return c.ID == r.ID })
		}
		if at < 0 {
			return invalid("Request contains an invalid argument: no call %.40s waits for a response.", r.ID)
		}
		t := s.turn
		if name := t.calls[at].Name; r.Name != "" && r.Name != name {
			return invalid("Request contains an invalid argument: the call %s is of %s.", r.ID, name)
		}
		t.calls = slices.Delete(t.calls, at, at+1)
		t.isQuiet = t.isQuiet && r.Scheduling == silent
		s.remember(Content{Role: "function", Text: string(r.Response.Response)})
		if len(t.calls) == 0 {
			s.owing = s.owing || !t.isQuiet
			s.finish(t, called, "")
		}
	}
	return nil
}
