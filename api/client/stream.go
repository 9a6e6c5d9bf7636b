package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"time"

	"github.com/gorilla/websocket"
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

// Chunk is a piece of a stream. The receiver owns its slices.
type Chunk struct {
	Samples []int16       // at StreamRate, mono
	TTFB    time.Duration // the server's own time to its first byte; only in the first chunk
}

// Stream speaks a text of up to MaxText code points and yields the sound while it is
// being made. It ends after the last chunk or after yielding one error; breaking out
// of it stops the server.
func (c *Client) Stream(ctx context.Context, s Speech) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		conn, done, err := c.dial(ctx, "/ws/tts")
		if err != nil {
			yield(Chunk{}, err)
			return
		}
		defer conn.Close()
		defer done()
		_ = conn.SetWriteDeadline(time.Now().Add(writeWait))
		if err := conn.WriteJSON(s); err != nil {
			yield(Chunk{}, c.lost(ctx, err))
			return
		}
		var next Chunk
		for {
			_ = conn.SetReadDeadline(time.Now().Add(messageWait))
			kind, p, err := conn.ReadMessage()
			switch {
			case err != nil:
				yield(Chunk{}, c.hungUp(ctx, err))
				return
			case kind == websocket.BinaryMessage:
				if next.Samples, err = pcm(p); err != nil {
					yield(Chunk{}, err)
					return
				}
				if !yield(next, nil) {
					return
				}
				next = Chunk{}
			case string(p) == "EOS":
				return
			default:
				if err := next.note(p); err != nil {
					yield(Chunk{}, err)
					return
				}
			}
		}
	}
}

// note reads a message in JSON about the sound that follows; what it does not know
// it leaves out.
func (k *Chunk) note(p []byte) error {
	if p = bytes.TrimSpace(p); len(p) == 0 || p[0] != '{' {
		return nil
	}
	var m struct {
		Type string  `json:"type"`
		TTFB float64 `json:"ttfb_ms"`
		Data struct {
			Code      string `json:"code"`
			Message   string `json:"message"`
			Detail    string `json:"detail"`
			Retryable bool   `json:"retryable"`
		} `json:"data"`
	}
	if json.Unmarshal(p, &m) != nil {
		return nil
	}
	switch {
	case m.Type == "error":
		return &Error{Code: m.Data.Code, Message: m.Data.Message, Detail: m.Data.Detail, Retryable: m.Data.Retryable}
	case m.Type == "timing" && m.TTFB > 0:
		k.TTFB = time.Duration(m.TTFB * float64(time.Millisecond))
	}
	return nil
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
