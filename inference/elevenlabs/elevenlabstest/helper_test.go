package elevenlabstest

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

const ms = time.Millisecond

const path = "/v1/text-to-speech/" + DefaultVoice + "/multi-stream-input?model_id=eleven_flash_v2_5&output_format=pcm_8000&auto_mode=true&sync_alignment=true"

// held is the path of a socket that holds texts until they are flushed.
var held = strings.Replace(path, "auto_mode=true&", "", 1)

func header(key string) http.Header { return http.Header{"Xi-Api-Key": {key}} }

// client is a raw client of one socket.
type client struct {
	*loopbacktest.Client[message]
}

func dial(t *testing.T, s *Server, path string) client {
	t.Helper()
	return client{loopbacktest.Dial[message](t, s, path, header(s.Key))}
}

// fieldsOf is a request.
type fieldsOf map[string]any

// open begins a context, say speaks in it, and end closes it.
func (c client) open(context string) {
	c.JSON(fieldsOf{"context_id": context, "text": " ", "voice_settings": fieldsOf{"stability": .5, "similarity_boost": .75}})
}

func (c client) say(context, text string) {
	c.JSON(fieldsOf{"context_id": context, "text": text, "flush": true})
}

func (c client) end(context string) { c.JSON(fieldsOf{"context_id": context, "close_context": true}) }

// times is an alignment in any spelling.
type times struct {
	Chars      []string
	Starts     []int `json:"charStartTimesMs"`
	Starts2    []int `json:"charsStartTimesMs"`
	Durations  []int `json:"charDurationsMs"`
	Durations2 []int `json:"charsDurationsMs"`
}

// message is any message of the fake.
type message struct {
	Audio, Error, Message string
	Code                  int
	Context               string `json:"contextId"`
	Context2              string `json:"context_id"`
	Final                 bool   `json:"isFinal"`
	Final2                bool   `json:"is_final"`
	Alignment             *times
	Normalized            *times `json:"normalizedAlignment"`
}

func (m message) audio() []byte {
	b, _ := base64.StdEncoding.DecodeString(m.Audio)
	return b
}

// Short says whose message it is, and whether it is the last.
func (m message) Short() string {
	switch {
	case m.Error != "":
		return "error"
	case m.Final || m.Final2:
		return "final " + m.Context + m.Context2
	}
	return "audio " + m.Context + m.Context2
}

// final reads until the isFinal of a context, and returns the messages of that context.
func (c client) final(context string) []message {
	return slices.DeleteFunc(c.Until("final "+context), func(m message) bool { return m.Context+m.Context2 != context })
}

// sum is the audio and the texts of messages.
func sum(list []message) (audio int, written, readAloud string) {
	for _, m := range list {
		audio += len(m.audio())
		if m.Alignment != nil {
			written += strings.Join(m.Alignment.Chars, "")
		}
		if m.Normalized != nil {
			readAloud += strings.Join(m.Normalized.Chars, "")
		}
	}
	return audio, written, readAloud
}
