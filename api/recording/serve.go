package recording

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/media"
	"parley/media/record"
	"parley/media/transcode"
	"parley/store/blob"
	"parley/store/history"
)

const path = "/v1/calls/{id}/recording"

var routes = api.Managed("Calls")

// Mount adds the routes.
func Mount(a *api.API, s *Service) {
	get := routes.Get(path, "get-call-recording", "Fetch the recording of a call",
		"The caller on the left, on the right what the caller heard, as Opus in Ogg; where a server has no encoder, and with format=wav, as WAV. "+
			"Parts of it can be asked for (Range). It is there some seconds after the end of the call, for as long as the account keeps recordings.",
		http.StatusNotFound, http.StatusConflict, http.StatusGone, http.StatusRequestedRangeNotSatisfiable)
	text := func(example string) *huma.Schema {
		return &huma.Schema{Type: huma.TypeString, Examples: []any{example}}
	}
	get.Parameters = []*huma.Param{
		{Name: "id", In: "path", Required: true, Description: "The call's identifier.", Schema: text("ses_06er5bt0v9k1o7m2q3s4t5u6v0")},
		{Name: "format", In: "query", Description: "What it is to be; without it as it is kept, which is ogg but where a server has no encoder.",
			Schema: &huma.Schema{Type: huma.TypeString, Enum: []any{"ogg", "wav"}}, Example: "wav"},
		{Name: "Range", In: "header", Description: "The part that is wanted (RFC 9110, section 14).", Schema: text("bytes=0-65535")},
	}
	content := map[string]*huma.MediaType{}
	for _, kind := range formats {
		content[kind] = &huma.MediaType{Schema: api.Bytes(kind)}
	}
	get.Responses = map[string]*huma.Response{
		"200": {Description: "The recording", Content: content},
		"206": {Description: "The part of it that was asked for", Content: content},
	}
	a.Handle(get, api.HandlerFunc(s.serve))
	s.mountPeaks(a)
	api.Register(a, routes.Delete(path, "delete-call-recording", "Delete the recording of a call",
		"For good. That there was one stays with the call. What is deleted while the call lasts is not kept when it ends; deleting it again changes nothing.",
		http.StatusNotFound), s.drop)
	api.Register(a, routes.Delete("/v1/calls/{id}", "delete-call", "Delete the transcript and recording of a call",
		"For good: transcript, events, recording, SIP messages, summary, extracted data, and what the call could be replayed from. A customer database that "+
			"has no note of the call yet gets none. That there was the call stays, with its numbers, times, cost, sound quality and evidence of consent. "+
			"Of a call that lasts nothing is kept when it ends; deleting it again changes nothing.",
		http.StatusNotFound), s.forget)
}

type callInput struct {
	ID string `path:"id" doc:"The call's identifier." maxLength:"100" example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
}

// drop is DELETE.
func (s *Service) drop(ctx context.Context, in *callInput) (*struct{}, error) {
	return nil, s.gone(ctx, in.ID, s.history.DeleteRecording(ctx, api.AccountOf(ctx), in.ID))
}

// forget is DELETE of the call.
func (s *Service) forget(ctx context.Context, in *callInput) (*struct{}, error) {
	return nil, s.gone(ctx, in.ID, s.history.ForgetCall(ctx, api.AccountOf(ctx), in.ID))
}

// gone removes the files of a call that was deleted, unless err says that it was not. They go at
// once where they are at hand, else with the next round of a node that has them.
func (s *Service) gone(ctx context.Context, call string, err error) error {
	if err == nil {
		s.removeFiles(ctx, call)
		s.copies.drop(call)
	}
	return err
}

// serve is GET, and HEAD, for which nothing is decoded.
func (s *Service) serve(w http.ResponseWriter, r *http.Request) error {
	found, err := s.history.Recording(r.Context(), api.PrincipalOf(r.Context()).Account, r.PathValue("id"))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	file, format, err := s.open(ctx, found, r.URL.Query().Get("format"), s.Store.Now())
	if err != nil {
		return err
	}
	defer file.Close()
	audio, size := io.ReadSeeker(file), file.Size
	if format != found.Format && r.Method != http.MethodHead {
		copied, length, done, err := s.wav(ctx, found)
		if err != nil {
			return err
		}
		defer done()
		audio, size = copied, length
	}
	h := w.Header()
	h.Set("Content-Type", formats[format])
	h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s.%s"`, found.Call, format))
	h.Set("ETag", `"`+found.Call+"."+format+`"`)
	if r.Method == http.MethodHead && format != found.Format { // its length is not known
		h.Set("Accept-Ranges", "bytes")
		h.Set("Last-Modified", found.EndedAt.UTC().Format(http.TimeFormat))
		return nil
	}
	patience := readGrace + time.Duration(size/leastSpeed)*time.Second
	defer time.AfterFunc(patience, cancel).Stop() // the store may be as slow as the reader
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(patience))       // what cannot has none
	defer func() { _ = control.SetWriteDeadline(time.Time{}) }() // of the next request
	http.ServeContent(&parts{ResponseWriter: w}, r, "", *found.EndedAt, audio)
	return nil
}

