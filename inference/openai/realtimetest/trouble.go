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
	noQuota        = "insufficient_quota"
	tooOld         = "Your session hit the maximum duration of 60 minutes."
)

// fatal are the codes of accounts that cannot go on.
var fatal = map[string]string{
	noQuota:                      "You exceeded your current quota, please check your plan and billing details.",
	"invalid_api_key":            "Incorrect API key provided.",
	"account_deactivated":        "The account associated with this API key has been deactivated.",
	"billing_hard_limit_reached": "Billing hard limit has been reached.",
}

// kindOf is the type of an error with a code.
func kindOf(code string) string {
	switch code {
	case noQuota, "server_error":
		return code
	}
	return invalidRequest
}

// trouble is an error event. Most of them leave the session usable.
type trouble struct {
	Type    string // "": invalid_request_error
	Code    string
	Message string
	Param   string // "": none
	Event   string // the client's event_id; "": it had none

	Harmless bool // it can happen to any client
}

// Error implements error.
func (t trouble) Error() string { return t.Message }

// failure is trouble as an event.
func (s *server) failure(t trouble) map[string]any {
	return map[string]any{"type": "error", "event_id": s.id("event_"), "error": map[string]any{
		"type": cmp.Or(t.Type, invalidRequest), "code": optional(t.Code), "message": t.Message, "param": optional(t.Param), "event_id": optional(t.Event)}}
}

// optional is a text, and null in place of an empty one.
func optional(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// shapes are what faults send.
func (s *server) shapes() loopbacktest.Shapes {
	return loopbacktest.Shapes{
		Nulls: map[string]any{"type": s.kind.nulls, "item_id": nil, "transcript": nil, "delta": nil, "content_index": nil, "usage": nil},
		Fail: func(reason string) any {
			if reason == expired {
				return s.failure(trouble{Code: expired, Message: tooOld})
			}
			if text, ok := fatal[reason]; ok {
				return s.failure(trouble{Type: kindOf(reason), Code: reason, Message: text})
			}
			return s.failure(trouble{Type: "server_error", Code: "server_error", Message: cmp.Or(reason, "The server had an error while processing your request.")})
		},
		Ends: func(reason string) (int, string) {
			if reason == expired {
				return websocket.CloseGoingAway, tooOld
			}
			if _, ok := fatal[reason]; ok {
				return closeInvalid, kindOf(reason) + "." + reason
			}
			return websocket.CloseInternalServerErr, reason
		},
	}
}
