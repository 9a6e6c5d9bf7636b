// Package denoise serves POST /denoise: a recording comes in, the same without its
// noise goes out, at the same rate and of the same length to the sample. The usual
// engine cleans every rate over its whole band. The recording is gone through twice, first
// to learn the noise, and the answer is written while it is cleaned, so that two
// hours of audio are never in memory.
package denoise

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
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
	// neuralAtOnce is how many of these the neural network cleans: one takes a processor for
	// minutes where spectral needs seconds, and calls must have the others.
	neuralAtOnce = 1
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
	slow  *upload.Gate // before it, for the neural network
}

// newHandler returns a handler that charges in books.
func newHandler(books api.Books) *handler {
	return &handler{books: books, gate: upload.NewGate(atOnce, gateWait), slow: upload.NewGate(neuralAtOnce, gateWait)}
}

func (h *handler) serve(w http.ResponseWriter, r *http.Request) error {
	if err := upload.CheckType(r); err != nil {
		return err
	}
	engine := cmp.Or(r.URL.Query().Get(engineParam), denoise.Spectral)
	if !slices.Contains(engines, engine) {
		return api.Bad("The engine is %s; allowed are %s.", strconv.Quote(engine), strings.Join(engines, " and "))
	}
	who := api.PrincipalOf(r.Context())
	leave, err := h.enter(r.Context(), who.Account, engine)
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
	rec, err := denoise.NewRecording(engine, clip.Rate(), clip.Samples())
	if _, refused := errors.AsType[*denoise.Error](err); refused {
		return api.Bad("The engine %s takes no recordings of %d samples a second.", engine, clip.Rate())
	}
	if err != nil {
		return err
	}
	return h.clean(r.Context(), w, who, clip, rec)
}

// enter takes a place for a recording that the engine cleans, which leave gives back.
func (h *handler) enter(ctx context.Context, account, engine string) (leave func(), err error) {
	if engine != denoise.GTCRN {
		return h.gate.Enter(ctx, account)
	}
	slow, err := h.slow.Enter(ctx, account)
	if err != nil {
		return nil, err
	}
	fast, err := h.gate.Enter(ctx, account)
	if err != nil {
		slow()
		return nil, err
	}
	return func() { fast(); slow() }, nil
}

// clean answers with the clip without its noise, which rec removes. It returns an error
// while nothing has been sent.
func (h *handler) clean(ctx context.Context, w http.ResponseWriter, who api.Principal, clip transcode.Clip, rec denoise.Recording) error {
	work, err := h.books.Begin(ctx, who, api.Job{Kind: billing.Denoise, Expected: milliseconds(clip.Samples(), clip.Rate())})
	if err != nil {
		return err
	}
	defer work.End(isolate.Internal)                               // where nothing else has: a panic
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
func answer(ctx context.Context, w http.ResponseWriter, rec denoise.Recording, clip transcode.Clip) (int64, error) {
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

// engineParam is the parameter that says which of the engines cleans; the first of them unless it does.
const engineParam = "engine"

var engines = []string{denoise.Spectral, denoise.GTCRN}

// Mount adds the route to an API. The work is charged in books.
func Mount(a *api.API, books api.Books) {
	file := api.Bytes("application/octet-stream")
	file.Description = "The recording."
	a.Handle(api.Route{Access: api.Service, Scope: api.Denoising, Operation: huma.Operation{
		Method: http.MethodPost, Path: Path, OperationID: "denoise", Tags: []string{"Speech"},
		Summary: "Remove the noise from a recording",
		Parameters: []*huma.Param{{Name: engineParam, In: "query", Description: "What cleans it: spectral, over the whole band; or gtcrn, a neural network that removes more " +
			"of a car and of hiss, but also of voices where others talk, and what is above 8 kHz. It takes twenty times as long, one recording at a time.",
			Schema: &huma.Schema{Type: huma.TypeString, Enum: []any{denoise.Spectral, denoise.GTCRN}, Default: denoise.Spectral}, Example: denoise.Spectral}},
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
