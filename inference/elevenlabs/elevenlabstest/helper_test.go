package elevenlabstest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

const ms = time.Millisecond

const path = "/v1/text-to-speech/" + DefaultVoice + "/multi-stream-input?model_id=eleven_flash_v2_5&output_format=pcm_8000&auto_mode=true&sync_alignment=true"

// held is the path of a socket that holds texts until they are flushed.
var held = strings.Replace(path, "auto_mode=true&", "", 1)

func header(key string) http.Header { return http.Header{"Xi-Api-Key": {key}} }

// client is a raw client of one socket.
type client struct {
	t    *testing.T
	conn *websocket.Conn
}

func dial(t *testing.T, s *Server, path string) *client {
	t.Helper()
	conn, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(s.URL, "http")+path, header(s.Key))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &client{t, conn}
}

// fieldsOf is a request.
type fieldsOf map[string]any

func (c *client) send(m fieldsOf) {
	c.t.Helper()
	if err := c.conn.WriteJSON(m); err != nil {
		c.t.Fatal(err)
	}
}

// open begins a context, say speaks in it, and end closes it.
func (c *client) open(context string) {
	c.send(fieldsOf{"context_id": context, "text": " ", "voice_settings": fieldsOf{"stability": .5, "similarity_boost": .75}})
}

func (c *client) say(context, text string) {
	c.send(fieldsOf{"context_id": context, "text": text, "flush": true})
}

func (c *client) end(context string) { c.send(fieldsOf{"context_id": context, "close_context": true}) }

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

func (c *client) read() (m message, err error) {
	_ = c.conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	_, data, err := c.conn.ReadMessage()
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	return m, err
}

// final reads until the isFinal of a context, and returns the messages of that context.
func (c *client) final(context string) (list []message) {
	c.t.Helper()
	for {
		m, err := c.read()
		if err != nil || m.Error != "" {
			c.t.Fatalf("%v, %+v after %+v", err, m, list)
		}
		if m.Context+m.Context2 != context {
			continue
		}
		if list = append(list, m); m.Final || m.Final2 {
			return list
		}
	}
}

// closed reads to the end, which must be a close frame, and returns what came before.
func (c *client) closed(code int, reason string) (list []message) {
	c.t.Helper()
	for {
		m, err := c.read()
		var end *websocket.CloseError
		if errors.As(err, &end) && end.Code == code && strings.Contains(end.Text, reason) {
			return list
		}
		if err != nil {
			c.t.Fatalf("%v, want close %d %s", err, code, reason)
		}
		list = append(list, m)
	}
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
