// Package stt is recognition as a service: POST /stt/transcribe takes a recording,
// the WebSocket /ws/stt a live voice. Both cut the audio into utterances by voice
// activity and let an inference.ASR recognise one after the other; what is charged
// is the time of the audio.
package stt

import (
	"context"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/socket"
	"parley/api/upload"
	"parley/api/wire"
	"parley/inference"
)

// Options are what the routes work with.
type Options struct {
	ASR     inference.ASR // nil: no language is recognised
	VAD     string        // name of the detector that finds the utterances, one that vad.New knows
	Books   api.Books
	Sockets *socket.Set
	Log     *slog.Logger // nil: nothing is logged
}

const (
	// maxJobs bounds the recordings that are worked on at once, half of them of one
	// account: each may be 100 MB while its JSON is read. jobWait is how long one
	// waits for its turn.
	maxJobs = 8
	jobWait = 20 * time.Second
	// openWait is how long a recogniser may take to open: longer than to load its
	// largest model on a busy machine.
	openWait = 10 * time.Second
)

// service is both routes.
type service struct {
	asr   inference.ASR
	vad   string
	books api.Books
	set   *socket.Set
	jobs  *upload.Gate
	log   *slog.Logger
}

func newService(o Options) *service {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	asr := o.ASR
	if asr != nil { // a stream that is lost is opened once more and hears again what it owes
		asr = inference.NewFailoverASR(inference.FailoverConfig{First: openWait, Failed: func(engine string, err error) {
			o.Log.Warn("a recogniser failed", "engine", engine, "err", err)
		}}, o.ASR)
	}
	return &service{asr: asr, vad: o.VAD, books: o.Books, set: o.Sockets, jobs: upload.NewGate(maxJobs, jobWait), log: o.Log}
}

// open opens a recogniser. Its errors are those of the error table; the language
// is left to the recogniser when it is empty.
func (s *service) open(ctx context.Context, language string) (inference.Recognition, error) {
	r, err := s.asr.Open(ctx, inference.ASRConfig{Language: language})
	switch {
	case err == nil:
		return r, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case inference.FaultOf(err) == inference.ErrLanguage:
		return nil, api.ErrDeaf
	}
	return nil, api.ErrRecognition
}

var languages = []string{"en", "es", "pt", "fr", "it", "de"}

// Languages lists the codes of the languages that can be recognised, on a server
// whose recogniser knows them. The caller owns the slice.
func Languages() []string { return slices.Clone(languages) }

// Language is the two-letter code of a language tag such as en-US or PT_br. An
// empty tag leaves the language to the recogniser and gives an empty code. What
// cannot be recognised on any server gives api.ErrUnheard.
func Language(tag string) (string, error) {
	tag = strings.ToLower(strings.TrimSpace(tag))
	if tag == "" {
		return "", nil
	}
	code, _, _ := strings.Cut(strings.ReplaceAll(tag, "_", "-"), "-")
	if !slices.Contains(languages, code) {
		return "", api.ErrUnheard
	}
	return code, nil
}

// heard is Language on a server with this recogniser, or with none: it refuses
// with api.ErrDeaf what other servers could recognise.
func heard(engine inference.ASR, tag string) (string, error) {
	code, err := Language(tag)
	switch {
	case err != nil:
		return "", err
	case engine == nil, code != "" && !slices.Contains(engine.Info().Languages, code):
		return "", api.ErrDeaf
	}
	return code, nil
}

// spoken is the language to name in an answer. Who leaves it to a recogniser of
// several languages is not told which it was, for recognisers do not say.
func spoken(engine inference.ASR, code string) string {
	if known := engine.Info().Languages; code == "" && len(known) == 1 {
		return known[0]
	}
	return code
}

// Where the routes are.
const (
	TranscribePath = "/stt/transcribe"
	LivePath       = "/ws/stt"
)

