package assemblyaitest

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/inference/enginetest/hearingtest"
	"parley/inference/enginetest/loopbacktest"
)

const ms = time.Millisecond

const (
	universalPath = "/v3/ws?speech_model=universal-streaming-english&sample_rate=8000&encoding=pcm_mulaw&format_turns=true"
	proPath       = "/v3/ws?speech_model=universal-3-5-pro&sample_rate=8000&encoding=pcm_s16le"
)

// client is a raw client of one session.
type client = hearingtest.Client[message]

func header(key string) http.Header { return http.Header{"Authorization": {key}} }

func dial(t *testing.T, s *Server, path string) client {
	t.Helper()
	return dialWith(t, s, path, header(s.Key))
}

func dialWith(t *testing.T, s *Server, path string, h http.Header) client {
	t.Helper()
	c := client{Client: loopbacktest.Dial[message](t, s, path, h), Coding: loopbacktest.S16, Each: 100 * ms}
	if strings.Contains(path, "mulaw") {
		c.Coding = loopbacktest.Mulaw
	}
	return c
}

// message is any message of the fake.
type message struct {
	Type, Transcript, Utterance, Error string
	ID                                 string
	Expires                            int64 `json:"expires_at"`
	Timestamp                          int
	Order                              int     `json:"turn_order"`
	Formatted                          bool    `json:"turn_is_formatted"`
	End                                bool    `json:"end_of_turn"`
	Confidence                         float64 `json:"end_of_turn_confidence"`
	Code                               int     `json:"error_code"`
	Audio                              int     `json:"audio_duration_seconds"`
	Session                            int     `json:"session_duration_seconds"`
	Language                           string  `json:"language_code"`
	Speaker                            string  `json:"speaker_label"`
	Words                              []struct {
		Text       string
		Start, End int
		Final      bool `json:"word_is_final"`
	}
}

// Short says in a few words what a message says. Words that are not final stand in brackets.
func (m message) Short() string {
	switch {
	case m.Type != "Turn":
		return m.Type
	case m.End && m.Formatted:
		return "formatted " + m.Transcript
	case m.End:
		return "end " + m.Transcript
	}
	text := "turn " + m.Transcript
	for _, w := range m.Words {
		if !w.Final {
			text += " [" + w.Text + "]"
		}
	}
	if m.Utterance != "" {
		text += " utterance " + m.Utterance
	}
	return text
}

// refused reads an Error and the close frame that says the same.
func refused(t *testing.T, c client, code int, reason string) {
	t.Helper()
	list := c.Closed(code, reason)
	if len(list) == 0 || list[len(list)-1].Type != "Error" || list[len(list)-1].Code != code || !strings.Contains(list[len(list)-1].Error, reason) {
		t.Errorf("%+v before %d %s", list, code, reason)
	}
}
