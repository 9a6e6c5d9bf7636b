package tts

import (
	"log/slog"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/upload"
)

// Path is where a whole text is spoken.
const Path = "/tts/synthesize"

// Mount adds the one-shot route to an API. Work is charged in books, and failures
// of ours are logged when log is not nil.
func Mount(a *api.API, s *Service, books api.Books, log *slog.Logger) {
	ask := a.Document().Components.Schemas.Schema(reflect.TypeFor[Ask](), true, "")
	a.Handle(api.Route{Access: api.Service, Scope: api.Synthesis, Operation: huma.Operation{
		Method: http.MethodPost, Path: Path, OperationID: "synthesize", Tags: []string{"Speech"},
		Summary: "Speak a text, answered with a WAV file",
		Description: "The whole file comes at once, when all of it has been made; a minute is the longest it may take. " +
			"`voice` and `language` must be sent. Charged by the character (Unicode code point), and only when it has succeeded.",
		MaxBodyBytes: maxBody,
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: ask,
			Example: map[string]any{"text": "Good morning.", "voice": "F1", "language": "en", "steps": 8}}}},
		Responses: map[string]*huma.Response{"200": {Description: "16-bit PCM, 44.1 kHz, one channel",
			Content: map[string]*huma.MediaType{"audio/wav": {Schema: api.Bytes("audio/wav")}},
			Headers: map[string]*huma.Param{"X-Audio-Duration-Seconds": {Description: "How long it is.",
				Schema: &huma.Schema{Type: "number"}, Example: 1.25}},
		}},
		Errors: []int{http.StatusPaymentRequired, http.StatusGatewayTimeout},
	}}, &synthesizer{speech: s, books: books, log: log, gate: upload.NewGate(atOnce, gateWait)})
}
