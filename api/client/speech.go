package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"parley/api/wire"
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
	// Engine names the engine of the server that speaks; empty: those that it uses. Only Synthesize sends it on.
	Engine string `json:"engine,omitempty"`
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
	return c.audio(ctx, maxOneShot)(c.send(ctx, http.MethodPost, c.address("tts", "synthesize"), s))
}

// audio is an answer of most bytes that is sound.
func (c *Client) audio(ctx context.Context, most int64) func(*http.Response, error) (*Audio, error) {
	return func(resp *http.Response, err error) (*Audio, error) {
		if err != nil {
			return nil, err
		}
		seconds, _ := strconv.ParseFloat(resp.Header.Get("X-Audio-Duration-Seconds"), 64) // 0 when it does not say
		return &Audio{
			ReadCloser: &answer{body: resp.Body, r: &bounded{r: resp.Body, left: most}, c: c, ctx: ctx},
			Size:       resp.ContentLength, Seconds: seconds, Type: resp.Header.Get("Content-Type"),
		}, nil
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

// Format is how the sound of a task is written.
type Format string

// The formats of tasks.
const (
	WAV  Format = "wav"  // 16 bits, 44.1 kHz, mono
	MP3  Format = "mp3"  //
	PCM  Format = "pcm"  // the samples of WAV without its header
	ULaw Format = "ulaw" // G.711, 8 kHz, without a header
)

// The states in which a task has ended.
const (
	Completed = "completed"
	Failed    = "failed"
)

// over says whether a task has ended, well or not.
func over(t *wire.Task) bool { return t.Status == Completed || t.Status == Failed }

// Submit gives the server a text of up to MaxLongText code points to speak.
func (c *Client) Submit(ctx context.Context, s Speech, f Format) (*wire.Task, error) {
	body := struct {
		Speech
		Format Format `json:"output_format"`
	}{s, f}
	t, err := ask[wire.Task](ctx, c, http.MethodPost, c.address("api", "tts", s.Voice, "async"), body)
	if err == nil && t.TaskID == "" {
		return nil, errors.New("the server's answer names no task")
	}
	return t, err
}

// Task reads the status of a task.
func (c *Client) Task(ctx context.Context, id string) (*wire.Task, error) {
	return ask[wire.Task](ctx, c, http.MethodGet, c.address("api", "tts", "tasks", id), nil)
}

// How often Await asks: short tasks should not wait for a long pause, and long ones
// not be asked about all the time. It goes on after so many failures in a row that
// another try may mend.
const (
	firstPause  = 200 * time.Millisecond
	maxPause    = 3 * time.Second
	maxFailures = 5
)

// Await asks until the task has ended and reports each answer to each, unless that
// is nil. A task that failed is an *Error.
func (c *Client) Await(ctx context.Context, id string, each func(*wire.Task)) (*wire.Task, error) {
	failures := 0
	for pause := firstPause; ; pause = min(pause*3/2, maxPause) {
		t, err := c.Task(ctx, id)
		switch {
		case err == nil:
			failures = 0
			if each != nil {
				each(t)
			}
		case ctx.Err() != nil || !mayMend(err) || failures == maxFailures:
			return nil, err
		default:
			failures++
		}
		if err == nil && over(t) {
			return t, failure(t)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// mayMend says whether asking again may help.
func mayMend(err error) bool {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Retryable
	}
	return true // the connection
}

func failure(t *wire.Task) error {
	if t.Status != Failed {
		return nil
	}
	e := &Error{Message: "The task failed."}
	if t.Error != nil {
		e.Code, e.Message = t.Error.Code, t.Error.Message
	}
	return e
}

// Download returns the sound of a completed task.
func (c *Client) Download(ctx context.Context, id string) (*Audio, error) {
	return c.audio(ctx, maxResult)(c.send(ctx, http.MethodGet, c.address("api", "tts", "tasks", id, "download"), nil))
}

// Cancel ends a task that waits or runs. It costs nothing, and is forgotten.
func (c *Client) Cancel(ctx context.Context, id string) error {
	_, err := ask[wire.Task](ctx, c, http.MethodDelete, c.address("api", "tts", "tasks", id), nil)
	return err
}
