package realtimetest

import (
	"maps"

	"parley/inference/enginetest/replytest"
)

// tell sends an event about the message that is being said.
func (t *talk) tell(r *response, kind string, fields map[string]any) {
	event := map[string]any{"type": kind, "response_id": r.ID, "item_id": r.message.ID, "output_index": len(r.output) - 1, "content_index": 0}
	maps.Copy(event, fields)
	t.send(event)
}

// begin adds an item to a response's output.
func (t *talk) begin(r *response, i *Item) {
	i.ID, i.Status = t.server.id("item_"), inProgress
	r.output = append(r.output, i)
	t.send(map[string]any{"type": "response.output_item.added", "response_id": r.ID, "output_index": len(r.output) - 1, "item": i.object()})
	_ = t.insert(i, "")
}

// end says that the newest item of a response's output is complete.
func (t *talk) end(r *response, i *Item, status string) {
	i.Status = status
	t.settle(i)
	t.send(map[string]any{"type": "response.output_item.done", "response_id": r.ID, "output_index": len(r.output) - 1, "item": i.object()})
}

// open begins the message of a response.
func (t *talk) open(r *response) {
	i := &Item{Type: message, Role: assistant}
	t.begin(r, i)
	r.message = i
	t.of.note(func() { r.Item = i.ID })
	t.tell(r, "response.content_part.added", map[string]any{"part": r.part("")})
}

// part is the content of a response's message, as events about it write it.
func (r *response) part(text string) map[string]any {
	if r.manner.speaks() {
		return map[string]any{"type": "audio", "transcript": text}
	}
	return map[string]any{"type": "text", "text": text}
}

// close ends the message of a response, where it has one that goes on.
func (t *talk) close(r *response, status string) {
	i := r.message
	if i == nil {
		return
	}
	text := i.Text
	if r.manner.speaks() {
		i.content = []content{{Type: "output_audio", Transcript: &text}}
		t.tell(r, "response.output_audio.done", nil)
		t.tell(r, "response.output_audio_transcript.done", map[string]any{"transcript": text})
	} else {
		i.content = []content{{Type: "output_text", Text: &text}}
		t.tell(r, "response.output_text.done", map[string]any{"text": text})
	}
	t.tell(r, "response.content_part.done", map[string]any{"part": r.part(text)})
	r.message = nil
	t.end(r, i, status)
}

// call calls a function.
func (t *talk) call(r *response, c Call) {
	t.close(r, completedItem)
	i := &Item{Type: functionCall, Name: c.Name, Call: t.server.id("call_")}
	t.begin(r, i)
	about := func(kind string, fields map[string]any) {
		maps.Copy(fields, map[string]any{"type": kind, "response_id": r.ID, "item_id": i.ID, "output_index": len(r.output) - 1, "call_id": i.Call})
		t.send(fields)
	}
	half := len(c.Arguments) / 2
	about("response.function_call_arguments.delta", map[string]any{"delta": c.Arguments[:half]})
	about("response.function_call_arguments.delta", map[string]any{"delta": c.Arguments[half:]})
	i.Text = c.Arguments
	about("response.function_call_arguments.done", map[string]any{"name": i.Name, "arguments": i.Text})
	t.of.note(func() { r.Usage.TextOut += replytest.Tokens(c.Name + c.Arguments) })
	t.end(r, i, completedItem)
}
