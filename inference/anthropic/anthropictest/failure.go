package anthropictest

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

// statusOverloaded is the vendor's own.
const statusOverloaded = 529

// kinds are the types of errors by their status.
var kinds = map[int]string{
	http.StatusBadRequest:            "invalid_request_error",
	http.StatusUnauthorized:          "authentication_error",
	http.StatusPaymentRequired:       "billing_error",
	http.StatusForbidden:             "permission_error",
	http.StatusNotFound:              "not_found_error",
	http.StatusRequestEntityTooLarge: "request_too_large",
	http.StatusTooManyRequests:       "rate_limit_error",
	http.StatusInternalServerError:   "api_error",
	http.StatusGatewayTimeout:        "timeout_error",
	statusOverloaded:                 "overloaded_error",
}

// failure is the vendor's object of an error.
func failure(kind, message string) map[string]any {
	return map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": message}}
}

// refuse answers a request with an error.
func (s *Server) refuse(w http.ResponseWriter, err error) {
	id := s.Numbered("req_")
	all, message := loopbacktest.Refusal{Fault: Fault{Status: http.StatusBadRequest}}, err.Error()
	if errors.As(err, &all); all.Model != "" {
		message = "model: " + all.Model
	}
	all.Headers(w.Header())
	if all.Status == http.StatusTooManyRequests {
		limits(w.Header(), 0)
		if w.Header().Get("Retry-After") == "" {
			w.Header().Set("Retry-After", "1")
		}
	}
	w.Header().Set("request-id", id)
	kind := cmp.Or(kinds[all.Status], "api_error")
	body := failure(kind, cmp.Or(message, strings.TrimSuffix(strings.ReplaceAll(kind, "_", " "), " error")))
	body["request_id"] = id
	loopbacktest.Answer(w, all.Status, body)
}

// limits says how much more may be asked for: remaining is 0 or 1, for nothing or much.
func limits(h http.Header, remaining int) {
	reset := time.Now().Add(time.Minute).UTC().Format(time.RFC3339)
	for name, limit := range map[string]int{"requests": 50, "input-tokens": 50000, "output-tokens": 10000} {
		prefix := "anthropic-ratelimit-" + name
		h.Set(prefix+"-limit", strconv.Itoa(limit))
		h.Set(prefix+"-remaining", strconv.Itoa(limit*remaining))
		h.Set(prefix+"-reset", reset)
	}
}

// shapes are what faults send.
var shapes = loopbacktest.Shapes{
	Nulls: map[string]any{"type": "content_block_delta", "index": nil, "delta": nil},
	Fail: func(reason string) any {
		kind := cmp.Or(reason, "overloaded_error")
		return failure(kind, strings.TrimSuffix(kind, "_error"))
	},
}
