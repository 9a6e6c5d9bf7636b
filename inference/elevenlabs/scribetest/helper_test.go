package scribetest

import (
	"encoding/base64"
	"net/http"
	"testing"
	"time"

	"parley/inference/enginetest/hearingtest"
	"parley/inference/enginetest/loopbacktest"
)

const ms = time.Millisecond

const path = "/v1/speech-to-text/realtime?model_id=scribe_v2_realtime&audio_format=ulaw_8000&commit_strategy=manual"

func header(key string) http.Header { return http.Header{"Xi-Api-Key": {key}} }

// client is a raw client of one session, with audio in µ-law.
type client struct{ hearingtest.Client[message] }

func dial(t *testing.T, s *Server, path string, h http.Header) client {
	t.Helper()
	return client{hearingtest.Client[message]{Client: loopbacktest.Dial[message](t, s, path, h), Coding: loopbacktest.Mulaw, Each: 40 * ms,
		Wrap: func(audio []byte) any { return chunk(audio, false) }}}
}

func (c client) commit() { c.JSON(chunk(nil, true)) }

// fieldsOf is a message of a client.
type fieldsOf map[string]any

func chunk(audio []byte, commit bool) fieldsOf {
	return fieldsOf{"message_type": "input_audio_chunk", "audio_base_64": base64.StdEncoding.EncodeToString(audio), "commit": commit, "sample_rate": 8000}
}

// message is any message of the fake.
type message struct {
	Text, Error string
	Name        string `json:"message_type"`
	Session     string `json:"session_id"`
	Language    string `json:"language_code"`
	Words       []struct {
		Text, Type string
		Start, End float64
	}
}

// shortNames are message types in a word each.
var shortNames = map[string]string{"partial_transcript": "partial", "committed_transcript": "committed", "committed_transcript_with_timestamps": "timed"}

// Short says in a few words what a message says.
func (m message) Short() string {
	if name, ok := shortNames[m.Name]; ok {
		return name + " " + m.Text
	}
	return m.Name
}
