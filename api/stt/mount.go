package stt

import (
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
)

// Where the routes are.
const (
	TranscribePath = "/stt/transcribe"
	LivePath       = "/ws/stt"
)

// Mount adds both routes to an API.
func Mount(a *api.API, o Options) {
	s := newService(o)
	a.Handle(api.Route{Access: api.Service, Scope: api.Recognition, Operation: transcribeOperation(a.Document().Components.Schemas)}, http.HandlerFunc(s.transcribe))
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
		Responses: map[string]*huma.Response{"200": {Description: "What was said",
			Content: map[string]*huma.MediaType{"application/json": {Schema: schemas.Schema(reflect.TypeFor[transcription](), true, "")}}}},
		Errors: []int{http.StatusPaymentRequired, http.StatusUnsupportedMediaType, http.StatusGatewayTimeout},
	}
}

func liveOperation() huma.Operation {
	return huma.Operation{
		Method: http.MethodGet, Path: LivePath, OperationID: "transcribe-live", Tags: []string{tag},
		Summary: "Transcribe a live voice over a WebSocket",
		Description: "The client sends a text message `{\"language\": \"en\"}`, then audio in binary messages of any length (Int16 little endian, 16 kHz, mono), " +
			"no faster than it is spoken, and `{\"type\": \"end\"}` where an utterance is to end at once. It receives " +
			"`{\"type\": \"transcript\", \"data\": \"what was said\", \"isFinal\": false}`, in which each partial text replaces the one before and each utterance has one that is final, and " +
			"`{\"type\": \"error\", \"data\": \"a sentence\", \"code\": \"stt.language_not_supported\", \"detail\": \"\", \"retryable\": false}`. " +
			"Refusals after the upgrade are an error message and close code 1008. The audio taken is charged, per second; silence costs what speech does, and no audio nothing.",
		Responses: api.Answer(http.StatusSwitchingProtocols, "The stream", ""),
		Errors:    []int{http.StatusBadRequest},
	}
}
