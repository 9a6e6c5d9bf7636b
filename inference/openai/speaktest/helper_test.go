package speaktest

import (
	"net/http"
	"testing"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

const ms = time.Millisecond

// fieldsOf is a request, or changes of one; nil takes a field away.
type fieldsOf map[string]any

// body is a good request with changes.
func body(change fieldsOf) []byte {
	return loopbacktest.Changed(fieldsOf{"model": "gpt-4o-mini-tts", "voice": "marin", "input": "Good morning, Ana.", "response_format": "pcm", "stream_format": "sse"}, change)
}

func header(key string) http.Header {
	return http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}}
}

func post(t *testing.T, s *Server, h http.Header, body []byte) *http.Response {
	t.Helper()
	return loopbacktest.Post(t.Context(), t, s.URL+"/v1/audio/speech", h, body)
}

// data is one event.
type data struct {
	Type         string
	Audio, Delta []byte
	Usage        struct {
		In    int `json:"input_tokens"`
		Out   int `json:"output_tokens"`
		Total int `json:"total_tokens"`
	}
	Error *struct{ Code string }
}

// patient speaks its first chunk, and another one after an hour.
var patient = Delays{Chunk: func() time.Duration { return time.Hour }}
