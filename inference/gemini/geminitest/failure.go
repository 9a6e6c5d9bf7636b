package geminitest

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

// invalidArgument is the status of a request that makes no sense.
const invalidArgument = "INVALID_ARGUMENT"

// codes are the statuses of errors with their HTTP statuses, of several the usual one first.
var codes = []struct {
	status  string
	code    int
	message string
}{
	{invalidArgument, http.StatusBadRequest, "Request contains an invalid argument."},
	{"FAILED_PRECONDITION", http.StatusBadRequest, "User location is not supported for the API use."},
	{"UNAUTHENTICATED", http.StatusUnauthorized, "Request is missing required authentication credential."},
	{"PERMISSION_DENIED", http.StatusForbidden, "The caller does not have permission."},
	{"NOT_FOUND", http.StatusNotFound, "Requested entity was not found."},
	{"RESOURCE_EXHAUSTED", http.StatusTooManyRequests, "You exceeded your current quota, please check your plan and billing details."},
	{"INTERNAL", http.StatusInternalServerError, "An internal error has occurred."},
	{"UNAVAILABLE", http.StatusServiceUnavailable, "The model is overloaded. Please try again later."},
	{"DEADLINE_EXCEEDED", http.StatusGatewayTimeout, "The request timed out. Please try again."},
}

// statusOf is the usual status of an error with an HTTP status.
func statusOf(code int) string {
	for _, c := range codes {
		if c.code == code {
			return c.status
		}
	}
	return "UNKNOWN"
}

// trouble is an error of the API.
type trouble struct {
	Status  string
	Code    int    // 0: that of the status
	Message string // "": that of the status
	Reason  string // of an ErrorInfo; "": without one
}

// Error implements error.
func (t trouble) Error() string { return t.Message }

// invalid is a request that makes no sense.
func invalid(format string, args ...any) error {
	return trouble{Status: invalidArgument, Message: fmt.Sprintf(format, args...)}
}

// object is the error in Google's shape, which also says when to come back; 0: it does not.
func (t trouble) object(retry time.Duration) map[string]any {
	for _, c := range codes {
		if c.status == t.Status {
			t.Code, t.Message = cmp.Or(t.Code, c.code), cmp.Or(t.Message, c.message)
		}
	}
	e := map[string]any{"code": cmp.Or(t.Code, http.StatusInternalServerError), "message": cmp.Or(t.Message, t.Status), "status": t.Status}
	var details []any
	if t.Reason != "" {
		details = append(details, map[string]any{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": t.Reason, "domain": "googleapis.com"})
	}
	if retry > 0 {
		details = append(details, map[string]any{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": fmt.Sprintf("%gs", retry.Seconds())})
	}
	if details != nil {
		e["details"] = details
	}
	return map[string]any{"error": e}
}

// refuse answers a request with an error. When to come back stands in the body: Gemini has no header for it.
func refuse(w http.ResponseWriter, err error) {
	var t trouble
	var all loopbacktest.Refusal
	switch {
	case errors.As(err, &all):
		if all.Status == http.StatusRequestEntityTooLarge {
			all.Status = http.StatusBadRequest
		}
		t = trouble{Status: cmp.Or(all.Reason, statusOf(all.Status)), Code: all.Status, Message: all.Message}
		if all.Model != "" {
			t.Message = "models/" + all.Model + " is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods."
		}
	case !errors.As(err, &t):
		t = trouble{Status: invalidArgument, Message: err.Error()}
	}
	if t.Status == "RESOURCE_EXHAUSTED" {
		all.RetryAfter = cmp.Or(all.RetryAfter, time.Second)
	}
	body := t.object(all.RetryAfter)
	loopbacktest.Answer(w, body["error"].(map[string]any)["code"].(int), body)
}

// shapes are what faults send.
var shapes = loopbacktest.Shapes{
	Nulls: map[string]any{"candidates": []any{map[string]any{"content": nil, "finishReason": nil}}, "usageMetadata": nil, "promptFeedback": nil},
	Fail: func(reason string) any {
		return trouble{Status: cmp.Or(reason, "UNAVAILABLE")}.object(0)
	},
}
