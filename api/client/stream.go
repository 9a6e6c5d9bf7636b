package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"time"

	"github.com/gorilla/websocket"

	"parley/api/wire"
)

// StreamRate is the rate of a stream's samples, in Hz.
const StreamRate = 44_100

const (
	maxMessage = 1 << 20 // bytes; the server's are of 512 KB at most
	// messageWait is how long a server may say nothing: it reports each second
	// while it works.
	messageWait = 30 * time.Second
	writeWait   = 10 * time.Second
)

// Stream speaks a text of up to MaxText code points and yields the sound while it is
// being made: samples at StreamRate, mono, which the receiver owns. It ends after the last chunk or after yielding one error; breaking out
// of it stops the server.
func (c *Client) Stream(ctx context.Context, s Speech) iter.Seq2[[]int16, error] {
	return func(yield func([]int16, error) bool) {
		conn, done, err := c.dial(ctx, "/ws/tts")
		if err != nil {
			yield(nil, err)
			return
		}
		defer conn.Close()
		defer done()
		_ = conn.SetWriteDeadline(time.Now().Add(writeWait))
		if err := conn.WriteJSON(s); err != nil {
			yield(nil, c.lost(ctx, err))
			return
		}
		for {
			_ = conn.SetReadDeadline(time.Now().Add(messageWait))
			kind, p, err := conn.ReadMessage()
			switch {
			case err != nil:
				yield(nil, c.hungUp(ctx, err))
				return
			case kind == websocket.BinaryMessage:
				samples, err := pcm(p)
				if !yield(samples, err) || err != nil {
					return
				}
			case string(p) == "EOS":
				return
			default:
				if err := told(p); err != nil {
					yield(nil, err)
					return
				}
			}
		}
	}
}

// told is the error that a message in JSON tells of; nil: it tells of something else.
func told(p []byte) error {
	if p = bytes.TrimSpace(p); len(p) == 0 || p[0] != '{' {
		return nil
	}
	var m struct {
		Type string     `json:"type"`
		Data wire.Fault `json:"data"`
	}
	if json.Unmarshal(p, &m) != nil || m.Type != "error" {
		return nil
	}
	return &Error{Code: m.Data.Code, Message: m.Data.Message, Detail: m.Data.Detail, Retryable: m.Data.Retryable}
}

// pcm reads Int16, little endian.
func pcm(p []byte) ([]int16, error) {
	if len(p)%2 != 0 {
		return nil, errors.New("the server sent half a sample")
	}
	samples := make([]int16, len(p)/2)
	for i := range samples {
		samples[i] = int16(uint16(p[2*i]) | uint16(p[2*i+1])<<8)
	}
	return samples, nil
}
