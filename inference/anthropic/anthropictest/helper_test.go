package anthropictest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"
)

const ms = time.Millisecond

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
	m := fieldsOf{"model": "claude-haiku-4-5", "max_tokens": 300, "stream": true, "messages": []any{text("user", "Is Friday free?")}}
	maps.Copy(m, change)
	for name, v := range m {
		if v == nil {
			delete(m, name)
		}
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return b
}

func headers(key string) http.Header {
	return http.Header{"X-Api-Key": {key}, "Anthropic-Version": {Version}, "Content-Type": {"application/json"}}
}

func post(t *testing.T, s *Server, h http.Header, body []byte) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.URL+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = h
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// data is one event; name is what its line event: says.
type data struct {
	name string
	raw  []byte
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

// events reads a stream to its end.
func events(body io.Reader) (list []data, err error) {
	scan := bufio.NewScanner(body)
	scan.Buffer(nil, 4<<20)
	var d data
	for scan.Scan() {
		line := scan.Text()
		if name, ok := strings.CutPrefix(line, "event: "); ok {
			d.name = name
		} else if raw, ok := strings.CutPrefix(line, "data: "); ok {
			d.raw = []byte(raw)
			if json.Unmarshal(d.raw, &d) != nil {
				d.Type = "invalid"
			}
		} else if line == "" {
			list, d = append(list, d), data{}
		}
	}
	return list, scan.Err()
}

// streamed posts a good request and reads its stream.
func streamed(t *testing.T, s *Server, change fieldsOf) []data {
	t.Helper()
	resp := post(t, s, headers(s.Key), body(change))
	if resp.StatusCode != 200 {
		b, _ := io.ReadAll(resp.Body)
		t.Fatalf("%d %s", resp.StatusCode, b)
	}
	list, err := events(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// joined is what a stream says: its text, the input of its calls, what was thought, the signature.
func joined(list []data) (text, input, thought, signature string) {
	for _, d := range list {
		text, input, thought, signature = text+d.Delta.Text, input+d.Delta.JSON, thought+d.Delta.Thinking, signature+d.Delta.Signature
	}
	return text, input, thought, signature
}
