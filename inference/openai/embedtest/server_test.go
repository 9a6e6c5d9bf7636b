package embedtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"parley/inference/enginetest/loopbacktest"
)

// fieldsOf is a request, or changes of one; nil takes a field away.
type fieldsOf map[string]any

func body(change fieldsOf) []byte {
	return loopbacktest.Changed(fieldsOf{"model": "text-embedding-3-small", "input": []string{"Good morning, Ana.", "ana: MORNING good"}}, change)
}

func header(key string) http.Header {
	return http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}}
}

func post(t *testing.T, s *Server, h http.Header, body []byte) *http.Response {
	t.Helper()
	return loopbacktest.Post(t.Context(), t, s.URL+"/v1/embeddings", h, body)
}

func TestRequestsAreRefused(t *testing.T) {
	for _, tt := range []struct {
		change fieldsOf
		param  string
		says   string
	}{
		{fieldsOf{"model": nil}, "model", "required"},
		{fieldsOf{"input": []string{}}, "input", "0 texts"},
		{fieldsOf{"input": slices.Repeat([]string{"a"}, 2049)}, "input", "2049 texts"},
		{fieldsOf{"input": []string{"a", ""}}, "input", "empty string"},
		{fieldsOf{"input": []string{strings.Repeat("ñ", 4*8192+1)}}, "input", "8193 were requested"},
		{fieldsOf{"input": slices.Repeat([]string{strings.Repeat("a", 4*8000)}, 38)}, "input", "304000 tokens"},
		{fieldsOf{"encoding_format": "base64"}, "encoding_format", "base64"},
		{fieldsOf{"dimensions": 1537}, "dimensions", "not supported"},
		{fieldsOf{"model": "text-embedding-ada-002", "dimensions": 512}, "dimensions", "not supported by text-embedding-ada-002"},
		{fieldsOf{"stream": true}, "body", "unknown field"},
	} {
		s := New(t, Script{Expects: []string{tt.says}})
		resp := post(t, s, header(s.Key), body(tt.change))
		var answer struct {
			Error struct{ Message, Type, Param, Code string }
		}
		if json.NewDecoder(resp.Body).Decode(&answer) != nil || resp.StatusCode != 400 || answer.Error.Type != "invalid_request_error" || answer.Error.Code == "" ||
			answer.Error.Param != tt.param || !strings.Contains(answer.Error.Message, tt.says) || s.Books().Requests != 0 {
			t.Errorf("%.80v: %d, %+v", tt.change, resp.StatusCode, answer)
		}
	}
}

func TestRequestsFail(t *testing.T) {
	s := New(t, Script{Expects: []string{"Authorization", "does not exist", "Content-Type"}, Faults: []Fault{{Connections: 1, Status: 429, Reason: "insufficient_quota"}}})
	refused := func(want int, code string, h http.Header, body []byte) {
		t.Helper()
		resp := post(t, s, h, body)
		var answer struct{ Error struct{ Code string } }
		if json.NewDecoder(resp.Body).Decode(&answer) != nil || resp.StatusCode != want || answer.Error.Code != code || resp.Header.Get("x-request-id") == "" {
			t.Errorf("%d %+v, want %d %s", resp.StatusCode, answer, want, code)
		}
	}
	refused(429, "insufficient_quota", header(s.Key), body(nil))
	refused(401, "invalid_api_key", header("wrong"), body(nil))
	refused(401, "invalid_api_key", nil, body(nil))
	refused(400, "unsupported_content_type", http.Header{"Authorization": {"Bearer " + s.Key}}, body(nil))
	refused(404, "model_not_found", header(s.Key), body(fieldsOf{"model": "whisper-1"}))
	if resp := loopbacktest.Post(t.Context(), t, s.URL+"/v1/embedding", header(s.Key), body(nil)); resp.StatusCode != 404 {
		t.Error(resp.StatusCode)
	}
}

// TestVectors: the same words have the same vector, of the length that the model has or the request wants.
func TestVectors(t *testing.T) {
	for _, tt := range []struct {
		change fieldsOf
		size   int
	}{{nil, 1536}, {fieldsOf{"model": "text-embedding-3-large", "encoding_format": "float"}, 3072}, {fieldsOf{"dimensions": 8}, 8}} {
		s := New(t, Script{Same: map[string]string{"morning": "evening"}})
		resp := post(t, s, header(s.Key), body(tt.change))
		var answer struct {
			Data []struct {
				Index     int
				Embedding []float64
			}
			Usage struct {
				Prompt int `json:"prompt_tokens"`
			}
		}
		if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || len(answer.Data) != 2 {
			t.Fatalf("%v, %+v", err, answer)
		}
		a, b := answer.Data[0], answer.Data[1]
		if len(a.Embedding) != tt.size || !slices.Equal(a.Embedding, b.Embedding) || a.Index != 0 || b.Index != 1 || answer.Usage.Prompt != 10 {
			t.Errorf("%v: %d and %d numbers, %+v", tt.change, len(a.Embedding), len(b.Embedding), answer.Usage)
		}
		if books := s.Books(); books.Requests != 1 || books.TokensIn != 10 {
			t.Errorf("%+v", books)
		}
	}
}
