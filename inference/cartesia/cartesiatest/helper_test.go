package cartesiatest

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

const ms = time.Millisecond

func header(key string) http.Header {
	return http.Header{"X-Api-Key": {key}, "Cartesia-Version": {"2026-03-01"}}
}

const path = "/tts/websocket"

// client is a raw client of one socket.
type client struct {
	*loopbacktest.Client[message]
}

func dial(t *testing.T, s *Server) client {
	t.Helper()
	return client{loopbacktest.Dial[message](t, s, path, header(s.Key))}
}

// fieldsOf is a request with some fields changed; nil takes one away.
type fieldsOf map[string]any

func (c client) send(context, transcript string, more bool, change fieldsOf) {
	c.Text(string(loopbacktest.Changed(fieldsOf{
		"context_id": context, "model_id": "sonic-3.5", "transcript": transcript, "continue": more, "language": "en",
		"voice":          map[string]any{"mode": "id", "id": DefaultVoice},
		"output_format":  map[string]any{"container": "raw", "encoding": "pcm_s16le", "sample_rate": 8000},
		"add_timestamps": true, "max_buffer_delay_ms": 0,
	}, change)))
}

// message is any message of the fake.
type message struct {
	Type, Data, Message string
	Context             string `json:"context_id"`
	Status              int    `json:"status_code"`
	Flush               int    `json:"flush_id"`
	Words               struct {
		Words      []string
		Start, End []float64
	} `json:"word_timestamps"`
	Phonemes struct{ Phonemes []string } `json:"phoneme_timestamps"`
}

func (m message) audio() int {
	b, _ := base64.StdEncoding.DecodeString(m.Data)
	return len(b)
}

// Short is the type of a message.
func (m message) Short() string { return m.Type }

// failed reads an error.
func failed(t *testing.T, c client, status int, message string) {
	t.Helper()
	list := c.Until("error")
	if m := list[len(list)-1]; m.Status != status || !strings.Contains(m.Message, message) {
		t.Errorf("%+v, want %d %s", m, status, message)
	}
}

// sum is the audio and the words of messages.
func sum(list []message) (audio int, words []string) {
	for _, m := range list {
		audio += m.audio()
		words = append(words, m.Words.Words...)
	}
	return audio, words
}
