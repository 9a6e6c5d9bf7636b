package sonioxtest

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
	path  = "/transcribe-websocket"
	start = `{"model":"stt-rt-v5","audio_format":"mulaw","sample_rate":8000,"num_channels":1,"language_hints":["en","es"]}`
)

// with adds to the configuration.
func with(more string) string { return strings.TrimSuffix(start, "}") + "," + more + "}" }

func header(key string) http.Header { return http.Header{"Authorization": {"Bearer " + key}} }

// dial connects a client with audio in µ-law, and sends the first message.
func dial(t *testing.T, s *Server, first string) hearingtest.Client[message] {
	t.Helper()
	c := hearingtest.Client[message]{Client: loopbacktest.Dial[message](t, s, path, header(s.Key)), Coding: loopbacktest.Mulaw, Each: 40 * ms}
	c.Text(first)
	return c
}

// message is any message of the fake.
type message struct {
	Tokens []struct {
		Text       string
		Start      int  `json:"start_ms"`
		End        int  `json:"end_ms"`
		Final      bool `json:"is_final"`
		Confidence float64
		Language   string
		Speaker    string
	}
	FinalMS  int `json:"final_audio_proc_ms"`
	TotalMS  int `json:"total_audio_proc_ms"`
	Finished bool
	Code     int    `json:"error_code"`
	Error    string `json:"error_message"`
}

// Short says in a few words what a message says: the final text, and in brackets what is not.
func (m message) Short() string {
	if m.Code != 0 {
		return m.Error
	}
	if m.Finished {
		return "finished"
	}
	final, rest := "", ""
	for _, t := range m.Tokens {
		if t.Final {
			final += t.Text
		} else {
			rest += t.Text
		}
	}
	if rest != "" {
		final += "[" + rest + "]"
	}
	return final
}

// finals is the final text of messages.
func finals(list []message) (text string) {
	for _, m := range list {
		for _, t := range m.Tokens {
			if t.Final {
				text += t.Text
			}
		}
	}
	return text
}
