package cartesiatest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

const ms = time.Millisecond

func header(key string) http.Header {
	return http.Header{"X-Api-Key": {key}, "Cartesia-Version": {"2026-03-01"}}
}

// client is a raw client of one socket.
type client struct {
	t    *testing.T
	conn *websocket.Conn
}

func dial(t *testing.T, s *Server) *client {
	t.Helper()
	conn, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(s.URL, "http")+"/tts/websocket", header(s.Key))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &client{t, conn}
}

// fieldsOf is a request with some fields changed; nil takes one away.
type fieldsOf map[string]any

func (c *client) send(context, transcript string, more bool, change fieldsOf) {
	c.t.Helper()
	m := map[string]any{
		"context_id": context, "model_id": "sonic-3.5", "transcript": transcript, "continue": more, "language": "en",
		"voice":          map[string]any{"mode": "id", "id": DefaultVoice},
		"output_format":  map[string]any{"container": "raw", "encoding": "pcm_s16le", "sample_rate": 8000},
		"add_timestamps": true, "max_buffer_delay_ms": 0,
	}
	maps.Copy(m, change)
	for name, v := range m {
		if v == nil {
			delete(m, name)
		}
	}
	c.json(m)
}

func (c *client) json(m any) {
	c.t.Helper()
	if err := c.conn.WriteJSON(m); err != nil {
		c.t.Fatal(err)
	}
}

// message is any message of the fake.
type message struct {
	Type, Data, Message string
	Context             string `json:"context_id"`
	Status              int    `json:"status_code"`
	Flush               int    `json:"flush_id"`
	Words               struct {
		Words      []string
		Start, End []float64
	} `json:"word_timestamps"`
	Phonemes struct{ Phonemes []string } `json:"phoneme_timestamps"`
}

func (m message) audio() int {
	b, _ := base64.StdEncoding.DecodeString(m.Data)
	return len(b)
}

func (c *client) read() (m message, err error) {
	_ = c.conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	_, data, err := c.conn.ReadMessage()
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	return m, err
}

// until reads until a message of the type, and returns it with those before it.
func (c *client) until(typ string) (list []message) {
	c.t.Helper()
	for {
		m, err := c.read()
		if err != nil {
			c.t.Fatalf("%v after %+v", err, list)
		}
		if list = append(list, m); m.Type == typ {
			return list
		}
		if m.Type == "error" {
			c.t.Fatalf("%+v", m)
		}
	}
}

// failed reads an error.
func (c *client) failed(status int, message string) {
	c.t.Helper()
	for {
		m, err := c.read()
		if err != nil {
			c.t.Fatal(err)
		}
		if m.Type != "error" {
			continue
		}
		if m.Status != status || !strings.Contains(m.Message, message) {
			c.t.Errorf("%+v, want %d %s", m, status, message)
		}
		return
	}
}

// closed reads to the end, which must be a close frame.
func (c *client) closed(code int) (list []message) {
	c.t.Helper()
	for {
		m, err := c.read()
		var end *websocket.CloseError
		if errors.As(err, &end) && end.Code == code {
			return list
		}
		if err != nil {
			c.t.Fatalf("%v, want close %d", err, code)
		}
		list = append(list, m)
	}
}

// sum is the audio and the words of messages.
func sum(list []message) (audio int, words []string) {
	for _, m := range list {
		audio += m.audio()
		words = append(words, m.Words.Words...)
	}
	return audio, words
}
