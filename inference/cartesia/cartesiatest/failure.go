package cartesiatest

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
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

// failure is the vendor's message of an error; context may be empty.
func failure(status int, context, message string) map[string]any {
	m := map[string]any{
		"type": "error", "done": true, "title": http.StatusText(status), "message": cmp.Or(message, http.StatusText(status)), "status_code": status,
		"error_code": cmp.Or(codes[status], strings.ToLower(http.StatusText(status))), "doc_url": "https://docs.cartesia.ai/api-reference/errors", "request_id": requestID(),
	}
	if context != "" {
		m["context_id"] = context
	}
	return m
}

// refuse answers a handshake with an error.
func refuse(w http.ResponseWriter, status int, message string) {
	body := failure(status, "", message)
	delete(body, "type")
	delete(body, "done")
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// requestID is a new id.
func requestID() string {
	var b [12]byte
	_, _ = rand.Read(b[:])
	return fmt.Sprintf("req_%x", b)
}
