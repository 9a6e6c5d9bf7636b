package responsestest

import (
	"encoding/json"
	"net/http"
	"testing"

	"parley/inference/enginetest/loopbacktest"
)

// fieldsOf is a request, or changes of one; nil takes a field away.
type fieldsOf map[string]any

const (
	plain    = "gpt-4.1-mini"
	thinking = "gpt-5-mini"
)

func text(role, content string) fieldsOf { return fieldsOf{"role": role, "content": content} }

func call(id string) fieldsOf {
	return fieldsOf{"type": "function_call", "call_id": id, "name": "look", "arguments": `{"day":"fri"}`}
}

func result(id string) fieldsOf {
	return fieldsOf{"type": "function_call_output", "call_id": id, "output": "free"}
}

// input is a change of a request.
func input(list ...any) fieldsOf { return fieldsOf{"input": list} }

var look = fieldsOf{"type": "function", "name": "look", "description": "Looks.", "parameters": fieldsOf{"type": "object", "properties": fieldsOf{"day": fieldsOf{"type": "string"}}}}

// reasoning is a change of a request that asks for reasoning which can come back.
func reasoning(change fieldsOf) fieldsOf {
	all := fieldsOf{"model": thinking, "include": []string{sealedReasoning}, "tools": []any{look}}
	for name, v := range change {
		all[name] = v
	}
	return all
}

// body is a good request with changes.
func body(change fieldsOf) []byte {
	return loopbacktest.Changed(fieldsOf{"model": plain, "stream": true, "store": false, "input": []any{text("user", "Is Friday free?")}}, change)
}

func headers(key string) http.Header {
	return http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}}
}

func post(t *testing.T, s *Server, h http.Header, change fieldsOf) *http.Response {
	t.Helper()
	return loopbacktest.Post(t.Context(), t, s.URL+"/v1/responses", h, body(change))
}

// item is one of the output. Of the input it has what reasoning needs to come back.
type item struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	Status    string `json:"status,omitempty"`
	CallID    string `json:"call_id,omitempty"`
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments,omitempty"`
	Encrypted string `json:"encrypted_content,omitempty"`
	Summary   []part `json:"summary"`
	Content   []part `json:"content,omitempty"`
}

type part struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// data is one event.
type data struct {
	Type, Delta string
	Number      int    `json:"sequence_number"`
	Code        string // of an error
	Arguments   string
	Item        item
	Response    struct {
		Status     string
		Output     []item
		Error      struct{ Code string }
		Incomplete struct{ Reason string } `json:"incomplete_details"`
		Usage      struct {
			In      int `json:"input_tokens"`
			Out     int `json:"output_tokens"`
			Total   int `json:"total_tokens"`
			Details struct {
				Read  int `json:"cached_tokens"`
				Write int `json:"cache_write_tokens"`
			} `json:"input_tokens_details"`
			By struct {
				Reasoning int `json:"reasoning_tokens"`
			} `json:"output_tokens_details"`
		}
	}
}

// short says in a few words what an event says.
func (d data) short() string {
	short := d.Type
	for _, s := range []string{d.Delta, d.Arguments, d.Item.Type, d.Response.Status} {
		if s != "" {
			short += " " + s
		}
	}
	return short
}

// problem is what a request was answered with instead.
type problem struct{ Type, Code, Message, Param string }

func failed(t *testing.T, resp *http.Response) problem {
	t.Helper()
	var answer struct{ Error problem }
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || resp.Header.Get("x-request-id") == "" {
		t.Error(err, resp.Header)
	}
	return answer.Error
}

// streamed posts a good request and reads its stream.
func streamed(t *testing.T, s *Server, change fieldsOf) []data {
	t.Helper()
	return loopbacktest.Streamed[data](t, post(t, s, headers(s.Key), change), true)
}

// said is the text of a stream.
func said(list []data) (text string) {
	for _, d := range list {
		if d.Type == "response.output_text.delta" {
			text += d.Delta
		}
	}
	return text
}

// last is the end of a stream.
func last(list []data) data { return list[len(list)-1] }

// ended are the items of a stream as they were in the end.
func ended(list []data) (items []item) {
	for _, d := range list {
		if d.Type == "response.output_item.done" {
			items = append(items, d.Item)
		}
	}
	return items
}
