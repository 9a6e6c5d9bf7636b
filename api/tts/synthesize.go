package tts

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"parley/api"
	"parley/api/upload"
	"parley/billing"
	"parley/media"
	"parley/media/isolate"
	"parley/media/wav"
)

const (
	// patience is how long a whole text may take to be spoken: clients wait no longer.
	patience = time.Minute
	// atOnce bounds the answers in memory, for a file begins with its length: 0.3 MB
	// for a sentence, 35 MB for the longest text. gateWait is how long a request waits
	// for room before it is refused.
	atOnce   = 32
	gateWait = 10 * time.Second
	// A client has sendTime and a quarter of the audio's length to take the answer.
	sendTime  = time.Minute
	sendRatio = 4
	// maxBody holds MaxText code points, each written as two JSON escapes.
	maxBody = 128 << 10
)

// synthesizer answers POST /tts/synthesize.
type synthesizer struct {
	speech *Service
	find   Find
	books  api.Books
	log    *slog.Logger
	gate   *upload.Gate
}

func (h *synthesizer) serve(w http.ResponseWriter, r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return api.ReadError(err)
	}
	a, err := ParseAsk(body)
	if err != nil {
		return err
	}
	a.Visemes = false
	request, err := h.speech.Check(a, OneShot)
	if err != nil {
		return err
	}
	p := api.PrincipalOf(r.Context())
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	speech, err := h.named(ctx, p.Account, a.Engine)
	if err != nil {
		return err
	}
	leave, err := h.gate.Enter(ctx, p.Account)
	if err != nil {
		return err
	}
	defer leave()
	audio, samples, err := h.speak(ctx, p, speech, a.Engine, request)
	if err != nil {
		return err
	}
	send(w, audio, samples)
	return nil
}

// named is the service that speaks with the engine of that name; empty: with those that the server uses.
func (h *synthesizer) named(ctx context.Context, account, engine string) (*Service, error) {
	if engine == "" {
		return h.speech, nil
	}
	if h.find != nil {
		if found, ok := h.find(ctx, account, engine); ok {
			return New(found), nil
		}
	}
	return nil, api.Detail(api.ErrBadRequest, wrongName("engine", engine))
}

// speak speaks a text with the service of an engine, empty where the client named none, and
// charges for it. The books are closed before the client has its answer, so that its next
// request finds the place free.
func (h *synthesizer) speak(ctx context.Context, p api.Principal, speech *Service, engine string, r Request) (audio []Chunk, samples int, err error) {
	chars := int64(utf8.RuneCountInString(r.Text))
	work, err := h.books.Begin(ctx, p, api.Job{Kind: billing.TTS, Expected: chars, Engine: engine})
	if err != nil {
		return nil, 0, err
	}
	err = isolate.Internal // a panic
	defer func() {
		if err == nil && samples > 0 {
			work.Used(chars)
		}
		work.End(err)
	}()
	audio, samples, err = collect(work.Context(), speech, r)
	if err != nil && h.log != nil && !errors.Is(err, context.Canceled) && api.ProblemOf(err).Status >= 500 {
		api.LogOf(ctx, h.log).Warn("synthesis failed", "account", p.Account, "err", err)
	}
	return audio, samples, err
}

// collect is all the audio of a request.
func collect(ctx context.Context, speech *Service, r Request) (audio []Chunk, samples int, err error) {
	for c, err := range speech.Speak(ctx, r) {
		if err != nil {
			return nil, 0, err
		}
		audio = append(audio, c)
		samples += len(c.Samples)
	}
	return audio, samples, nil
}

// send writes a WAV file. A failure means that the client has gone.
func send(w http.ResponseWriter, audio []Chunk, samples int) {
	length := Rate.Duration(samples).Duration()
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(sendTime + length/sendRatio)) // not every writer can
	h := w.Header()
	h.Set("Content-Type", "audio/wav")
	h.Set("Content-Length", strconv.Itoa(wav.HeaderSize+2*samples))
	h.Set("X-Audio-Duration-Seconds", strconv.FormatFloat(length.Seconds(), 'f', 3, 64))
	if wav.WriteHeader(w, Rate, int64(samples)) != nil {
		return
	}
	var buf []byte
	for i := range audio {
		buf = media.AppendPCM(buf[:0], audio[i].Samples)
		audio[i].Samples = nil // the memory is needed for others
		if _, err := w.Write(buf); err != nil {
			return
		}
	}
}
