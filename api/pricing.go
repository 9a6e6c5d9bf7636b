package api

import (
	"net/http"

	"parley/billing"
)

// Pricing serves the rate card in force: public, for any origin, cacheable.
func Pricing(card func() *billing.RateCard) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Cache-Control", "public, max-age=300")
		h.Set("Content-Type", "application/json")
		_, _ = w.Write(card().JSON()) // the client has gone: nobody to tell
	})
}

// Fallback answers what no route takes, in the form of every other error.
func Fallback() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { WriteError(w, ErrNotFound) })
}