// Mount adds both routes to an API.
func Mount(a *api.API, o Options) {
	s := newService(o)
	a.Handle(api.Route{Access: api.Service, Scope: api.Recognition, Operation: transcribeOperation(a.Document().Components.Schemas)}, api.HandlerFunc(s.transcribe))
	a.Handle(api.Route{Access: api.Service, Scope: api.Recognition, Operation: liveOperation()}, http.HandlerFunc(s.live))
}

const tag = "Speech"

func transcribeOperation(schemas huma.Registry) huma.Operation {
	language := &huma.Schema{Type: "string", Description: "en, es, pt, fr, it or de, with or without a region; without it the recogniser finds out.", Examples: []any{"en"}}
	sampleRate := func(what string) *huma.Schema {
		least, most := 4000.0, 192000.0
		return &huma.Schema{Type: "integer", Minimum: &least, Maximum: &most, Description: what, Examples: []any{16000}}
	}
	file := api.Bytes("application/octet-stream")
	file.Description = "WAV, MP3, AAC, Ogg, WebM, MP4, FLAC, or Int16 little endian PCM with a sample_rate. Its content decides, not its name."
	form := &huma.Schema{Type: "object", Required: []string{"audio"}, Properties: map[string]*huma.Schema{
		"audio":       file,
		"language":    language,
		"sample_rate": sampleRate("Samples a second of audio without a header."),
	}}
	body := &huma.Schema{Type: "object", Required: []string{"audio"}, Properties: map[string]*huma.Schema{
		"audio":       {Type: "string", ContentEncoding: "base64", Description: "The recording."},
		"format":      {Type: "string", Enum: []any{"pcm16", "wav"}, Default: "pcm16", Description: "pcm16 is Int16 little endian in one channel."},
		"sample_rate": sampleRate("Samples a second of pcm16; 16000 without it."),
		"language":    language,
	}}
	return huma.Operation{
		Method: http.MethodPost, Path: TranscribePath, OperationID: "transcribe", Tags: []string{tag}, MaxBodyBytes: maxBody,
		Summary: "Transcribe a recording",
		Description: "Takes a file of at most 25 MB and two hours, as a form or in JSON, and answers with its text when all of it is recognised. " +
			"The length of the audio is charged, per second; a request that fails costs nothing. A recording in which nobody speaks has an empty text.",
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			"multipart/form-data": {Schema: form},
			"application/json":    {Schema: body},
		}},
		Responses: map[string]*huma.Response{"200": {Description: "The transcript",
			Content: map[string]*huma.MediaType{"application/json": {Schema: schemas.Schema(reflect.TypeFor[wire.Transcription](), true, "")}}}},
		Errors: []int{http.StatusPaymentRequired, http.StatusUnsupportedMediaType, http.StatusGatewayTimeout},
	}
}

func liveOperation() huma.Operation {
	return huma.Operation{
		Method: http.MethodGet, Path: LivePath, OperationID: "transcribe-live", Tags: []string{tag},
		Summary: "Transcribe a live voice over a WebSocket",
		Description: "The client sends a text message `{\"language\": \"en\"}`, then audio in binary messages of any length (Int16 little endian, 16 kHz, mono), " +
			"no faster than it is spoken, and `{\"type\": \"end\"}` where an utterance is to end at once. It receives " +
			"`{\"type\": \"transcript\", \"data\": \"we are open\", \"isFinal\": false}`, in which each partial text replaces the one before and each utterance has one that is final, and " +
			"`{\"type\": \"error\", \"data\": \"a sentence\", \"code\": \"stt.language_not_supported\", \"detail\": \"\", \"retryable\": false}`. " +
			"Refusals after the upgrade are an error message and close code 1008. The audio taken is charged, per second; silence costs what speech does, and no audio nothing.",
		Responses: api.Answer(http.StatusSwitchingProtocols, "The stream", ""),
		Errors:    []int{http.StatusBadRequest},
	}
}
