package client

import (
	"context"
	"io"
	"net/http"
	"strconv"
)

// MaxText is the longest text of Synthesize and Stream, in code points; MaxLongText
// that of a task.
const (
	MaxText     = 5_000
	MaxLongText = 100_000
)

// Speech is a text and how it is to be spoken.
type Speech struct {
	Text     string  `json:"text"`
	Voice    string  `json:"voice"`           // F1 to F5, M1 to M5
	Language string  `json:"language"`        // en es ca gl eu pt fr it de
	Speed    float64 `json:"speed,omitempty"` // 0.5 to 2.0; 0: the server's 1.05
	Steps    int     `json:"steps,omitempty"` // quality, 1 to 8; 0: the server's 6
}

// Audio is sound on its way from the server. The caller reads it to the end and
// closes it; a Read that fails has not got all of it.
type Audio struct {
	io.ReadCloser
	Size    int64   // in bytes; -1: the server does not say
	Seconds float64 // of sound; 0: the server does not say
	Type    string  // such as audio/wav
}

// Synthesize speaks a text of up to MaxText code points and returns a WAV file,
// 16 bits, 44.1 kHz, mono.
func (c *Client) Synthesize(ctx context.Context, s Speech) (*Audio, error) {
	resp, err := c.ask(ctx, http.MethodPost, c.address("tts", "synthesize"), s)
	if err != nil {
		return nil, err
	}
	return c.audio(ctx, resp, maxOneShot), nil
}

func (c *Client) audio(ctx context.Context, resp *http.Response, most int64) *Audio {
	seconds, _ := strconv.ParseFloat(resp.Header.Get("X-Audio-Duration-Seconds"), 64) // 0 when it does not say
	return &Audio{
		ReadCloser: &answer{body: resp.Body, r: &bounded{r: resp.Body, left: most}, c: c, ctx: ctx},
		Size:       resp.ContentLength, Seconds: seconds, Type: resp.Header.Get("Content-Type"),
	}
}

// answer reads the body of a response and names its failures as the client does.
type answer struct {
	body io.Closer
	r    io.Reader
	c    *Client
	ctx  context.Context // the request's: its end is the reason for a failure
}

func (a *answer) Read(p []byte) (int, error) {
	n, err := a.r.Read(p)
	if err != nil && err != io.EOF {
		err = a.c.lost(a.ctx, err)
	}
	return n, err
}

func (a *answer) Close() error { return a.body.Close() }
