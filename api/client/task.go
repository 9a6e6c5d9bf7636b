package client

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// Format is how the sound of a task is written.
type Format string

// The formats of tasks.
const (
	WAV  Format = "wav"  // 16 bits, 44.1 kHz, mono
	MP3  Format = "mp3"  //
	PCM  Format = "pcm"  // the samples of WAV without its header
	ULaw Format = "ulaw" // G.711, 8 kHz, without a header
)

// The states of a task.
const (
	Pending    = "pending"
	Processing = "processing"
	Completed  = "completed"
	Failed     = "failed"
)

// Task is a synthesis in the background.
type Task struct {
	ID          string     `json:"task_id"`
	Status      string     `json:"status"` // Pending, Processing, Completed or Failed
	Progress    float64    `json:"progress"`
	Voice       string     `json:"voice_id"`
	Format      Format     `json:"output_format"`
	Characters  int        `json:"characters"` // code points
	Seconds     float64    `json:"duration_seconds"`
	CreatedAt   time.Time  `json:"created_at"`
	CompletedAt *time.Time `json:"completed_at"`
	ExpiresAt   *time.Time `json:"expires_at"` // when the result goes away
	Error       *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"` // of a task that failed
}

// Over says whether the task has ended, well or not.
func (t *Task) Over() bool { return t.Status == Completed || t.Status == Failed }

// Submit gives the server a text of up to MaxLongText code points to speak.
func (c *Client) Submit(ctx context.Context, s Speech, f Format) (*Task, error) {
	body := struct {
		Speech
		Format Format `json:"output_format"`
	}{s, f}
	var t Task
	if err := c.call(ctx, http.MethodPost, c.address("api", "tts", s.Voice, "async"), body, &t); err != nil {
		return nil, err
	}
	if t.ID == "" {
		return nil, errors.New("the server's answer names no task")
	}
	return &t, nil
}

// Task asks how far a task is.
func (c *Client) Task(ctx context.Context, id string) (*Task, error) {
	var t Task
	if err := c.call(ctx, http.MethodGet, c.address("api", "tts", "tasks", id), nil, &t); err != nil {
		return nil, err
	}
	return &t, nil
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
func (c *Client) Await(ctx context.Context, id string, each func(*Task)) (*Task, error) {
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
		if err == nil && t.Over() {
			return t, t.failure()
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

func (t *Task) failure() error {
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
	resp, err := c.ask(ctx, http.MethodGet, c.address("api", "tts", "tasks", id, "download"), nil)
	if err != nil {
		return nil, err
	}
	return c.audio(ctx, resp, maxResult), nil
}

// Cancel ends a task that waits or runs. It costs nothing, and is forgotten.
func (c *Client) Cancel(ctx context.Context, id string) error {
	var t Task
	return c.call(ctx, http.MethodDelete, c.address("api", "tts", "tasks", id), nil, &t)
}
