package sonioxtest

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
	path  = "/transcribe-websocket"
	start = `{"model":"stt-rt-v5","audio_format":"mulaw","sample_rate":8000,"num_channels":1,"language_hints":["en","es"]}`
)

// with adds to the configuration.
func with(more string) string { return strings.TrimSuffix(start, "}") + "," + more + "}" }

// client is a raw client of one connection, with audio in µ-law.
type client struct {
	t    *testing.T
	conn *websocket.Conn
}

func header(key string) http.Header { return http.Header{"Authorization": {"Bearer " + key}} }

// dial connects and sends the first message.
func dial(t *testing.T, s *Server, first string) *client {
	t.Helper()
	conn, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(s.URL, "http")+path, header(s.Key))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	c := &client{t, conn}
	c.text(first)
	return c
}

// say sends loud audio, hush quiet, in messages of 40 ms.
func (c *client) say(d time.Duration)  { c.audio(d, -20) }
func (c *client) hush(d time.Duration) { c.audio(d, -90) }

func (c *client) audio(d time.Duration, level float64) {
	c.t.Helper()
	for step := 40 * ms; d > 0; d -= step {
		c.binary(loopbacktest.Mulaw.Encode(loopbacktest.Tone(int(min(d, step).Milliseconds())*8, 0, 8000, level)))
	}
}

func (c *client) binary(data []byte) {
	c.t.Helper()
	if err := c.conn.WriteMessage(websocket.BinaryMessage, data); err != nil {
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

// short says in a few words what a message says: the final text, and in brackets what is not.
func (m message) short() string {
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

func (c *client) read() (m message, err error) {
	_ = c.conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	_, data, err := c.conn.ReadMessage()
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	return m, err
}

// until reads until a message that has a text, and returns it with those before it.
func (c *client) until(text string) (list []message) {
	c.t.Helper()
	for {
		m, err := c.read()
		if err != nil {
			c.t.Fatal(err)
		}
		list = append(list, m)
		if strings.Contains(m.short(), text) {
			return list
		}
	}
}

// closed reads to the end, which must be a close frame, and returns what came before.
func (c *client) closed() (list []message) {
	c.t.Helper()
	for {
		m, err := c.read()
		var end *websocket.CloseError
		if errors.As(err, &end) {
			if end.Code != websocket.CloseNormalClosure {
				c.t.Errorf("closed with %d %q", end.Code, end.Text)
			}
			return list
		}
		if err != nil {
			c.t.Fatal(err)
		}
		list = append(list, m)
	}
}

func shorts(list []message) (texts []string) {
	for _, m := range list {
		texts = append(texts, m.short())
	}
	return texts
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

// equal compares texts.
func equal(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}
