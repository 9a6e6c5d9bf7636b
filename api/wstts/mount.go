package wstts

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
)

// Path and OtherPath are where the sockets connect; there is no difference.
const (
	Path      = "/ws/tts"
	OtherPath = "/ws"
)

const description = `The client sends one JSON text message for each job:

` + "```json" + `
{"text": "Good morning.", "voice": "F1", "language": "en", "speed": 1.05, "visemes": true}
` + "```" + `

` + "`text`" + ` has 1 to 5,000 characters (Unicode code points). ` + "`voice`" + ` and ` + "`language`" + ` (also ` + "`lang`" + `) have no default. ` +
	"`speed`" + ` is from 0.5 to 2.0, 1.05 when absent. The stream always uses 6 denoising steps: ` + "`steps`" + ` is ignored, as are unknown fields. ` +
	`Jobs run one after the other in the order in which they came; 16 may wait, and what comes beyond is refused in its turn with ` +
	"`tts.session_limit_reached`" + `.

The server sends for each job, in this order:

- visemes, when they were asked for: a bare JSON array of ` + "`{v, c, t, id}`" + ` before the audio that they belong to. ` + "`v`" + ` is the index of the ` +
	`character that is spoken, in code points of the text; ` + "`c`" + ` one of a e i o u m p b f v t d s z l n r k g sil; ` + "`t`" + ` seconds from the start of ` +
	`the job's audio, never decreasing; ` + "`id`" + ` the index of ` + "`c`" + ` in that list.
- audio: binary messages, Int16 little endian, 44.1 kHz, one channel. The first has 0.2 s, later ones 1 s at most.
- ` + "`" + `{"type": "timing", "timing": {"queue_ms", "model_ms", "audio_ms", "chunk"}, "ttfb_ms"}` + "`" + ` after each audio message and in each second in which ` +
	`nothing else is sent; ` + "`ttfb_ms`" + ` only with the first audio.
- the end, exactly one of: the text ` + "`EOS`" + `, or ` + "`" + `{"type": "error", "data": {"code", "message", "detail", "retryable"}, "message"}` + "`" + `. The socket stays ` +
	`open after either.

With ` + "`?eos=json`" + ` the message ` + "`" + `{"type": "eos"}` + "`" + ` precedes ` + "`EOS`" + `. What is refused when the socket opens (the balance, a dispute, too many ` +
	`sockets) is answered by one error message and close code 1008; 1001 or 1012 means that the server stops. Closing the socket ends a job at once. ` +
	`A job that is done costs its characters, one that the client gives up those of the audio sent, one that fails on our side nothing. ` +
	`A socket without a job costs nothing and is closed after ten minutes. An account may have 2,000 open.`

// Mount adds the socket to an API, at both its paths.
func Mount(a *api.API, h *Handler) {
	for _, route := range []struct{ path, id string }{{Path, "stream-speech"}, {OtherPath, "stream-speech-short"}} {
		a.Handle(api.Route{Access: api.Service, Scope: api.Synthesis, Operation: huma.Operation{
			Method: http.MethodGet, Path: route.path, OperationID: route.id, Tags: []string{"Speech"},
			Summary: "Speak texts over a WebSocket, as they are made", Description: description,
			Parameters: []*huma.Param{{Name: "eos", In: "query", Description: "json: the end of a job is sent as JSON, too.",
				Schema: &huma.Schema{Type: "string", Enum: []any{"json"}}, Example: "json"}},
			Responses: api.Answer(http.StatusSwitchingProtocols, "The socket", ""),
			Errors:    []int{http.StatusBadRequest},
		}}, h)
	}
}
