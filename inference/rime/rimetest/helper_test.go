package rimetest

import (
	"encoding/base64"
	"net/http"
	"testing"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

const ms = time.Millisecond

const path = "/ws3?speaker=" + DefaultVoice + "&modelId=coda&audioFormat=pcm&samplingRate=8000&lang=eng&segment=never"

func header(key string) http.Header { return http.Header{"Authorization": {"Bearer " + key}} }

// client is a raw client of one socket.
type client struct {
	*loopbacktest.Client[message]
}

func dial(t *testing.T, s *Server, path string) client {
	t.Helper()
	return client{loopbacktest.Dial[message](t, s, path, header(s.Key))}
}

func (c client) say(context, text string) {
	c.JSON(map[string]string{"text": text, "contextId": context})
}

func (c client) operate(name string) { c.JSON(map[string]string{"operation": name}) }

// message is any message of the fake.
type message struct {
	Type, Data, Message string
	Context             *string `json:"contextId"`
	Times               struct {
		Words      []string
		Start, End []float64
	} `json:"word_timestamps"`
}

func (m message) Short() string { return m.Type }

// sum is the audio of messages in ms, at 16 bits and 8 kHz, and their words.
func sum(list []message) (audio int, words []string) {
	for _, m := range list {
		b, _ := base64.StdEncoding.DecodeString(m.Data)
		audio += len(b)
		words = append(words, m.Times.Words...)
	}
	return audio / 16, words
}

// patient speaks its first chunk, and another one after an hour.
var patient = Delays{Chunk: func() time.Duration { return time.Hour }}
