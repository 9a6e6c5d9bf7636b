package deepgramtest

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/loopbacktest"
)

// client is a raw client of one connection.
type client struct {
	cut  bool // the server is meant to cut the connection, perhaps while audio is sent
	t    *testing.T
	conn *websocket.Conn
	rate int
	send loopbacktest.Coding
}

const (
	novaPath = "/v1/listen?model=nova-3&encoding=linear16&sample_rate=8000&interim_results=true&punctuate=true&vad_events=true&endpointing=300"
	fluxPath = "/v2/listen?model=flux-general-en&encoding=mulaw&sample_rate=8000&eager_eot_threshold=.4"
)

func header(key string) http.Header { return http.Header{"Authorization": {"Token " + key}} }

func dial(t *testing.T, s *Server, path string) *client {
	t.Helper()
	conn, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(s.URL, "http")+path, header(s.Key))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	c := &client{t: t, conn: conn, rate: 8000, send: loopbacktest.S16}
	if strings.Contains(path, "mulaw") {
		c.send = loopbacktest.Mulaw
	}
	return c
}

// refused dials and returns the status of a refusal.
func refused(t *testing.T, s *Server, path string, h http.Header) *http.Response {
	t.Helper()
	conn, resp, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(s.URL, "http")+path, h)
	if err == nil {
		conn.Close()
		t.Fatalf("%s was accepted", path)
	}
	if resp == nil {
		t.Fatal(err)
	}
	return resp
}

// say sends loud audio, hush quiet, in messages of 80 ms.
func (c *client) say(d time.Duration)  { c.audio(d, -20) }
func (c *client) hush(d time.Duration) { c.audio(d, -90) }

func (c *client) audio(d time.Duration, level float64) {
	c.t.Helper()
	for step := 80 * time.Millisecond; d > 0; d -= step {
		pcm := loopbacktest.Tone(int(min(d, step).Seconds()*float64(c.rate)), 0, c.rate, level)
		switch err := c.conn.WriteMessage(websocket.BinaryMessage, c.send.Encode(pcm)); {
		case err != nil && c.cut:
			return
		case err != nil:
			c.t.Fatal(err)
		}
	}
}

func (c *client) text(m string) {
	c.t.Helper()
	if err := c.conn.WriteMessage(websocket.TextMessage, []byte(m)); err != nil {
		c.t.Fatal(err)
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

// short says in a few words what a message says.
func (m message) short() string {
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

// next is the next message.
func (c *client) next() message {
	c.t.Helper()
	m, err := c.read()
	if err != nil {
		c.t.Fatal(err)
	}
	return m
}

func (c *client) read() (m message, err error) {
	_ = c.conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	_, data, err := c.conn.ReadMessage()
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	return m, err
}

// until reads until a message that begins so, and returns it with those before it.
func (c *client) until(short string) (list []message) {
	c.t.Helper()
	for {
		m := c.next()
		list = append(list, m)
		if strings.HasPrefix(m.short(), short) {
			return list
		}
	}
}

// closed reads to the end, which must be a close frame, and returns what came before.
func (c *client) closed(code int, reason string) (list []string) {
	c.t.Helper()
	for {
		m, err := c.read()
		var end *websocket.CloseError
		if errors.As(err, &end) {
			if end.Code != code || !strings.Contains(end.Text, reason) {
				c.t.Errorf("closed with %d %q, want %d %q", end.Code, end.Text, code, reason)
			}
			return list
		}
		if err != nil {
			c.t.Fatal(err)
		}
		list = append(list, m.short())
	}
}

// shorts are messages in a few words, without partials and updates.
func shorts(list []message) (texts []string) {
	for _, m := range list {
		if s := m.short(); !strings.HasPrefix(s, "Update") && !strings.HasPrefix(s, "partial") {
			texts = append(texts, s)
		}
	}
	return texts
}
