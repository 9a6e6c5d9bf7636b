// Package denoise serves POST /denoise: a recording comes in, the same without its
// noise goes out, at the same rate and of the same length to the sample. Every
// rate is cleaned over its whole band. The recording is gone through twice, first
// to learn the noise, and the answer is written while it is cleaned, so that two
// hours of audio are never in memory.
package denoise

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/upload"
	"parley/billing"
	"parley/media"
	"parley/media/denoise"
	"parley/media/isolate"
	"parley/media/transcode"
	"parley/media/wav"
)

const (
	// atOnce bounds the recordings in memory: 25 MB each, and as much processor as
	// there is besides the calls.
	atOnce = 4
	// gateWait is how long a request waits for room before it is refused.
	gateWait = 10 * time.Second
	// block is how many samples are cleaned at a time.
	block = 32 << 10
	// A client has sendTime and a quarter of the recording's length to take the
	// answer; one that is slower must not hold a place for ever.
	sendTime  = time.Minute
	sendRatio = 4
)

// handler cleans recordings.
type handler struct {
	books api.Books
	gate  *upload.Gate
}

// newHandler returns a handler that charges in books.
func newHandler(books api.Books) *handler {
	return &handler{books: books, gate: upload.NewGate(atOnce, gateWait)}
}

func (h *handler) serve(w http.ResponseWriter, r *http.Request) error {
	if err := upload.CheckType(r); err != nil {
		return err
	}
	who := api.PrincipalOf(r.Context())
	leave, err := h.gate.Enter(r.Context(), who.Account)
	if err != nil {
		return err
	}
	defer leave()
	file, err := upload.Read(w, r)
	if err != nil {
		return err
	}
	clip, err := transcode.Decode(r.Context(), file.Data, transcode.Options{})
	if err != nil {
		return upload.Fault(err)
	}
	defer clip.Close()
	return h.clean(r.Context(), w, who, clip)
}

// clean answers with the clip without its noise. It returns an error while nothing
// has been sent.
func (h *handler) clean(ctx context.Context, w http.ResponseWriter, who api.Principal, clip transcode.Clip) error {
	work, err := h.books.Begin(ctx, who, billing.Denoise, milliseconds(clip.Samples(), clip.Rate()))
	if err != nil {
		return err
	}
	defer work.End(isolate.Internal) // where nothing else has: a panic
	rec := denoise.NewRecording(clip.Rate(), clip.Samples())
	err = each(work.Context(), clip, func(samples []int16) error { // for the first time
		rec.Learn(samples)
		return nil
	})
	if err != nil {
		work.End(err)
		return api.Stopped(err)
	}
	sent, err := answer(work.Context(), w, rec, clip)
	// What the client has is paid for, also when it did not wait for the rest; but
	// a recording that breaks off by our fault costs nothing.
	if err == nil || errors.Is(err, context.Canceled) {
		work.Used(milliseconds(sent, clip.Rate()))
	}
	work.End(err)
	return nil
}

// milliseconds is the length of n samples, rounded up.
func milliseconds(n int64, rate media.Rate) int64 {
	return (n*1000 + int64(rate) - 1) / int64(rate)
}

// each hands out the whole clip in blocks.
func each(ctx context.Context, clip transcode.Clip, take func([]int16) error) error {
	samples := make([]int16, block)
	r := clip.Open()
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n, err := r.Read(samples)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := take(samples[:n]); err != nil {
			return err
		}
	}
}

// errGone says that the client does not take its answer. To the books that is a
// cancelled request.
var errGone = &gone{}

type gone struct{}

func (*gone) Error() string        { return "the client does not take the answer" }
func (*gone) Is(target error) bool { return target == context.Canceled }

// answer goes through the recording for the second time and sends it, and returns
// how many samples the client took.
func answer(ctx context.Context, w http.ResponseWriter, rec *denoise.Recording, clip transcode.Clip) (int64, error) {
	h := w.Header()
	h.Set("Content-Type", "audio/wav")
	h.Set("Content-Length", strconv.FormatInt(wav.HeaderSize+2*clip.Samples(), 10))
	h.Set("X-Audio-Duration-Seconds", strconv.FormatFloat(float64(clip.Samples())/float64(clip.Rate()), 'f', 3, 64))
	deadline := time.Now().Add(sendTime + clip.Duration()/sendRatio)
	if err := http.NewResponseController(w).SetWriteDeadline(deadline); err == nil {
		defer func() { _ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) }() // it could be set before
	}
	if wav.WriteHeader(w, clip.Rate(), clip.Samples()) != nil {
		return 0, errGone
	}
	s := sender{w: w}
	err := each(ctx, clip, func(samples []int16) error {
		s.clean = rec.Clean(s.clean[:0], samples)
		return s.send()
	})
	if err == nil {
		s.clean = rec.Finish(s.clean[:0])
		err = s.send()
	}
	return s.sent, err
}

// sender writes samples to a client.
type sender struct {
	w     io.Writer
	clean []int16
	bytes []byte
	sent  int64 // samples
}

func (s *sender) send() error {
	s.bytes = media.AppendPCM(s.bytes[:0], s.clean)
	n, err := s.w.Write(s.bytes)
	s.sent += int64(n / 2)
	if err != nil {
		return errGone
	}
	return nil
}

// Path is where recordings are sent.
const Path = "/denoise"

// Mount adds the route to an API. The work is charged in books.
func Mount(a *api.API, books api.Books) {
	file := api.Bytes("application/octet-stream")
	file.Description = "The recording."
	a.Handle(api.Route{Access: api.Service, Scope: api.Denoising, Operation: huma.Operation{
		Method: http.MethodPost, Path: Path, OperationID: "denoise", Tags: []string{"Speech"},
		Summary: "Remove the noise from a recording",
		Description: "Steady noise goes (hiss, hum, a car, a fan); other people's voices stay. The file is WAV, or MP3, AAC, Ogg, WebM, MP4 " +
			"or FLAC where the server can read these; its content decides, not its name. At most 25 MB and two hours. The answer has one " +
			"channel, the rate of the recording and exactly its length. Charged by the second of audio.",
		MaxBodyBytes: upload.MaxBody,
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			"audio/*": {Schema: file},
			"multipart/form-data": {Schema: &huma.Schema{Type: "object", Required: []string{"audio"},
				Properties: map[string]*huma.Schema{"audio": file}}},
		}},
		Responses: map[string]*huma.Response{"200": {Description: "The cleaned recording, 16-bit PCM",
			Content: map[string]*huma.MediaType{"audio/wav": {Schema: api.Bytes("audio/wav")}},
			Headers: map[string]*huma.Param{"X-Audio-Duration-Seconds": {
				Description: "How long it is: what was charged.", Schema: &huma.Schema{Type: "number"}, Example: 12.5}},
		}},
		Errors: []int{http.StatusPaymentRequired, http.StatusUnsupportedMediaType},
	}}, api.HandlerFunc(newHandler(books).serve))
}
