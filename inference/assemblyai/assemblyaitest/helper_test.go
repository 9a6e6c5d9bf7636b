package assemblyaitest

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/loopbacktest"
)

const ms = time.Millisecond

const (
	universalPath = "/v3/ws?speech_model=universal-streaming-english&sample_rate=8000&encoding=pcm_mulaw&format_turns=true"
	proPath       = "/v3/ws?speech_model=universal-3-5-pro&sample_rate=8000&encoding=pcm_s16le"
)

// client is a raw client of one session.
type client struct {
	t    *testing.T
	conn *websocket.Conn
	send loopbacktest.Coding
}

func header(key string) http.Header { return http.Header{"Authorization": {key}} }

func dial(t *testing.T, s *Server, path string) *client {
	t.Helper()
	return dialWith(t, s, path, header(s.Key))
}

func dialWith(t *testing.T, s *Server, path string, h http.Header) *client {
	t.Helper()
	conn, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(s.URL, "http")+path, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	c := &client{t: t, conn: conn, send: loopbacktest.S16}
	if strings.Contains(path, "mulaw") {
		c.send = loopbacktest.Mulaw
	}
	return c
}

// say sends loud audio, hush quiet, in messages of 100 ms.
func (c *client) say(d time.Duration)  { c.audio(d, -20) }
func (c *client) hush(d time.Duration) { c.audio(d, -90) }

func (c *client) audio(d time.Duration, level float64) {
	c.t.Helper()
	for step := 100 * ms; d > 0; d -= step {
		c.message(min(d, step), level)
	}
}

// message sends one message of audio.
func (c *client) message(d time.Duration, level float64) {
	c.t.Helper()
	pcm := loopbacktest.Tone(int(d.Milliseconds())*8, 0, 8000, level)
	if err := c.conn.WriteMessage(websocket.BinaryMessage, c.send.Encode(pcm)); err != nil {
		c.t.Fatal(err)
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

// short says in a few words what a message says. Words that are not final stand in brackets.
func (m message) short() string {
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
		m, err := c.read()
		if err != nil {
			c.t.Fatal(err)
		}
		list = append(list, m)
		if strings.HasPrefix(m.short(), short) {
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
		if errors.As(err, &end) {
			if end.Code != code || !strings.Contains(end.Text, reason) {
				c.t.Errorf("closed with %d %q, want %d %q", end.Code, end.Text, code, reason)
			}
			return list
		}
		if err != nil {
			c.t.Fatal(err)
		}
		list = append(list, m)
	}
}

// refused reads an Error and the close frame that says the same.
func (c *client) refused(code int, reason string) {
	c.t.Helper()
	list := c.closed(code, reason)
	if len(list) == 0 || list[len(list)-1].Type != "Error" || list[len(list)-1].Code != code || !strings.Contains(list[len(list)-1].Error, reason) {
		c.t.Errorf("%+v before %d %s", list, code, reason)
	}
}

func shorts(list []message) (texts []string) {
	for _, m := range list {
		texts = append(texts, m.short())
	}
	return texts
}

// equal compares texts.
func equal(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}
