package realtimetest

import (
	"strings"
	"testing"

	"parley/inference/enginetest/loopbacktest"
)

// TestConversationsAreConfigured: what an update changes, and what it leaves.
func TestConversationsAreConfigured(t *testing.T) {
	s := NewConversation(t, dinner)
	c := dial(t, s.server, talks, header(s.Key))
	m := c.Until("session.created")[0].Session
	if m.Type != "realtime" || m.Model != "gpt-realtime-2.1" || m.Audio.Output.Voice != "marin" || !*m.Audio.Input.Detection.Create || m.Audio.Input.Format.Rate != 24000 {
		t.Errorf("%+v", m)
	}
	c.Text(`{"type":"session.update","session":{"type":"realtime","audio":{"input":{"turn_detection":{"type":"server_vad","interrupt_response":false}}}}}`)
	if d := c.Until("session.updated")[0].Session.Audio.Input.Detection; !*d.Create || *d.Interrupt || *d.Silence != 500 {
		t.Errorf("%+v", d)
	}
	c.Text(`{"type":"session.update","session":{"type":"realtime","audio":{"output":{"voice":"cedar","speed":1.5,"format":{"type":"audio/pcma"}}},"truncation":{"type":"retention_ratio","retention_ratio":0.8}}}`)
	if m := c.Until("session.updated")[0].Session; m.Audio.Output.Voice != "cedar" || *m.Audio.Input.Detection.Interrupt {
		t.Errorf("%+v", m)
	}
	c.Text(ask)
	c.Until("response.done completed")
	if r := s.Responses()[0]; r.Audio != 200*ms || r.Voice != "cedar" {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(string(s.Books().Body), "retention_ratio") {
		t.Errorf("%s", s.Books().Body)
	}
}

func TestConfigurationsAreRefused(t *testing.T) {
	with := func(settings string) string {
		return `{"type":"session.update","event_id":"mine","session":{"type":"realtime",` + settings + `}}`
	}
	input := func(settings string) string { return with(`"audio":{"input":{` + settings + `}}`) }
	output := func(settings string) string { return with(`"audio":{"output":{` + settings + `}}`) }
	tests := []struct{ event, code, says string }{
		{`{"type":"session.update","session":{"type":"transcription"}}`, "invalid_parameter", "Passing a transcription session"},
		{`{"type":"session.update","session":{"instructions":"x"}}`, "invalid_parameter", "Passing a  session"},
		{with(`"voice":"cedar"`), "unknown_parameter", "Unknown parameter: 'voice'"},
		{with(`"modalities":["audio"]`), "unknown_parameter", "Unknown parameter: 'modalities'"},
		{with(`"model":"gpt-realtime"`), "invalid_value", "The model of a session cannot change"},
		{with(`"output_modalities":["audio","text"]`), "invalid_value", "Supported combinations are"},
		{with(`"max_output_tokens":5000`), "invalid_value", "neither 1-4096 nor 'inf'"},
		{with(`"truncation":{"type":"retention_ratio","retention_ratio":2}`), "invalid_value", "retention_ratio"},
		{with(`"tool_choice":"any"`), "invalid_value", `"any"`},
		{with(`"tool_choice":{"type":"function","name":"none"}`), "invalid_value", `"none"`},
		{with(`"tools":[{"type":"web_search"}]`), "invalid_value", "The fake has functions alone"},
		{with(`"tools":[{"type":"function","name":"a b"}]`), "invalid_value", "no name of its own"},
		{with(`"tools":[{"type":"function","name":"a","strict":true}]`), "unknown_parameter", "'strict'"},
		{with(`"tools":[{"type":"function","name":"a","parameters":{"type":"string"}}]`), "invalid_function_parameters", "Invalid schema for function 'a'"},
		{input(`"format":{"type":"audio/pcm","rate":8000}`), "invalid_value", "Invalid rate for audio/pcm: 8000"},
		{input(`"turn_detection":{"type":"server_vad","eagerness":"low"}`), "invalid_value", "a parameter of the other type"},
		{input(`"turn_detection":{"type":"semantic_vad","eagerness":"max"}`), "invalid_value", "'max'"},
		{input(`"turn_detection":{"type":"server_vad","idle_timeout_ms":100}`), "invalid_value", "5000-30000"},
		{input(`"transcription":{"model":"nova-3"}`), "invalid_model", "not supported in transcription mode"},
		{output(`"format":{"type":"audio/mpeg"}`), "invalid_value", "'audio/pcm', 'audio/pcma', 'audio/pcmu'"},
		{output(`"speed":2`), "invalid_value", "not in 0.25-1.5"},
		{output(`"voice":"nova"`), "invalid_value", "'nova'"},
		{output(`"voice":"ash"`), "cannot_update_voice", "Cannot update a conversation's voice"},
		{`{"type":"response.create","response":{"conversation":"none"}}`, "invalid_value", "outside of the conversation"},
		{`{"type":"response.create","response":{"audio":{"output":{"speed":1.1}}}}`, "unknown_parameter", "response.audio.output.speed"},
		{`{"type":"response.create","response":{"voice":"ash"}}`, "unknown_parameter", "'voice'"},
		{`{"type":"response.create","response":{"audio":{"output":{"voice":"ash"}}}}`, "cannot_update_voice", "voice if assistant audio"},
		{`{"type":"transcription_session.update"}`, "invalid_value", "'transcription_session.update'"},
	}
	script := dinner
	for _, tt := range tests {
		script.Expects = append(script.Expects, tt.says)
	}
	s := NewConversation(t, script)
	c := talking(t, s, "null", "")
	c.Text(ask)
	c.Until("response.done completed")
	for _, tt := range tests {
		c.Text(tt.event)
		m := c.Until("error")[0]
		if m.Error.Code != tt.code || !strings.Contains(m.Error.Message, tt.says) || strings.Contains(tt.event, "mine") && m.Error.Event != "mine" {
			t.Errorf("%s: %+v", tt.event, m.Error)
		}
	}
	c.Text(spoken8("null", "")) // the session goes on
	loopbacktest.Same(t, loopbacktest.Shorts(c.Until("session.updated")), "session.updated")
}

// TestGoldenConversations replays exchanges in the vendor's shapes.
func TestGoldenConversations(t *testing.T) {
	loopbacktest.TestReplays(t, NewConversation, header, golden, map[string]ConversationScript{"function": call(), "barge-in": held()})
}
