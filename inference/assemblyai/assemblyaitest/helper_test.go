package assemblyaitest

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

const ms = time.Millisecond

const (
	universalPath = "/v3/ws?speech_model=universal-streaming-english&sample_rate=8000&encoding=pcm_mulaw&format_turns=true"
	proPath       = "/v3/ws?speech_model=universal-3-5-pro&sample_rate=8000&encoding=pcm_s16le"
)

// client is a raw client of one session.
type client struct {
	*loopbacktest.Client[message]
	coding loopbacktest.Coding
}

func header(key string) http.Header { return http.Header{"Authorization": {key}} }

func dial(t *testing.T, s *Server, path string) client {
	t.Helper()
	return dialWith(t, s, path, header(s.Key))
}

func dialWith(t *testing.T, s *Server, path string, h http.Header) client {
	t.Helper()
	c := client{loopbacktest.Dial[message](t, s.Server, path, h), loopbacktest.S16}
	if strings.Contains(path, "mulaw") {
		c.coding = loopbacktest.Mulaw
	}
	return c
}

// say sends loud audio, hush quiet, in messages of 100 ms.
func (c client) say(d time.Duration)  { c.audio(d, 100*ms, loopbacktest.Loud) }
func (c client) hush(d time.Duration) { c.audio(d, 100*ms, loopbacktest.Quiet) }

// message sends audio in one message.
func (c client) message(d time.Duration, level float64) { c.audio(d, d, level) }

func (c client) audio(d, each time.Duration, level float64) {
	for m := range loopbacktest.Sound(c.coding, d, each, level) {
		c.Binary(m)
	}
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
