package cartesiatest

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"parley/inference/enginetest/loopbacktest"
)

// codes are the error codes of statuses.
var codes = map[int]string{
	http.StatusBadRequest:          "bad_request",
	http.StatusUnauthorized:        "unauthorized",
	http.StatusPaymentRequired:     "quota_exceeded",
	http.StatusForbidden:           "forbidden",
	http.StatusNotFound:            "not_found",
	http.StatusTooManyRequests:     "concurrency_limited",
	http.StatusInternalServerError: "internal_error",
	http.StatusServiceUnavailable:  "unavailable",
}

// Failure is the vendor's message of an error; context may be empty.
func Failure(status int, context, message string) map[string]any {
	m := map[string]any{
		"type": "error", "done": true, "title": http.StatusText(status), "message": cmp.Or(message, http.StatusText(status)), "status_code": status,
		"error_code": cmp.Or(codes[status], strings.ToLower(http.StatusText(status))), "doc_url": "https://docs.cartesia.ai/api-reference/errors", "request_id": requestID(),
	}
	if context != "" {
		m["context_id"] = context
	}
	return m
}

// Refuse answers a handshake with an error.
func Refuse(w http.ResponseWriter, status int, message string) {
	body := Failure(status, "", message)
	delete(body, "type")
	delete(body, "done")
	loopbacktest.Answer(w, status, body)
}

// versions are dates.
var versions = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)

// Admit notes a handshake with any of the vendor's WebSockets, and answers it if a fault or its headers refuse
// it; true: it may go on.
func Admit(s *loopbacktest.Server, w http.ResponseWriter, r *http.Request) (fault Fault, ok bool) {
	fault, ok = s.Admit(w, r, func(f Fault) { Refuse(w, f.Status, "") })
	bearer, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case !ok:
	case cmp.Or(r.Header.Get("X-API-Key"), bearer) != s.Key:
		Refuse(w, http.StatusUnauthorized, "Invalid API key")
	case !versions.MatchString(r.Header.Get("Cartesia-Version")):
		s.Violate("the header Cartesia-Version is missing or no date")
		Refuse(w, http.StatusBadRequest, "Cartesia-Version header is required")
	default:
		return fault, true
	}
	return fault, false
}

// requestID is a new id.
func requestID() string {
	var b [12]byte
	_, _ = rand.Read(b[:])
	return fmt.Sprintf("req_%x", b)
}
