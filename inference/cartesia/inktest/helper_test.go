package inktest

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
	turnsPath = "/stt/turns/websocket?model=ink-2&encoding=pcm_mulaw&sample_rate=8000"
	plainPath = "/stt/websocket?model=ink-whisper&language=en&encoding=pcm_mulaw&sample_rate=8000"
)

func header(key string) http.Header {
	return http.Header{"X-Api-Key": {key}, "Cartesia-Version": {"2026-03-01"}}
}

func dial(t *testing.T, s *Server, path string) hearingtest.Client[message] {
	t.Helper()
	return hearingtest.Client[message]{Client: loopbacktest.Dial[message](t, s, path, header(s.Key)), Coding: loopbacktest.Mulaw, Each: 100 * ms}
}

// message is any message of the fake.
type message struct {
	Type, Transcript, Text, Title, Message, Language string
	Request                                          string `json:"request_id"`
	Final                                            bool   `json:"is_final"`
	Code                                             string `json:"error_code"`
	Status                                           int    `json:"status_code"`
	Duration                                         float64
	Words                                            []struct {
		Word       string
		Start, End float64
	}
}

// Short says in a few words what a message says, with the spaces of a text that is final.
func (m message) Short() string {
	switch {
	case m.Type == "transcript" && m.Final:
		return "final " + m.Text
	case m.Type == "transcript":
		return "partial " + m.Text
	}
	return strings.TrimSpace(strings.TrimPrefix(m.Type, "turn.") + " " + m.Transcript)
}

// news are messages in a few words, without updates and what is not final.
func news(list []message) (texts []string) {
	for _, text := range loopbacktest.Shorts(list) {
		if !strings.HasPrefix(text, "update") && !strings.HasPrefix(text, "partial") {
			texts = append(texts, text)
		}
	}
	return texts
}
