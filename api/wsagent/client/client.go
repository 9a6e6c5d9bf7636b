// Package client is a caller's end of the voice agent's WebSocket: it sends a
// microphone and control frames, reports what the agent does, and keeps the
// recording of what a listener would have heard.
package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	rest "parley/api/client"
	"parley/media"
)

// Rates of the two directions.
const (
	RateIn  = media.Rate16k // what the client sends
	RateOut = media.Rate44k // what it hears
)

// Bounds of a connection.
const (
	readLimit = 4 << 20 // bytes a message
	writeWait = 5 * time.Second
	readWait  = 60 * time.Second // the server pings every 20 s
	closeWait = 2 * time.Second  // for the server's part of the closing handshake
)

// Options of Dial.
type Options struct {
	// OnEvent receives everything in the order in which it came, on the
	// goroutine of Run. While it does not return nothing is read. It may be nil.
	OnEvent func(Event)
	// Record is how much of what is heard is kept, from the start; 0: nothing.
	Record time.Duration
	// Played reports to the server what was played, each time that audio comes.
	Played bool
	// Resume is the token of a conversation whose connection was lost, which goes on; empty: it is a new one.
	Resume string
	// Dialer opens connections; nil: a default one with 10 s of patience.
	Dialer *websocket.Dialer
}

// Client is one connection. Its methods may be called from any goroutine.
type Client struct {
	conn *websocket.Conn
	o    Options
	play *playout

	mu  sync.Mutex // of writing
	pcm []byte
}

// Refused is why the server did not take a connection.
type Refused rest.Error

func (e *Refused) Error() string {
	return fmt.Sprintf("the server refused with %d %s: %s", e.Status, e.Code, e.Message)
}

// Dial connects to the agent socket of a server. base is its address, with http,
// https, ws or wss; without a path that of the agent is added. The key goes into a
// header, never into the URL. agentID may be empty. Nothing is read before Run.
func Dial(ctx context.Context, base, key, agentID string, o Options) (*Client, error) {
	u, err := address(base, agentID, o.Resume)
	if err != nil {
		return nil, err
	}
	dialer := o.Dialer
	if dialer == nil {
		dialer = &websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: 10 * time.Second}
	}
	header := http.Header{}
	if key != "" {
		header.Set("X-API-Key", key)
	}
	conn, resp, err := dialer.DialContext(ctx, u, header)
	if err != nil {
		if errors.Is(err, websocket.ErrBadHandshake) && resp != nil {
			return nil, (*Refused)(rest.Refusal(resp))
		}
		return nil, fmt.Errorf("connect: %w", err)
	}
	conn.SetReadLimit(readLimit)
	return &Client{conn: conn, o: o, play: newPlayout(time.Now(), o.Record)}, nil
}

// address is the URL to dial for a conversation with an agent, or, with a token, for one that goes on.
func address(base, agentID, token string) (string, error) {
	u, err := url.Parse(base)
	if err != nil {
		return "", errors.New("the server's address is not a URL")
	}
	switch u.Scheme {
	case "http", "ws":
		u.Scheme = "ws"
	case "https", "wss":
		u.Scheme = "wss"
	default:
		return "", errors.New("the server's address must begin with http, https, ws or wss")
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/ws/agent"
	}
	name, value := "agent_id", agentID
	if token != "" {
		name, value = "resume", token
	}
	if value != "" {
		q := u.Query()
		q.Set(name, value)
		u.RawQuery = q.Encode()
	}
	return u.String(), nil
}

// Send says samples at RateIn.
func (c *Client) Send(samples []int16) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pcm = media.AppendPCM(c.pcm[:0], samples)
	return c.writeLocked(websocket.BinaryMessage, c.pcm)
}

// Control sends a control frame {type, data}; a nil data is left out.
func (c *Client) Control(kind string, data any) error {
	m := map[string]any{"type": kind}
	if data != nil {
		m["data"] = data
	}
	return c.Frame(m)
}

// Frame sends v as JSON.
func (c *Client) Frame(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.writeLocked(websocket.TextMessage, b)
}

// SendText types a turn.
func (c *Client) SendText(text string) error { return c.Control("text", text) }

// Interrupt stops the agent.
func (c *Client) Interrupt() error { return c.Control("interrupt", nil) }

// ToolResult answers the function call id.
func (c *Client) ToolResult(id, result string) error {
	return c.Control("tool_result", map[string]string{"call_id": id, "result": result})
}

func (c *Client) writeLocked(kind int, b []byte) error {
	if err := c.conn.SetWriteDeadline(time.Now().Add(writeWait)); err != nil {
		return err
	}
	return c.conn.WriteMessage(kind, b)
}

// Start is when the connection was made: the recording begins there.
func (c *Client) Start() time.Time { return c.play.start }

// Heard is what a listener has heard since Start, up to now, at RateOut. The
// caller owns it.
func (c *Client) Heard(now time.Time) []int16 { return c.play.heard(now) }

// QuietAt is when everything that has come will have been played; the zero time
// when nothing has.
func (c *Client) QuietAt() time.Time { return c.play.quietAt() }

// Closed is how a connection ended.
type Closed struct {
	Code   int // RFC 6455; 1006 without a close frame
	Reason string
}

// Run reads until the connection ends, by either side, or ctx does: then it says
// goodbye. It is called once, and closes the connection.
func (c *Client) Run(ctx context.Context) Closed {
	defer c.conn.Close()
	over := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-ctx.Done():
			c.hangUp(over)
		case <-over:
		}
	}()
	end := Closed{Code: websocket.CloseAbnormalClosure}
	if e, ok := errors.AsType[*websocket.CloseError](c.read()); ok {
		end = Closed{Code: e.Code, Reason: e.Text}
	}
	close(over)
	<-done
	return end
}

// hangUp says goodbye and gives the server some time to answer.
func (c *Client) hangUp(over <-chan struct{}) {
	deadline := time.Now().Add(closeWait)
	_ = c.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), deadline)
	t := time.NewTimer(closeWait)
	defer t.Stop()
	select {
	case <-over:
	case <-t.C:
		c.conn.Close()
	}
}

// read takes messages until there are no more, and says why.
func (c *Client) read() error {
	alive := func() error { return c.conn.SetReadDeadline(time.Now().Add(readWait)) }
	pong := c.conn.PingHandler()
	c.conn.SetPingHandler(func(s string) error {
		_ = alive()
		return pong(s)
	})
	for {
		if err := alive(); err != nil {
			return err
		}
		kind, p, err := c.conn.ReadMessage()
		if err != nil {
			return err
		}
		c.take(kind, p, time.Now())
	}
}
