package realtimetest

import (
	"fmt"
	"strings"
	"testing"

	"parley/inference/enginetest/loopbacktest"
)

func TestFunctionsAreAnswered(t *testing.T) {
	script := call()
	script.Expects = []string{"Tool call ID 'call_none' not found", "second result"}
	s := NewConversation(t, script)
	c := talking(t, s, "null", booking)
	c.Text(ask)
	list := c.Until("response.done")
	id := ""
	for _, m := range list {
		if m.Type == "response.function_call_arguments.done" && m.Arguments == `{"day":"fri"}` {
			id = m.Call
		}
	}
	result := `{"type":"conversation.item.create","item":{"type":"function_call_output","call_id":%q,"output":"booked"}}`
	c.Text(fmt.Sprintf(result, id))
	c.Text(ask)
	c.Until("response.done completed")
	items := s.Items()
	if i := items[len(items)-2]; len(items) != 4 || i.Type != functionOutput || i.Call != id || i.Text != "booked" {
		t.Errorf("%+v", items)
	}
	c.Text(ask)
	list = c.Until("response.done completed")
	if u := list[len(list)-1].Response.Usage; u.Details.Cached == 0 || u.Details.Cached >= u.In {
		t.Errorf("%+v", u)
	}
	c.Text(fmt.Sprintf(result, "call_none"))
	c.Until("error invalid_tool_call_id")
	c.Text(fmt.Sprintf(result, id))
	c.Until("item.done")
}

func TestHistoryIsWritten(t *testing.T) {
	s := NewConversation(t, ConversationScript{})
	c := talking(t, s, "null", "")
	for _, item := range []string{
		`"item":{"id":"one","type":"message","role":"user","content":[{"type":"input_text","text":"Hello."}]}`,
		`"item":{"id":"two","type":"message","role":"assistant","content":[{"type":"output_text","text":"Hello there."}]}`,
		`"previous_item_id":"root","item":{"id":"zero","type":"message","role":"system","content":[{"type":"input_text","text":"Be kind."}]}`,
		`"previous_item_id":"one","item":{"id":"call","type":"function_call","call_id":"c1","name":"look","arguments":"{}"}`,
		`"item":{"id":"result","type":"function_call_output","call_id":"c1","output":"{}"}`,
	} {
		c.Text(`{"type":"conversation.item.create",` + item + `}`)
		c.Until("item.done")
	}
	c.Text(`{"type":"conversation.item.delete","item_id":"result"}`)
	c.Until("item.deleted")
	c.Text(`{"type":"conversation.item.retrieve","item_id":"one"}`)
	if m := c.Until("item.retrieved")[0]; m.Object.ID != "one" || m.Object.Role != user {
		t.Errorf("%+v", m.Object)
	}
	var got []string
	for _, i := range s.Items() {
		got = append(got, i.ID+" "+i.Role+" "+i.Text)
	}
	loopbacktest.Same(t, got, "zero system Be kind.", "one user Hello.", "call  {}", "two assistant Hello there.")
	c.Say(120 * ms)
	c.commit()
	if m := c.Until("committed")[0]; m.Previous != "two" {
		t.Errorf("after %q", m.Previous)
	}
}

func TestItemsAreRefused(t *testing.T) {
	create := func(item string) string {
		return `{"type":"conversation.item.create","item":{` + item + `}}`
	}
	truncate := func(id string, more string) string {
		return fmt.Sprintf(`{"type":"conversation.item.truncate","item_id":%q%s}`, id, more)
	}
	tests := []struct{ event, code, says string }{
		{truncate("SAID", `,"content_index":0,"audio_end_ms":301`), "invalid_value", "Audio content of 300ms is already shorter than 301ms"},
		{truncate("SAID", `,"content_index":1,"audio_end_ms":10`), "invalid_value", "no content 1"},
		{truncate("SAID", `,"content_index":0`), "missing_required_parameter", "audio_end_ms"},
		{truncate("SAID", `,"audio_end_ms":10`), "missing_required_parameter", "content_index"},
		{truncate("none", `,"content_index":0,"audio_end_ms":10`), "item_truncate_invalid_item_id", "truncating item: the item with id 'none'"},
		{truncate("HEARD", `,"content_index":0,"audio_end_ms":10`), "unsupported_content_type", "Only model output audio"},
		{`{"type":"conversation.item.delete","item_id":"none"}`, "item_delete_invalid_item_id", "deleting item"},
		{`{"type":"conversation.item.retrieve","item_id":"none"}`, "item_retrieve_invalid_item_id", "retrieving item"},
		{`{"type":"conversation.item.delete","item_id":"none","content_index":0}`, "unknown_parameter", "content_index"},
		{`{"type":"output_audio_buffer.clear"}`, "invalid_value", "Invalid value: 'output_audio_buffer.clear'"},
		{create(`"type":"message","role":"user","content":[{"type":"text","text":"x"}]`), "invalid_value", "'input_text', 'input_audio'"},
		{create(`"type":"message","role":"assistant","content":[{"type":"output_audio","transcript":"x"}]`), "missing_required_parameter", "item.content[0].text"},
		{create(`"type":"message","role":"developer","content":[]`), "invalid_value", "'developer'"},
		{create(`"type":"message","role":"user","content":[]`), "missing_required_parameter", "item.content"},
		{create(`"type":"message","role":"user","content":[{"type":"input_audio","audio":"µ"}]`), "invalid_value", "base64"},
		{create(`"type":"reasoning"`), "invalid_value", "'reasoning'"},
		{create(`"id":"` + strings.Repeat("x", 33) + `","type":"function_call"`), "invalid_value", "maximum length 32"},
		{create(`"id":"SAID","type":"function_call"`), "item_create_duplicate_item_id", "already exists"},
		{create(`"type":"function_call","name":"f","call_id":"c","arguments":"{"`), "invalid_value", "no JSON"},
		{create(`"type":"function_call_output","call_id":"c"`), "missing_required_parameter", "item.output"},
		{`{"type":"conversation.item.create","previous_item_id":"none","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}}`, "item_create_invalid_previous_item_id", "previous item"},
	}
	script := dinner
	for _, tt := range tests {
		script.Expects = append(script.Expects, tt.says)
	}
	s := NewConversation(t, script)
	c := talking(t, s, "null", "")
	c.Text(ask)
	list := c.Until("response.done")
	said := list[len(list)-1].Response.Output[0].ID
	c.Say(120 * ms)
	c.commit()
	heard := c.Until("item.done")[0].Item
	for _, tt := range tests {
		c.Text(strings.NewReplacer("SAID", said, "HEARD", heard).Replace(tt.event))
		if m := c.Until("error")[0]; m.Error.Code != tt.code || !strings.Contains(m.Error.Message, tt.says) {
			t.Errorf("%s: %+v", tt.event, m.Error)
		}
	}
	c.Text(ask) // the session goes on
	c.Until("response.done completed")
}
