package deepgramtest

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/hearingtest"
	"parley/inference/enginetest/loopbacktest"
)

const (
	novaPath = "/v1/listen?model=nova-3&encoding=linear16&sample_rate=8000&interim_results=true&punctuate=true&vad_events=true&endpointing=300"
	fluxPath = "/v2/listen?model=flux-general-en&encoding=mulaw&sample_rate=8000&eager_eot_threshold=.4"
)

func header(key string) http.Header { return http.Header{"Authorization": {"Token " + key}} }

// client is a raw client of one connection of recognition.
type client struct{ hearingtest.Client[message] }

func dial(t *testing.T, s *Server, path string) client {
	t.Helper()
	c := client{hearingtest.Client[message]{Client: loopbacktest.Dial[message](t, s, path, header(s.Key)), Coding: loopbacktest.S16, Each: 80 * ms}}
	if strings.Contains(path, "mulaw") {
		c.Coding = loopbacktest.Mulaw
	}
	return c
}

// burst sends loud audio in one message, to a fake that may have cut the connection.
func (c client) burst(d time.Duration) {
	for m := range loopbacktest.Sound(c.Coding, d, d, loopbacktest.Loud) {
		_ = c.Conn.WriteMessage(websocket.BinaryMessage, m)
	}
}

// message is any message of the fake.
type message struct {
	Type, Event, Transcript, Trigger, Description, Code string
	Start, Duration, Timestamp                          float64
	Confidence                                          float64 `json:"end_of_turn_confidence"`
	Final                                               bool    `json:"is_final"`
	SpeechFinal                                         bool    `json:"speech_final"`
	FromFinalize                                        bool    `json:"from_finalize"`
	Turn                                                int     `json:"turn_index"`
	Sequence                                            int     `json:"sequence_id"`
	Channel                                             json.RawMessage
	LastWordEnd                                         float64 `json:"last_word_end"`
	Thresholds                                          thresholds
	Words                                               []struct {
		Word       string
		Start, End float64
	}
}

// Short says in a few words what a message says.
func (m message) Short() string {
	var channel struct{ Alternatives []struct{ Transcript string } }
	_ = json.Unmarshal(m.Channel, &channel)
	var parts []string
	switch m.Type {
	case "Results":
		parts = append(parts, "partial")
		if m.Final {
			parts[0] = "final"
		}
		if m.SpeechFinal {
			parts[0] = "speech_final"
		}
		if m.FromFinalize {
			parts[0] = "from_finalize"
		}
		parts = append(parts, channel.Alternatives[0].Transcript)
	case "TurnInfo":
		parts = append(parts, m.Event, m.Transcript)
	default:
		parts = append(parts, m.Type)
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}

// news are messages in a few words, without partials and updates.
func news(list []message) (texts []string) {
	for _, s := range loopbacktest.Shorts(list) {
		if !strings.HasPrefix(s, "Update") && !strings.HasPrefix(s, "partial") {
			texts = append(texts, s)
		}
	}
	return texts
}
