package inworldtest

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"testing"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

const ms = time.Millisecond

const path = "/tts/v1/voice:streamBidirectional"

func header(key string) http.Header { return http.Header{"Authorization": {"Basic " + key}} }

// client is a raw client of one socket.
type client struct {
	*loopbacktest.Client[message]
}

func dial(t *testing.T, s *Server) client {
	t.Helper()
	return client{loopbacktest.Dial[message](t, s, path, header(s.Key))}
}

// fieldsOf is a request, or a part of one.
type fieldsOf map[string]any

// create begins a context with changes of what it needs.
func (c client) create(context string, change fieldsOf) {
	m := fieldsOf{"voiceId": DefaultVoice, "modelId": "inworld-tts-1-max", "timestampType": "WORD", "audioConfig": audio("PCM", 8000)}
	maps.Copy(m, change)
	c.JSON(fieldsOf{"create": m, "contextId": context})
}

func audio(encoding string, rate int) fieldsOf {
	return fieldsOf{"audioEncoding": encoding, "sampleRateHertz": rate}
}

func (c client) say(context, text string) {
	c.JSON(fieldsOf{"send_text": fieldsOf{"text": text}, "contextId": context})
}

func (c client) flush(context string) {
	c.JSON(fieldsOf{"flush_context": fieldsOf{}, "contextId": context})
}
func (c client) end(context string) {
	c.JSON(fieldsOf{"close_context": fieldsOf{}, "contextId": context})
}

// message is any message of the fake.
type message struct {
	Result struct {
		Context string `json:"contextId"`
		Status  struct {
			Code    int
			Message string
		}
		Created *create `json:"contextCreated"`
		Chunk   *struct {
			Audio string `json:"audioContent"`
			Info  struct {
				Words struct {
					Words []string
					Start []float64 `json:"wordStartTimeSeconds"`
					End   []float64 `json:"wordEndTimeSeconds"`
				} `json:"wordAlignment"`
			} `json:"timestampInfo"`
		} `json:"audioChunk"`
		Flushed *struct{} `json:"flushCompleted"`
		Closed  *struct{} `json:"contextClosed"`
	}
	Error *struct {
		Code    int
		Message string
	}
}

// Short names what a message says and its context.
func (m message) Short() string {
	r := m.Result
	switch {
	case m.Error != nil:
		return fmt.Sprint("error ", m.Error.Code)
	case r.Status.Code != 0:
		return fmt.Sprint("status ", r.Status.Code, " ", r.Context)
	case r.Created != nil:
		return "created " + r.Context
	case r.Chunk != nil:
		return "chunk " + r.Context
	case r.Flushed != nil:
		return "flushed " + r.Context
	case r.Closed != nil:
		return "closed " + r.Context
	}
	return ""
}

func (m message) audio() []byte {
	if m.Result.Chunk == nil {
		return nil
	}
	b, _ := base64.StdEncoding.DecodeString(m.Result.Chunk.Audio)
	return b
}

// sum is the audio of messages in ms, at 16 bits and 8 kHz, and their words.
func sum(list []message) (length int, words []string) {
	for _, m := range list {
		length += len(m.audio())
		if m.Result.Chunk != nil {
			words = append(words, m.Result.Chunk.Info.Words.Words...)
		}
	}
	return length / 16, words
}

// patient speaks its first chunk, and another one after an hour.
var patient = Delays{Chunk: func() time.Duration { return time.Hour }}
