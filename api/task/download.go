package task

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/store/ledger"
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
func (s *Service) download(w http.ResponseWriter, r *http.Request) {
	t, err := ledger.New(s.Store).Task(r.Context(), api.PrincipalOf(r.Context()).Account, r.PathValue("task_id"))
	if err != nil {
		api.WriteError(w, err)
		return
	}
	file, f, err := s.result(t, s.Store.Now())
	if err != nil {
		api.WriteError(w, err)
		return
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		api.WriteError(w, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", f.mediaType)
	h.Set("Content-Length", strconv.FormatInt(info.Size(), 10))
	h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s.%s"`, t.ID, f.extension))
	h.Set("X-Audio-Duration-Seconds", strconv.FormatFloat(t.Duration.Seconds(), 'f', 3, 64))
	_, _ = io.Copy(w, file) // the client has gone: nobody to tell
}

// result opens what a task has produced, or returns why that cannot be had. What
// another node has made is not here, and counts as gone.
func (s *Service) result(t *ledger.Task, now time.Time) (*os.File, format, error) {
	f, ok := formatNamed(t.Format)
	switch {
	case t.Status != ledger.TaskCompleted || !ok:
		return nil, f, api.ErrNotReady
	case !now.Before(*t.ExpiresAt):
		return nil, f, api.ErrExpired
	}
	file, err := os.Open(s.path(t, f))
	if errors.Is(err, fs.ErrNotExist) {
		err = api.ErrExpired
	}
	return file, f, err
}
