package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"

	"parley/api/wire"
)

// MaxUpload is the largest recording that a server takes, in bytes.
const MaxUpload = 25 << 20

// ErrLargeRecording says that a recording is above MaxUpload.
var ErrLargeRecording = fmt.Errorf("the recording is larger than the %d MB that a server takes", MaxUpload>>20)

// Recording is audio to send, in whatever container: the server looks inside.
type Recording struct {
	Data io.Reader
	Size int64 // in bytes
}

// Transcript is what was said in a recording.
type Transcript struct {
	Text      string                      `json:"text"`
	Language  string                      `json:"language"`
	Engine    string                      `json:"engine"`
	Seconds   float64                     `json:"duration_seconds"`
	LatencyMS float64                     `json:"latency_ms"` // what recognition took
	Rate      int                         `json:"sample_rate"`
	Segments  []wire.TranscriptionSegment `json:"segments,omitempty"`
}

// Transcribe recognises a recording. Without a language the server finds it out.
func (c *Client) Transcribe(ctx context.Context, r Recording, language string) (*Transcript, error) {
	return decode[Transcript](ctx, c)(c.upload(ctx, r, language, c.address("stt", "transcribe")))
}

// Denoise returns a recording without its noise, as a WAV file. engine is spectral or gtcrn, or empty for the server's choice.
func (c *Client) Denoise(ctx context.Context, r Recording, engine string) (*Audio, error) {
	with := url.Values{}
	if engine != "" {
		with.Set("engine", engine)
	}
	return c.audio(ctx, maxOneShot)(c.upload(ctx, r, "", c.query(with, "denoise")))
}

// AddSound adds a recording to the sounds of the account, which callers hear while somebody is called for them.
func (c *Client) AddSound(ctx context.Context, name string, r Recording) (*wire.Sound, error) {
	return decode[wire.Sound](ctx, c)(c.upload(ctx, r, "", c.query(url.Values{"name": {name}}, "v1", "sounds")))
}

// SoundAudio fetches the audio of a sound, as a WAV file.
func (c *Client) SoundAudio(ctx context.Context, id string) (*Audio, error) {
	return c.audio(ctx, maxOneShot)(c.send(ctx, http.MethodGet, c.address("v1", "sounds", id, "audio"), nil))
}

// upload sends a recording as the form field "audio".
func (c *Client) upload(ctx context.Context, r Recording, language string, to *url.URL) (*http.Response, error) {
	switch {
	case r.Size > MaxUpload:
		return nil, ErrLargeRecording
	case r.Size <= 0:
		return nil, errors.New("the recording is empty")
	}
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	if language != "" {
		if err := w.WriteField("language", language); err != nil {
			return nil, err
		}
	}
	if _, err := w.CreateFormFile("audio", "audio"); err != nil {
		return nil, err
	}
	before := form.Len()
	if err := w.Close(); err != nil {
		return nil, err
	}
	head, tail := form.Bytes()[:before], form.Bytes()[before:]
	body := io.MultiReader(bytes.NewReader(head), io.LimitReader(r.Data, r.Size), bytes.NewReader(tail))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), body)
	if err != nil {
		return nil, err
	}
	req.ContentLength = int64(form.Len()) + r.Size
	req.Header.Set("Content-Type", w.FormDataContentType())
	req.Header.Set("Expect", "100-continue")
	return c.request(req)
}
