package realtimetest

import (
	"cmp"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/loopbacktest"
)

// closeInvalid is the close code of a session that cannot begin.
const closeInvalid = 4000

const (
	invalidRequest = "invalid_request_error"
	expired        = "session_expired"
	tooOld         = "Your session hit the maximum duration of 60 minutes."
)

// trouble is an error event. Most of them leave the session usable.
type trouble struct {
	Type    string // "": invalid_request_error
	Code    string
	Message string
	Param   string // "": none
	Event   string // the client's event_id; "": it had none
}

// Error implements error.
func (t trouble) Error() string { return t.Message }

// failure is trouble as an event.
func (s *Transcription) failure(t trouble) map[string]any {
	optional := func(text string) any {
		if text == "" {
			return nil
		}
		return text
	}
	return map[string]any{"type": "error", "event_id": s.id("event_"), "error": map[string]any{
		"type": cmp.Or(t.Type, invalidRequest), "code": optional(t.Code), "message": t.Message, "param": optional(t.Param), "event_id": optional(t.Event)}}
}

// shapes are what faults send.
func (s *Transcription) shapes() loopbacktest.Shapes {
	return loopbacktest.Shapes{
		Nulls: map[string]any{"type": completed, "item_id": nil, "transcript": nil, "content_index": nil, "usage": nil},
		Fail: func(reason string) any {
			if reason == expired {
				return s.failure(trouble{Code: expired, Message: tooOld})
			}
			return s.failure(trouble{Type: "server_error", Code: "server_error", Message: cmp.Or(reason, "The server had an error while processing your request.")})
		},
		Ends: func(reason string) (int, string) {
			if reason == expired {
				return websocket.CloseGoingAway, tooOld
			}
			return websocket.CloseInternalServerErr, reason
		},
	}
}