// parts answers a range that cannot be satisfied with the error that all errors are.
type parts struct {
	http.ResponseWriter
	refused bool
}

func (p *parts) WriteHeader(status int) {
	if status != http.StatusRequestedRangeNotSatisfiable {
		p.ResponseWriter.WriteHeader(status)
		return
	}
	p.refused = true
	for _, name := range []string{"Content-Disposition", "ETag", "Last-Modified"} {
		p.Header().Del(name) // they are the recording's
	}
	api.WriteError(p.ResponseWriter, api.ErrAudioRange)
}

func (p *parts) Write(b []byte) (int, error) {
	if p.refused {
		return len(b), nil
	}
	return p.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (p *parts) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// open opens the file of a recording, which is read within ctx, and says which format it was asked for in.
func (s *Service) open(ctx context.Context, r *history.Recording, wanted string, now time.Time) (file *blob.Reader, format string, err error) {
	wanted = strings.ToLower(wanted)
	switch {
	case wanted != "" && formats[wanted] == "":
		return nil, "", api.Bad("format: ogg or wav")
	case r.State == history.RecordingRuns, r.State == history.RecordingEncodes:
		return nil, "", api.ErrAudioPending
	case r.State != history.RecordingReady, !now.Before(r.ExpiresAt):
		return nil, "", api.ErrAudioGone
	}
	file, err = blob.Open(ctx, s.Files, key(r.Call, r.Format))
	switch {
	case errors.Is(err, fs.ErrNotExist) && r.Node != s.Node && !s.Shared:
		return nil, "", api.ErrAudioAway
	case errors.Is(err, fs.ErrNotExist):
		return nil, "", api.ErrAudioGone
	case err == nil && wanted == "wav":
		return file, wanted, nil
	}
	return file, r.Format, err
}

const (
	// decodeTime bounds the decoding of a recording.
	decodeTime = 5 * time.Minute
	// leastSpeed is what a reader has to take, in bytes a second, after readGrace.
	leastSpeed = 64 << 10
	readGrace  = 30 * time.Second
)

// wav is a recording as a WAV file, of so many bytes, which others read, too: call done when it is read.
func (s *Service) wav(ctx context.Context, r *history.Recording) (file io.ReadSeeker, size int64, done func(), err error) {
	copied, done, err := s.copies.take(ctx, r.Account, r.Call, func(ctx context.Context) (*os.File, error) { return s.decoded(ctx, r) })
	if err != nil {
		return nil, 0, nil, err
	}
	info, err := copied.Stat()
	if err != nil {
		done()
		return nil, 0, nil, err
	}
	return io.NewSectionReader(copied, 0, info.Size()), info.Size(), done, nil
}

// decoded is a recording as a WAV file, in a file without a name.
func (s *Service) decoded(ctx context.Context, r *history.Recording) (*os.File, error) {
	ctx, cancel := context.WithTimeout(ctx, decodeTime)
	defer cancel()
	ogg, err := blob.Open(ctx, s.Files, key(r.Call, r.Format))
	if err != nil {
		return nil, err
	}
	defer ogg.Close()
	out, err := s.unnamed()
	if err != nil {
		return nil, err
	}
	free, err := s.free()
	if size := uint64(r.Length.Seconds()*float64(r.Rate)) * sample; err == nil && free < size+leastFree {
		api.LogOf(ctx, s.Log).Warn("a recording is not decoded: the disk is almost full", "session", r.Call)
		err = api.ErrBusy
	}
	if err == nil {
		err = transcode.OpusToWAV(ctx, out, ogg, media.Rate(r.Rate), record.Channels)
	}
	if errors.Is(err, transcode.ErrNoDecoder) {
		err = api.Bad("format: this server can only send the recording as ogg")
	}
	if err != nil {
		_ = out.Close() // the first error says more
		return nil, err
	}
	return out, nil
}
