package realtimetest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"parley/inference/enginetest/loopbacktest"
	"parley/inference/enginetest/replytest"
)

// How responses end that do not complete; an item is incomplete, too.
const (
	cancelled  = "cancelled"
	unanswered = "failed"
)

// tokenLimit is how many tokens a client may use, as rate_limits.updated says.
const tokenLimit = 40_000

// response is one response while it is in progress. Its fields belong to the lock of its session.
type response struct {
	*Response
	manner   manner
	metadata map[string]string
	message  *Item   // that is being said; nil: none
	output   []*Item // so far
	ctx      context.Context
	stop     context.CancelFunc
}

// answer does what response.create asks for.
func (t *talk) answer(data []byte) error {
	var m struct {
		Type     string `json:"type"`
		Event    string `json:"event_id"`
		Response struct {
			mannerUpdate
			Audio struct {
				Output outputUpdate `json:"output"`
			} `json:"audio"`
			Conversation string            `json:"conversation"`
			Metadata     map[string]string `json:"metadata"`
		} `json:"response"`
	}
	if err := strict(data, &m); err != nil {
		return err
	}
	switch r := m.Response; {
	case r.Conversation != "" && r.Conversation != "auto":
		return wrong("response.conversation", "The fake has no responses outside of the conversation.")
	case r.Audio.Output.Speed != nil:
		return trouble{Code: "unknown_parameter", Message: "Unknown parameter: 'response.audio.output.speed'.", Param: "response.audio.output.speed"}
	}
	set, err := t.manner.apply(m.Response.mannerUpdate, m.Response.Audio.Output, t.spoke)
	if err != nil {
		return err
	}
	return t.respond(set, m.Response.Metadata)
}

// respond begins a response.
func (t *talk) respond(m manner, metadata map[string]string) error {
	if t.running != nil {
		return trouble{Code: "conversation_already_has_active_response", Harmless: t.settings.detection != nil && *t.settings.detection.Create,
			Message: fmt.Sprintf("Conversation already has an active response in progress: %s. Wait until the response is finished before creating a new one.", t.running.ID)}
	}
	r := &response{manner: m, metadata: metadata}
	r.Response = t.of.record(Response{ID: t.server.id("resp_"), Instructions: m.instructions, Tools: m.toolNames(), Voice: m.voice, Usage: t.reads(m)})
	r.ctx, r.stop = context.WithCancel(t.wire.Context())
	t.running = r
	t.send(map[string]any{"type": "response.created", "response": t.describe(r)})
	t.send(map[string]any{"type": "rate_limits.updated", "rate_limits": []map[string]any{
		{"name": "tokens", "limit": tokenLimit, "remaining": max(0, tokenLimit-t.spent), "reset_seconds": 60}}})
	steps := t.steps(r, t.of.reply(&t.replies))
	t.server.Go(func() {
		defer r.stop()
		replytest.Run(r.ctx, t.server.Server, &t.mu, steps)
		t.mu.Lock()
		defer t.mu.Unlock()
		t.of.note(func() { r.Status = cmp.Or(r.Status, "cut") })
	})
	return nil
}

// reads is what a response reads, and which of it was read before.
func (t *talk) reads(m manner) (u Usage) {
	tools, _ := json.Marshal(m.tools)
	list := []part{{key: m.instructions, text: replytest.Tokens(m.instructions)}, {key: string(tools), text: replytest.Tokens(string(tools))}}
	for _, i := range t.items {
		list = append(list, i.part())
	}
	same := true
	for n, p := range list {
		u.TextIn, u.AudioIn = u.TextIn+p.text, u.AudioIn+p.audio
		if same = same && n < len(t.read) && t.read[n] == p; same {
			u.TextCached, u.AudioCached = u.TextCached+p.text, u.AudioCached+p.audio
		}
	}
	t.read = list
	return u
}

