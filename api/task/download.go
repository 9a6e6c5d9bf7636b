package task

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/media"
	"parley/media/resample"
	"parley/media/transcode"
	"parley/store/blob"
	"parley/store/tasks"
)

// downloads describes the audio.
func downloads() map[string]*huma.Response {
	content := map[string]*huma.MediaType{}
	for _, f := range formats {
		kind, _, _ := strings.Cut(f.mediaType, ";")
		content[kind] = &huma.MediaType{Schema: api.Bytes(kind)}
	}
	text := &huma.Schema{Type: "string"}
	return map[string]*huma.Response{"200": {Description: "The audio in the output_format of the task", Content: content, Headers: map[string]*huma.Param{
		"Content-Disposition":      {Schema: text, Description: "The name of the file: the task's, with the format's extension."},
		"X-Audio-Duration-Seconds": {Schema: &huma.Schema{Type: "number"}, Description: "How long it is.", Example: 61.25},
	}}}
}

// download is GET /api/tts/tasks/{task_id}/download.
func (s *Service) download(w http.ResponseWriter, r *http.Request) error {
	t, err := s.tasks.Task(r.Context(), api.PrincipalOf(r.Context()).Account, r.PathValue("task_id"))
	if err != nil {
		return err
	}
	file, f, err := s.result(r.Context(), t, s.Store.Now())
	if err != nil {
		return err
	}
	defer file.Close()
	h := w.Header()
	h.Set("Content-Type", f.mediaType)
	h.Set("Content-Length", strconv.FormatInt(file.Size, 10))
	h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s.%s"`, t.ID, f.extension))
	h.Set("X-Audio-Duration-Seconds", strconv.FormatFloat(t.Duration.Seconds(), 'f', 3, 64))
	if _, err := io.Copy(w, file); errors.Is(err, blob.ErrUnavailable) {
		panic(http.ErrAbortHandler) // the client must notice that the rest is missing
	}
	return nil // or the client has gone
}

// result opens the result of a task for as long as ctx lasts, or returns why there is none. Without a shared store the
// result of another node counts as gone.
func (s *Service) result(ctx context.Context, t *tasks.Task, now time.Time) (*blob.Reader, format, error) {
	f, ok := formatNamed(t.Format)
	switch {
	case t.Status != tasks.Completed || !ok:
		return nil, f, api.ErrNotReady
	case !now.Before(*t.ExpiresAt):
		return nil, f, api.ErrExpired
	}
	file, err := blob.Open(ctx, s.Files, key(t, f))
	if errors.Is(err, fs.ErrNotExist) {
		err = api.ErrExpired
	}
	return file, f, err
}

// format is what a client may want its audio as: one channel, always.
type format struct {
	name      string // as clients write it
	kind      transcode.Format
	rate      media.Rate
	extension string
	mediaType string
}

// formats. Those with a rate in their name are of that rate; ulaw is a
// telephone's (audio/basic of RFC 2046). pcm is Int16 little endian.
var formats = []format{
	{"wav", transcode.WAV, media.Rate44k, "wav", "audio/wav"},
	{"mp3", transcode.MP3, media.Rate44k, "mp3", "audio/mpeg"},
	{"pcm", transcode.PCM, media.Rate44k, "pcm", "audio/pcm;rate=44100;channels=1"},
	{"ulaw", transcode.ULaw, media.Rate8k, "ulaw", "audio/basic"},
	{"pcm_22050", transcode.PCM, media.Rate22k, "pcm", "audio/pcm;rate=22050;channels=1"},
	{"mp3_22050", transcode.MP3, media.Rate22k, "mp3", "audio/mpeg"},
	{"ulaw_8000", transcode.ULaw, media.Rate8k, "ulaw", "audio/basic"},
}

func formatNamed(name string) (format, bool) {
	i := slices.IndexFunc(formats, func(f format) bool { return f.name == name })
	if i < 0 {
		return format{}, false
	}
	return formats[i], true
}

// formatFor is the format that a client has asked for, or ErrBadRequest.
func formatFor(name string) (format, error) {
	if name == "" {
		return formats[0], nil
	}
	f, ok := formatNamed(strings.ToLower(name))
	switch {
	case !ok:
		return f, api.Detail(api.ErrBadRequest, "output_format: the formats are "+strings.Join(formatNames(), " "))
	case f.kind == transcode.MP3 && !transcode.Available():
		return f, api.Bad("output_format: this server cannot write MP3; the others are wav pcm ulaw")
	}
	return f, nil
}

func formatNames() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// rewriter writes audio at the format's rate.
type rewriter struct {
	w     transcode.Writer
	conv  *resample.Resampler // nil: the rates are the same
	from  media.Rate
	to    media.Rate
	frame []int16 // the part of 20 ms that is there
}

func newRewriter(w transcode.Writer, from, to media.Rate) *rewriter {
	r := &rewriter{w: w, from: from, to: to}
	if from != to {
		r.conv = resample.New(from, to)
		r.frame = make([]int16, 0, from.FrameSamples())
	}
	return r
}

func (r *rewriter) write(samples []int16) error {
	if r.conv == nil {
		return r.w.Write(samples)
	}
	for len(samples) > 0 {
		n := min(len(samples), cap(r.frame)-len(r.frame))
		r.frame = append(r.frame, samples[:n]...)
		samples = samples[n:]
		if len(r.frame) == cap(r.frame) {
			if err := r.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush converts the frame. Of one that is not full only its own length is written:
// the converter gives whole frames.
func (r *rewriter) flush() error {
	if len(r.frame) == 0 {
		return nil
	}
	f := r.conv.Process(media.Frame{Samples: r.frame, Rate: r.from})
	n := (len(r.frame)*int(r.to) + int(r.from)/2) / int(r.from)
	r.frame = r.frame[:0]
	return r.w.Write(f.Samples[:min(n, len(f.Samples))])
}
