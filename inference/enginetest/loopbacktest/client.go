package loopbacktest

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// readWait is how long a Client waits for a message.
const readWait = 5 * time.Second

// Message is any message of one engine.
type Message interface {
	Short() string // what it says, in a few words
}

// Client is a raw client over WebSocket, for the tests that a fake has of itself.
type Client[M Message] struct {
	Conn *websocket.Conn
	t    testing.TB
}

// Dial connects to a path of s until the test ends.
func Dial[M Message](t testing.TB, s Fake, path string, h http.Header) *Client[M] {
	t.Helper()
	conn, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(s.Loopback().URL, "http")+path, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &Client[M]{conn, t}
}

// Refused dials a path of s, which must refuse, and returns its answer.
func Refused(t testing.TB, s Fake, path string, h http.Header) *http.Response {
	t.Helper()
	conn, resp, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(s.Loopback().URL, "http")+path, h)
	if err == nil {
		conn.Close()
		t.Fatalf("%s was accepted", path)
	}
	if resp == nil {
		t.Fatal(err)
	}
	return resp
}

// Text sends a text message.
func (c *Client[M]) Text(m string) {
	c.t.Helper()
	if err := c.Conn.WriteMessage(websocket.TextMessage, []byte(m)); err != nil {
		c.t.Fatal(err)
	}
}

// Read is the next message, which must be JSON.
func (c *Client[M]) Read() (m M, err error) {
	_ = c.Conn.SetReadDeadline(time.Now().Add(readWait))
	_, data, err := c.Conn.ReadMessage()
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	return m, err
}

// Until reads until a message whose Short begins so, and returns it with those before it.
func (c *Client[M]) Until(short string) (list []M) {
	c.t.Helper()
	for {
		m, err := c.Read()
		if err != nil {
			c.t.Fatalf("%v after %q, before %q", err, Shorts(list), short)
		}
		list = append(list, m)
		if strings.HasPrefix(m.Short(), short) {
			return list
		}
	}
}

// Closed reads to the end, which must be a close frame with this code and a reason that has
// this text, and returns what came before.
func (c *Client[M]) Closed(code int, reason string) (list []M) {
	c.t.Helper()
	for {
		m, err := c.Read()
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

// Shorts are messages in a few words each.
func Shorts[M Message](list []M) (texts []string) {
	for _, m := range list {
		texts = append(texts, m.Short())
	}
	return texts
}

// Same compares texts.
func Same(t testing.TB, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}
