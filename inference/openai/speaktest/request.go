package speaktest

import (
	"cmp"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"parley/inference/enginetest/loopbacktest"
	"parley/inference/enginetest/speakingtest"
)

// maxInput is in characters.
const maxInput = 4096

// request is the body of a request.
type request struct {
	Model        string   `json:"model"`
	Voice        string   `json:"voice"`
	Input        string   `json:"input"`
	Instructions string   `json:"instructions"`
	Format       string   `json:"response_format"`
	Speed        *float64 `json:"speed"`
	Stream       string   `json:"stream_format"`
}

// steered is the model that takes instructions and has events, and more voices.
const steered = "gpt-4o-mini-tts"

var (
	models  = []string{steered, "tts-1"} // and those whose names begin so
	voices  = strings.Fields("alloy ash coral echo fable nova onyx sage shimmer")
	newer   = strings.Fields("ballad verse marin cedar")
	formats = []string{"pcm", "wav"} // that the fake can speak; the vendor has compressed ones too
	streams = []string{"", "audio", "sse"}
)

// read reads a request, and says why it is refused; nil: it is not. It does not look for the model.
func read(h http.Header, body []byte) (*request, *refusal) {
	r := &request{}
	if kind, _, err := mime.ParseMediaType(h.Get("Content-Type")); err != nil || kind != "application/json" {
		return r, &refusal{"you must use application/json", "Content-Type", "unsupported_content_type"}
	}
	if err := loopbacktest.Strict(body, r); err != nil {
		return r, &refusal{err.Error(), "body", "unknown_parameter"}
	}
	r.Format = cmp.Or(r.Format, "mp3")
	wrong := func(param, format string, args ...any) (*request, *refusal) {
		return r, &refusal{fmt.Sprintf(format, args...), param, "invalid_value"}
	}
	isSteered := strings.HasPrefix(r.Model, steered)
	switch n := utf8.RuneCountInString(r.Input); {
	case r.Model == "":
		return wrong("model", "is required")
	case n == 0 || n > maxInput:
		return wrong("input", "has %d characters, 1-%d", n, maxInput)
	case !slices.Contains(voices, r.Voice) && !(isSteered && slices.Contains(newer, r.Voice)):
		return wrong("voice", "%q is not a voice of %s", r.Voice, r.Model)
	case r.Instructions != "" && !isSteered:
		return wrong("instructions", "are not supported by %s", r.Model)
	case !slices.Contains(formats, r.Format):
		return wrong("response_format", "the fake does not speak %s", r.Format)
	case r.Speed != nil && (*r.Speed < .25 || *r.Speed > 4):
		return wrong("speed", "%v is not in .25-4", *r.Speed)
	case !slices.Contains(streams, r.Stream), r.Stream == "sse" && !isSteered:
		return wrong("stream_format", "%q is not supported by %s", r.Stream, r.Model)
	}
	return r, nil
}

// voice is at the speed asked for.
func (r *request) voice() *speakingtest.Voice {
	v := &speakingtest.Voice{Coding: loopbacktest.S16, Rate: Rate}
	if r.Speed != nil {
		v.Speed = *r.Speed
	}
	return v
}

// samples are those of all the audio.
func (r *request) samples() (n int64) {
	for _, c := range r.voice().Chunks(r.Input) {
		n += int64(len(c.Audio)) / 2
	}
	return n
}

// refusal is why a request is refused. Its param and code may be empty.
type refusal struct{ message, param, code string }

// kinds are the types and codes of errors by their status.
var kinds = map[int][2]string{
	http.StatusUnauthorized:        {"invalid_request_error", "invalid_api_key"},
	http.StatusTooManyRequests:     {"requests", "rate_limit_exceeded"},
	http.StatusInternalServerError: {"server_error", "server_error"},
	http.StatusServiceUnavailable:  {"server_error", "server_is_overloaded"},
}

// refuse answers a request with an error.
func refuse(w http.ResponseWriter, status int, r refusal) {
	w.Header().Set("x-request-id", loopbacktest.ID())
	orNull := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	loopbacktest.Answer(w, status, map[string]any{"error": map[string]any{"message": r.message, "type": cmp.Or(kinds[status][0], "invalid_request_error"),
		"param": orNull(r.param), "code": orNull(cmp.Or(r.code, kinds[status][1]))}})
}

// shapes are what faults send.
var shapes = loopbacktest.Shapes{
	Nulls: map[string]any{"type": "speech.audio.delta", "audio": nil, "delta": nil},
	Fail: func(reason string) any {
		return map[string]any{"type": "error", "error": map[string]any{"type": "server_error", "code": "server_error", "message": reason, "param": nil}}
	},
}
