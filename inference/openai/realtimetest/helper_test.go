package realtimetest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/loopbacktest"
)

const ms = time.Millisecond

const path = "/v1/realtime?intent=transcription"

// client is a raw client of one session, with audio in µ-law.
type client struct {
	t    *testing.T
	conn *websocket.Conn
}

func header(key string) http.Header { return http.Header{"Authorization": {"Bearer " + key}} }

func dial(t *testing.T, s *Transcription, path string, h http.Header) *client {
	t.Helper()
	conn, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(s.URL, "http")+path, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &client{t, conn}
}

// configured is a client whose session has a model and a detection, which is JSON.
func configured(t *testing.T, s *Transcription, model, detection string) *client {
	t.Helper()
	c := dial(t, s, path, header(s.Key))
	c.text(configuration(model, detection))
	equal(t, shorts(c.until("session.updated")), "session.created", "session.updated")
	return c
}

func configuration(model, detection string) string {
	return fmt.Sprintf(`{"type":"session.update","session":{"type":"transcription","audio":{"input":{"format":{"type":"audio/pcmu"},
		"transcription":{"model":%q,"language":"en"},"turn_detection":%s}}}}`, model, detection)
}

// say sends loud audio, hush quiet, in messages of 40 ms.
func (c *client) say(d time.Duration)  { c.audio(d, -20) }
func (c *client) hush(d time.Duration) { c.audio(d, -90) }

func (c *client) audio(d time.Duration, level float64) {
	c.t.Helper()
	for step := 40 * ms; d > 0; d -= step {
		c.text(appended(int(min(d, step).Milliseconds())*8, level))
	}
}

// appended is so many bytes of audio in µ-law.
func appended(bytes int, level float64) string {
	audio := loopbacktest.Mulaw.Encode(loopbacktest.Tone(bytes, 0, 8000, level))
	return `{"type":"input_audio_buffer.append","audio":"` + base64.StdEncoding.EncodeToString(audio) + `"}`
}

func (c *client) commit() { c.text(`{"type":"input_audio_buffer.commit"}`) }

func (c *client) text(m string) {
	c.t.Helper()
	if err := c.conn.WriteMessage(websocket.TextMessage, []byte(m)); err != nil {
		c.t.Fatal(err)
	}
}

// message is any event of the fake.
type message struct {
	Type, Delta, Transcript string
	Event                   string `json:"event_id"`
	Item                    string `json:"item_id"`
	Previous                string `json:"previous_item_id"`
	Start                   int    `json:"audio_start_ms"`
	End                     int    `json:"audio_end_ms"`
	Languages               []string
	Logprobs                []any
	Usage                   struct {
		Type    string
		In      int `json:"input_tokens"`
		Out     int `json:"output_tokens"`
		Total   int `json:"total_tokens"`
		Seconds float64
		Details struct {
			Audio int `json:"audio_tokens"`
			Text  int `json:"text_tokens"`
		} `json:"input_token_details"`
	}
	Error struct {
		Type, Code, Message, Param string
		Event                      string `json:"event_id"`
	}
	Session struct {
		ID, Type string
		Audio    struct {
			Input struct {
				Format    format
				Detection *detection `json:"turn_detection"`
			}
		}
	}
}

// short says in a few words what an event says.
func (m message) short() string {
	kind := strings.TrimPrefix(strings.TrimPrefix(m.Type, "conversation.item.input_audio_transcription."), "input_audio_buffer.")
	return strings.TrimSuffix(kind+" "+m.Delta+m.Transcript+m.Error.Code, " ")
}

func (c *client) read() (m message, err error) {
	_ = c.conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	_, data, err := c.conn.ReadMessage()
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	return m, err
}

// until reads until an event that begins so, and returns it with those before it.
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