// describe is a response as the server describes it.
func (t *talk) describe(r *response) map[string]any {
	output := []map[string]any{}
	for _, i := range r.output {
		output = append(output, i.object())
	}
	m := map[string]any{"id": r.ID, "object": "realtime.response", "status": cmp.Or(r.Status, inProgress), "status_details": nil, "output": output,
		"conversation_id": t.conversation, "output_modalities": r.manner.modalities, "max_output_tokens": r.manner.limit(), "metadata": r.metadata, "usage": nil,
		"audio": map[string]any{"output": map[string]any{"format": r.manner.format, "voice": r.manner.voice}}}
	switch r.Status {
	case "":
		return m
	case cancelled, incomplete:
		m["status_details"] = map[string]any{"type": r.Status, "reason": r.Reason}
	case unanswered:
		m["status_details"] = map[string]any{"type": unanswered, "error": map[string]any{"type": kindOf(r.Reason), "code": r.Reason}}
	}
	m["usage"] = r.Usage.object()
	return m
}

// steps are how a reply is given.
func (t *talk) steps(r *response, reply Reply) (list []replytest.Step) {
	add := func(do func()) {
		after := t.of.pace.Piece
		if len(list) == 0 {
			after = t.of.pace.First
		}
		list = append(list, replytest.Step{After: after, Do: do})
	}
	for _, p := range reply.Pieces(codings[r.manner.format.Type], rates[r.manner.format.Type], r.manner.speed) {
		add(func() { t.say(r, p) })
	}
	for _, c := range reply.Calls {
		add(func() { t.call(r, c) })
	}
	return append(list, replytest.Step{Do: func() {
		switch reply.End {
		case "":
			t.finish(r, completedItem, "")
		case "content_filter":
			t.finish(r, incomplete, reply.End)
		default:
			t.finish(r, unanswered, reply.End)
		}
	}})
}

// say sends a piece of a message.
func (t *talk) say(r *response, p replytest.Piece) {
	if r.message == nil {
		t.open(r)
	}
	i := r.message
	i.Text += p.Text
	kind := "response.output_text.delta"
	if r.manner.speaks() {
		kind = "response.output_audio_transcript.delta"
	}
	if p.Text != "" {
		t.tell(r, kind, map[string]any{"delta": p.Text})
	}
	if r.manner.speaks() {
		t.tell(r, "response.output_audio.delta", map[string]any{"delta": p.Audio})
		i.Audio += p.Length
		t.spoke = true
	}
	t.of.note(func() {
		r.Text, r.Audio = i.Text, i.Audio
		r.Usage.TextOut, r.Usage.AudioOut = replytest.Tokens(i.Text), spoken(i.Audio)
	})
	if most := r.manner.most; most > 0 && r.Usage.TextOut+r.Usage.AudioOut >= most {
		t.finish(r, incomplete, "max_output_tokens")
	}
}

// finish ends a response. Its usage is in the books before the client can read it.
func (t *talk) finish(r *response, status, reason string) {
	r.stop()
	t.running = nil
	state := completedItem
	if status != completedItem {
		state = incomplete
	}
	t.close(r, state)
	t.of.note(func() {
		r.Status, r.Reason = status, reason
		if status == unanswered {
			r.Usage = Usage{} // failures are free
		}
	})
	u := r.Usage
	t.spent += u.TextIn + u.AudioIn + u.TextOut + u.AudioOut
	t.events.Add(loopbacktest.Outgoing{Message: map[string]any{"type": "response.done", "event_id": t.server.id("event_"), "response": t.describe(r)},
		Before: func() { t.server.Note(u.note) }})
}

// cancel does what response.cancel asks for. It can come too late.
func (t *talk) cancel(data []byte) error {
	var m struct {
		Type  string `json:"type"`
		Event string `json:"event_id"`
		ID    string `json:"response_id"`
	}
	if err := strict(data, &m); err != nil {
		return err
	}
	if t.running == nil || m.ID != "" && m.ID != t.running.ID {
		return trouble{Code: "response_cancel_not_active", Message: "Cancellation failed: no active response found", Harmless: true}
	}
	t.server.Note(func(b *Books) { b.Cancels++ })
	t.finish(t.running, cancelled, "client_cancelled")
	return nil
}
