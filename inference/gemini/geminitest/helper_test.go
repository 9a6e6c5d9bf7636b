package geminitest

import (
	"encoding/json"
	"net/http"
	"testing"

	"parley/inference/enginetest/loopbacktest"
)

// fieldsOf is a request, or changes of one; nil takes a field away.
type fieldsOf map[string]any

const (
	three = "gemini-3-flash-preview"
	two   = "gemini-2.5-flash"
)

// Parts, and the contents that have them.
func said(text string) fieldsOf { return fieldsOf{"text": text} }

func call(id string) fieldsOf {
	return fieldsOf{"functionCall": fieldsOf{"id": id, "name": "look", "args": fieldsOf{"day": "fri"}}}
}

func signed(signature string, part fieldsOf) fieldsOf {
	part["thoughtSignature"] = signature
	return part
}

func result(id string) fieldsOf {
	return fieldsOf{"functionResponse": fieldsOf{"id": id, "name": "look", "response": fieldsOf{"result": "free"}}}
}

func user(parts ...fieldsOf) fieldsOf { return fieldsOf{"role": "user", "parts": parts} }

func model(parts ...fieldsOf) fieldsOf { return fieldsOf{"role": "model", "parts": parts} }

// contents is a change of a request.
func contents(list ...fieldsOf) fieldsOf { return fieldsOf{"contents": list} }

var look = fieldsOf{"functionDeclarations": []any{fieldsOf{"name": "look", "description": "Looks.",
	"parametersJsonSchema": fieldsOf{"type": "object", "properties": fieldsOf{"day": fieldsOf{"type": "string"}}}}}}

// body is a good request with changes.
func body(change fieldsOf) []byte {
	return loopbacktest.Changed(fieldsOf{"contents": []any{user(said("Is Friday free?"))}}, change)
}

func headers(key string) http.Header {
	return http.Header{"X-Goog-Api-Key": {key}, "Content-Type": {"application/json"}}
}

func post(t *testing.T, s *Server, model string, change fieldsOf) *http.Response {
	t.Helper()
	return loopbacktest.Post(t.Context(), t, s.URL+"/v1beta/models/"+model+":streamGenerateContent?alt=sse", headers(s.Key), body(change))
}

// data is one event.
type data struct {
	Candidates []struct {
		Content struct {
			Role  string
			Parts []Part
		}
		Finish string `json:"finishReason"`
	}
	Feedback struct {
		Block string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage struct {
		In       int `json:"promptTokenCount"`
		Cached   int `json:"cachedContentTokenCount"`
		Out      int `json:"candidatesTokenCount"`
		Thoughts int `json:"thoughtsTokenCount"`
		Total    int `json:"totalTokenCount"`
	} `json:"usageMetadata"`
	Error problem
}

// problem is an error in Google's shape.
type problem struct {
	Code            int
	Status, Message string
	Details         []struct {
		Type   string `json:"@type"`
		Reason string
		Delay  string `json:"retryDelay"`
	}
}

// failed is the error that a request was answered with.
func failed(t *testing.T, resp *http.Response) problem {
	t.Helper()
	var d data
	if err := json.NewDecoder(resp.Body).Decode(&d); err != nil || d.Error.Code != resp.StatusCode {
		t.Errorf("%d, %+v, %v", resp.StatusCode, d.Error, err)
	}
	return d.Error
}

// streamed posts a good request and reads its stream.
func streamed(t *testing.T, s *Server, model string, change fieldsOf) []data {
	t.Helper()
	return loopbacktest.Streamed[data](t, post(t, s, model, change), false)
}

// heard is what a stream says.
type heard struct {
	text, thought, finish string
	calls                 []Part
	signature             string // of a text
}

func joined(list []data) (h heard) {
	for _, d := range list {
		for _, c := range d.Candidates {
			h.finish += c.Finish
			for _, p := range c.Content.Parts {
				switch {
				case p.Call != nil:
					h.calls = append(h.calls, p)
				case p.Thought:
					h.thought += *p.Text
				default:
					h.text, h.signature = h.text+*p.Text, h.signature+p.Signature
				}
			}
		}
	}
	return h
}
