package anthropictest

import (
	"net/http"
	"testing"

	"parley/inference/enginetest/loopbacktest"
)

// fieldsOf is a request, or changes of one; nil takes a field away.
type fieldsOf map[string]any

func text(role, content string) fieldsOf { return fieldsOf{"role": role, "content": content} }

func message(role string, blocks ...fieldsOf) fieldsOf {
	return fieldsOf{"role": role, "content": blocks}
}

func use(id string) fieldsOf {
	return fieldsOf{"type": "tool_use", "id": id, "name": "look", "input": fieldsOf{"day": "fri"}}
}

func result(id string) fieldsOf {
	return fieldsOf{"type": "tool_result", "tool_use_id": id, "content": "free"}
}

var look = fieldsOf{"name": "look", "description": "Looks.", "input_schema": fieldsOf{"type": "object", "properties": fieldsOf{"day": fieldsOf{"type": "string"}}}}

// body is a good request with changes.
func body(change fieldsOf) []byte {
	return loopbacktest.Changed(fieldsOf{"model": "claude-haiku-4-5", "max_tokens": 300, "stream": true, "messages": []any{text("user", "Is Friday free?")}}, change)
}

func headers(key string) http.Header {
	return http.Header{"X-Api-Key": {key}, "Anthropic-Version": {Version}, "Content-Type": {"application/json"}}
}

func post(t *testing.T, s *Server, h http.Header, body []byte) *http.Response {
	t.Helper()
	return loopbacktest.Post(t.Context(), t, s.URL+"/v1/messages", h, body)
}

// data is one event.
type data struct {
	Type string

	Message struct {
		Usage usage
		Model string
	}
	Index int
	Block struct{ Type, ID, Name string } `json:"content_block"`
	Delta struct {
		Type, Text, Thinking, Signature string
		JSON                            string `json:"partial_json"`
		Stop                            string `json:"stop_reason"`
	}
	Usage usage
	Error struct{ Type string }
}

type usage struct {
	In    int `json:"input_tokens"`
	Read  int `json:"cache_read_input_tokens"`
	Write int `json:"cache_creation_input_tokens"`
	Out   int `json:"output_tokens"`
	By    struct {
		Five int `json:"ephemeral_5m_input_tokens"`
		Hour int `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
}

// streamed posts a good request and reads its stream.
func streamed(t *testing.T, s *Server, change fieldsOf) []data {
	t.Helper()
	return loopbacktest.Streamed[data](t, post(t, s, headers(s.Key), body(change)), true)
}

// joined is what a stream says: its text, the input of its calls, what was thought, the signature.
func joined(list []data) (text, input, thought, signature string) {
	for _, d := range list {
		text, input, thought, signature = text+d.Delta.Text, input+d.Delta.JSON, thought+d.Delta.Thinking, signature+d.Delta.Signature
	}
	return text, input, thought, signature
}
