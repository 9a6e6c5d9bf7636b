package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"time"

	"github.com/gorilla/websocket"
)

// ListenRate is the rate of what a Listener is sent, in Hz.
const ListenRate = 16_000

// Heard is what the server believes was said.
type Heard struct {
	Text  string
	Final bool // will not change; otherwise the next one replaces it
}

// Listener recognises speech while it is spoken. Send and Finish belong to one
// goroutine, Next to another; Close may come from any.
type Listener struct {
	c    *Client
	ctx  context.Context
	conn *websocket.Conn
	done func() bool
	buf  []byte
}

// Listen begins to recognise. Without a language the server finds it out. The
// Listener ends with ctx or Close.
func (c *Client) Listen(ctx context.Context, language string) (*Listener, error) {
	conn, done, err := c.dial(ctx, "/ws/stt")
	if err != nil {
		return nil, err
	}
	l := &Listener{c: c, ctx: ctx, conn: conn, done: done}
	setup := map[string]string{}
	if language != "" {
		setup["language"] = language
	}
	if err := l.write(setup); err != nil {
		l.Close()
		return nil, err
	}
	// The server pings while nothing is said.
	conn.SetPingHandler(func(s string) error {
		_ = conn.SetReadDeadline(time.Now().Add(idleWait))
		return conn.WriteControl(websocket.PongMessage, []byte(s), time.Now().Add(writeWait))
	})
	return l, nil
}

// idleWait is how long a server may send nothing at all, not even a ping.
const idleWait = 90 * time.Second

// Send takes samples at ListenRate, any number. A client that sends faster than people
// speak loses some.
func (l *Listener) Send(samples []int16) error {
	l.buf = l.buf[:0]
	for _, v := range samples {
		l.buf = append(l.buf, byte(v), byte(uint16(v)>>8))
	}
	_ = l.conn.SetWriteDeadline(time.Now().Add(writeWait))
	return l.sent(l.conn.WriteMessage(websocket.BinaryMessage, l.buf))
}

// Finish ends the utterance in progress: its final text follows.
func (l *Listener) Finish() error { return l.write(map[string]string{"type": "end"}) }

func (l *Listener) write(v any) error {
	_ = l.conn.SetWriteDeadline(time.Now().Add(writeWait))
	return l.sent(l.conn.WriteJSON(v))
}

func (l *Listener) sent(err error) error {
	if err != nil {
		return l.c.lost(l.ctx, err)
	}
	return nil
}

// Next waits for the next thing heard. The error is io.EOF after Close or a goodbye
// of the server.
func (l *Listener) Next() (Heard, error) {
	for {
		_ = l.conn.SetReadDeadline(time.Now().Add(idleWait))
		kind, p, err := l.conn.ReadMessage()
		if websocket.IsCloseError(err, websocket.CloseNormalClosure, websocket.CloseNoStatusReceived) || errors.Is(err, net.ErrClosed) && l.ctx.Err() == nil {
			return Heard{}, io.EOF
		}
		if err != nil {
			return Heard{}, l.c.hungUp(l.ctx, err)
		}
		var m struct {
			Type      string `json:"type"`
			Data      string `json:"data"`
			Final     bool   `json:"isFinal"`
			Code      string `json:"code"`
			Detail    string `json:"detail"`
			Retryable bool   `json:"retryable"`
		}
		if kind != websocket.TextMessage || json.Unmarshal(p, &m) != nil {
			continue // of a later server
		}
		switch m.Type {
		case "transcript":
			return Heard{m.Data, m.Final}, nil
		case "error":
			return Heard{}, &Error{Code: m.Code, Message: m.Data, Detail: m.Detail, Retryable: m.Retryable}
		}
	}
}

// Close says goodbye and ends the connection.
func (l *Listener) Close() error {
	l.done()
	_ = l.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(writeWait))
	return l.conn.Close()
}
