package realtimetest

import (
	"fmt"
	"slices"
	"time"

	"parley/inference/enginetest/replytest"
)

// Types, roles and states of items.
const (
	message        = "message"
	functionCall   = "function_call"
	functionOutput = "function_call_output"

	user      = "user"
	assistant = "assistant"
	system    = "system"

	inProgress    = "in_progress"
	completedItem = "completed"
	incomplete    = "incomplete"
)

// spokenEach is the audio of the model that is one token.
const spokenEach = 50 * time.Millisecond

// Item is one item of a conversation.
type Item struct {
	ID, Type string
	Role     string        // of a message
	Text     string        // of a message that is known; the arguments of a call, or the output of a result
	Audio    time.Duration // of a message
	Name     string        // of the function that is called
	Call     string        // its id, in a call and its result
	Status   string

	content []content
	edits   int
}

// content is a part of a message.
type content struct {
	Type       string  `json:"type"`
	Text       *string `json:"text,omitempty"`
	Audio      string  `json:"audio,omitempty"`
	Transcript *string `json:"transcript,omitempty"`
}

// object is an item as the server describes it.
func (i *Item) object() map[string]any {
	m := map[string]any{"id": i.ID, "object": "realtime.item", "type": i.Type, "status": i.Status}
	switch i.Type {
	case message:
		m["role"], m["content"] = i.Role, append([]content{}, i.content...)
	case functionCall:
		m["name"], m["call_id"], m["arguments"] = i.Name, i.Call, i.Text
	case functionOutput:
		m["call_id"], m["output"] = i.Call, i.Text
	}
	return m
}

// part is what a response reads of an item, or of what stands before them.
type part struct {
	key         string // another when it was changed
	text, audio int    // tokens
}

func (i *Item) part() part {
	p := part{key: fmt.Sprintf("%s %d", i.ID, i.edits)}
	switch {
	case i.Type != message || i.Audio == 0:
		p.text = replytest.Tokens(i.Name + i.Text)
	case i.Role == user:
		p.audio = heard(i.Audio)
	default:
		p.audio = spoken(i.Audio)
	}
	return p
}

// spoken is how many tokens the model's audio is.
func spoken(d time.Duration) int { return int((d + spokenEach - 1) / spokenEach) }

// find is the place of an item, -1 when there is none.
func (t *talk) find(id string) int {
	return slices.IndexFunc(t.items, func(i *Item) bool { return i.ID == id })
}

// insert adds an item after another, root: as the first, "": as the last, and says so.
func (t *talk) insert(i *Item, after string) error {
	at := len(t.items)
	switch {
	case after == "root":
		at = 0
	case after != "":
		if at = t.find(after) + 1; at == 0 {
			return trouble{Code: "item_create_invalid_previous_item_id", Message: fmt.Sprintf("Error adding item: the previous item with id '%s' does not exist.", after), Param: "previous_item_id"}
		}
	}
	t.items = slices.Insert(t.items, at, i)
	t.previous = t.items[len(t.items)-1].ID
	t.send(map[string]any{"type": "conversation.item.added", "previous_item_id": t.before(i), "item": i.object()})
	return nil
}

// before is the id of the item before another, or null.
func (t *talk) before(i *Item) any {
	if at := slices.Index(t.items, i); at > 0 {
		return t.items[at-1].ID
	}
	return nil
}

// settle says that an item is complete.
func (t *talk) settle(i *Item) {
	t.send(map[string]any{"type": "conversation.item.done", "previous_item_id": t.before(i), "item": i.object()})
}

// The codes and texts of edits of items that are not there.
var unknownItem = map[string][2]string{
	itemRetrieve: {"item_retrieve_invalid_item_id", "retrieving"},
	itemTruncate: {"item_truncate_invalid_item_id", "truncating"},
	itemDelete:   {"item_delete_invalid_item_id", "deleting"},
}

// edit does what an event about an item asks for.
func (t *talk) edit(kind string, data []byte) error {
	var m struct {
		Type    string `json:"type"`
		Event   string `json:"event_id"`
		Item    string `json:"item_id"`
		Content *int   `json:"content_index"`
		End     *int   `json:"audio_end_ms"`
	}
	if err := strict(data, &m); err != nil {
		return err
	}
	if kind != itemTruncate && (m.Content != nil || m.End != nil) {
		return trouble{Code: "unknown_parameter", Message: "Unknown parameter: 'content_index' or 'audio_end_ms'."}
	}
	at := t.find(m.Item)
	if at < 0 {
		text := unknownItem[kind]
		return trouble{Code: text[0], Message: fmt.Sprintf("Error %s item: the item with id '%s' does not exist.", text[1], m.Item), Param: "item_id"}
	}
	switch i := t.items[at]; kind {
	case itemRetrieve:
		t.send(map[string]any{"type": "conversation.item.retrieved", "item": i.object()})
	case itemTruncate:
		if err := i.truncate(m.Content, m.End); err != nil {
			return err
		}
		t.send(map[string]any{"type": "conversation.item.truncated", "item_id": m.Item, "content_index": *m.Content, "audio_end_ms": *m.End})
	case itemDelete:
		t.items = slices.Delete(t.items, at, at+1)
		t.previous = ""
		if len(t.items) > 0 {
			t.previous = t.items[len(t.items)-1].ID
		}
		t.send(map[string]any{"type": "conversation.item.deleted", "item_id": m.Item})
	}
	return nil
}

// truncate leaves the beginning of what the model said, and takes its text away.
func (i *Item) truncate(index, end *int) error {
	switch {
	case index == nil:
		return missing("content_index")
	case end == nil:
		return missing("audio_end_ms")
	case i.Role != assistant || i.Audio == 0:
		return trouble{Code: "unsupported_content_type", Message: "Only model output audio messages can be truncated"}
	case *index != 0:
		return wrong("content_index", "Invalid value: the item has no content %d.", *index)
	case *end < 0 || int64(*end) > i.Audio.Milliseconds():
		return wrong("audio_end_ms", "Audio content of %dms is already shorter than %dms", i.Audio.Milliseconds(), *end)
	}
	i.Audio = time.Duration(*end) * time.Millisecond
	i.Text, i.edits = "", i.edits+1
	for n := range i.content {
		i.content[n].Transcript = nil
	}
	return nil
}
