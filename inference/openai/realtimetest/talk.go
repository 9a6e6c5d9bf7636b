package realtimetest

import (
	"encoding/json"
	"sync"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

// Types of the events of conversations.
const (
	itemCreate     = "conversation.item.create"
	itemRetrieve   = "conversation.item.retrieve"
	itemTruncate   = "conversation.item.truncate"
	itemDelete     = "conversation.item.delete"
	responseCreate = "response.create"
	responseCancel = "response.cancel"
)

// talk is one session of a conversation.
type talk struct {
	of           *Conversation
	wire         *loopbacktest.Socket
	model        string
	id           string
	conversation string
	begun        time.Time

	mu      sync.Mutex
	*input  // under the lock, too
	manner  manner
	items   []*Item
	running *response // nil: there is none
	replies int       // that were given
	read    []part    // by the last response
	spent   int       // tokens
	spoke   bool      // audio was sent
}

func newTalk(c *Conversation, s *server, k *loopbacktest.Socket, model string) *talk {
	t := &talk{of: c, wire: k, model: model, id: s.id("sess_"), conversation: s.id("conv_"), begun: time.Now(), manner: newManner()}
	t.input = newInput(s, k, initial(true), t)
	return t
}

// object is the session as the server describes it.
func (t *talk) object() map[string]any {
	m := t.manner
	return map[string]any{
		"type": "realtime", "object": "realtime.session", "id": t.id, "model": t.model, "expires_at": t.begun.Add(time.Hour).Unix(), "include": t.settings.include,
		"instructions": m.instructions, "output_modalities": m.modalities, "tools": m.tools, "tool_choice": m.choice, "max_output_tokens": m.limit(),
		"truncation": m.truncation, "tracing": m.tracing, "prompt": nil,
		"audio": map[string]any{"input": t.settings.object(), "output": map[string]any{"format": m.format, "voice": m.voice, "speed": m.speed}},
	}
}

// obey does what an event asks for.
func (t *talk) obey(kind string, data []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch kind {
	case sessionUpdate:
		return t.update(data)
	case bufferAppend, bufferCommit, bufferClear:
		return t.buffer(kind, data)
	case itemCreate:
		return t.create(data)
	case itemRetrieve, itemTruncate, itemDelete:
		return t.edit(kind, data)
	case responseCreate:
		return t.answer(data)
	case responseCancel:
		return t.cancel(data)
	}
	return unsupported(kind, sessionUpdate, bufferAppend, bufferCommit, bufferClear, itemCreate, itemRetrieve, itemTruncate, itemDelete, responseCreate, responseCancel)
}

// update changes how the session hears and answers.
func (t *talk) update(data []byte) error {
	var u struct {
		Type    string `json:"type"`
		Event   string `json:"event_id"`
		Session struct {
			Type  string `json:"type"`
			Model string `json:"model"`
			mannerUpdate
			Audio struct {
				Input  inputUpdate  `json:"input"`
				Output outputUpdate `json:"output"`
			} `json:"audio"`
			Include    []string        `json:"include"`
			Truncation json.RawMessage `json:"truncation"`
			Tracing    json.RawMessage `json:"tracing"`
		} `json:"session"`
	}
	if err := strict(data, &u); err != nil {
		return err
	}
	t.server.Note(func(b *Books) { b.Body = data })
	switch {
	case u.Session.Type != "realtime":
		return wrongType(u.Session.Type, "realtime")
	case u.Session.Model != "" && u.Session.Model != t.model:
		return invalid("model", "The model of a session cannot change.")
	}
	set, err := t.settings.apply(u.Session.Audio.Input, u.Session.Include, true)
	if err != nil {
		return err
	}
	m, err := t.manner.apply(u.Session.mannerUpdate, u.Session.Audio.Output, t.spoke)
	if err == nil {
		err = m.keep(u.Session.Truncation, u.Session.Tracing)
	}
	if err == nil {
		err = t.change(set)
	}
	if err != nil {
		return err
	}
	t.manner = m
	t.send(map[string]any{"type": "session.updated", "session": t.object()})
	return nil
}

// began implements owner: the caller interrupts.
func (t *talk) began() {
	if *t.settings.detection.Interrupt && t.running != nil {
		t.finish(t.running, cancelled, "turn_detected")
	}
}

// committed implements owner: the caller's turn is an item.
func (t *talk) committed(id string, audio time.Duration) {
	_ = t.insert(&Item{ID: id, Type: message, Role: user, Status: completedItem, Audio: audio, content: []content{{Type: "input_audio"}}}, "")
	t.settle(t.items[len(t.items)-1])
}

// ended implements owner: the caller's turn is answered, unless a response is in progress.
func (t *talk) ended() {
	if *t.settings.detection.Create && t.running == nil {
		_ = t.respond(t.manner, nil)
	}
}

// transcribed implements owner. Transcripts are paid for apart, and are in no response's usage.
func (t *talk) transcribed(int, int) {}
