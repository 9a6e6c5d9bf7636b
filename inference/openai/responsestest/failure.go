package responsestest

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"parley/inference/enginetest/loopbacktest"
)

// kinds are the type, the code and the message of errors by their status, where they have no other.
var kinds = map[int]trouble{
	http.StatusBadRequest:          {Type: "invalid_request_error", Message: "Invalid request."},
	http.StatusUnauthorized:        {Type: "invalid_request_error", Message: "You didn't provide an API key."},
	http.StatusForbidden:           {Type: "request_forbidden", Code: "unsupported_country_region_territory", Message: "Country, region, or territory not supported"},
	http.StatusNotFound:            {Type: "invalid_request_error", Message: "Not found."},
	http.StatusTooManyRequests:     {Type: "requests", Code: "rate_limit_exceeded", Message: "Rate limit reached for requests per min (RPM): Limit 500, Used 500, Requested 1. Please try again in 1s."},
	http.StatusInternalServerError: {Type: "server_error", Message: "The server had an error while processing your request. Sorry about that!"},
	http.StatusServiceUnavailable:  {Type: "service_unavailable_error", Code: "server_is_overloaded", Message: "The server is overloaded or not ready yet."},
}

// trouble is an error of the API.
type trouble struct {
	Status              int // 0: 400
	Type, Code, Message string
	Param               string // "": none
}

// Error implements error.
func (t trouble) Error() string { return t.Message }

// invalid is a parameter that makes no sense.
func invalid(param, code, format string, args ...any) error {
	return trouble{Param: param, Code: code, Message: fmt.Sprintf(format, args...)}
}

// Codes of parameters that make no sense.
const (
	badValue = "invalid_value"
	badType  = "invalid_type"
	missing  = "missing_required_parameter"
)

// required is a parameter that is missing.
func required(param string) error {
	return invalid(param, missing, "Missing required parameter: '%s'.", param)
}

// among says whether a value is one of those that are allowed.
func among(param, value string, allowed []string) error {
	for _, a := range allowed {
		if a == value {
			return nil
		}
	}
	return invalid(param, badValue, "Invalid value: '%s'. Supported values are: %q.", value, allowed)
}

// optional is null for an empty text.
func optional(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// refuse answers a request with an error.
func (s *Server) refuse(w http.ResponseWriter, err error) {
	var t trouble
	var all loopbacktest.Refusal
	switch {
	case errors.As(err, &all):
		all.Headers(w.Header())
		t = trouble{Status: all.Status, Code: all.Reason, Message: all.Message}
		if all.Model != "" {
			t.Code, t.Message = "model_not_found", "The model '"+all.Model+"' does not exist or you do not have access to it."
		}
	case !errors.As(err, &t):
		t.Message = err.Error()
	}
	t.Status = cmp.Or(t.Status, http.StatusBadRequest)
	kind := cmp.Or(kinds[t.Status], kinds[http.StatusInternalServerError])
	if t.Message == "" { // a fault's
		t.Code, t.Message = cmp.Or(t.Code, kind.Code), kind.Message
	}
	if t.Code == "insufficient_quota" {
		kind.Type, t.Message = t.Code, "You exceeded your current quota, please check your plan and billing details."
	}
	if t.Status == http.StatusTooManyRequests {
		limits(w.Header(), 0)
		if w.Header().Get("Retry-After") == "" {
			w.Header().Set("Retry-After", "1")
		}
	}
	w.Header().Set("x-request-id", s.Numbered("req_"))
	loopbacktest.Answer(w, t.Status, map[string]any{"error": map[string]any{
		"type": cmp.Or(t.Type, kind.Type), "code": optional(t.Code), "message": t.Message, "param": optional(t.Param)}})
}

// limits says how much more may be asked for: remaining is 0 or 1, for nothing or much.
func limits(h http.Header, remaining int) {
	for name, limit := range map[string]int{"requests": 500, "tokens": 200000} {
		h.Set("x-ratelimit-limit-"+name, strconv.Itoa(limit))
		h.Set("x-ratelimit-remaining-"+name, strconv.Itoa(limit*remaining))
		h.Set("x-ratelimit-reset-"+name, "1s")
	}
}
