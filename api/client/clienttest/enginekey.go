package clienttest

import (
	"encoding/json"
	"net/http"
)

// engineKeys adds the routes of keys for engines. The account has one, which its vendor refuses.
func engineKeys(mux *http.ServeMux) {
	key := func(engine, last4 string) map[string]any {
		const at = "2026-03-01T12:00:00Z"
		return map[string]any{"engine": engine, "last4": last4, "set_by": "key_one", "created_at": at, "updated_at": at, "refused_at": at, "refusal": "status 401"}
	}
	mux.HandleFunc("GET /v1/engine-keys", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]any{"data": []any{key("flux", "x7Qa")}, "has_more": false, "next_cursor": nil})
	})
	mux.HandleFunc("PUT /v1/engine-keys/{engine}", func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Key string }
		if json.NewDecoder(r.Body).Decode(&in) != nil || len(in.Key) < 8 {
			answer(w, http.StatusBadRequest, Problem{400, "validation.invalid_request_format", "The request is not valid.", false, ""})
			return
		}
		answer(w, http.StatusOK, key(r.PathValue("engine"), in.Key[len(in.Key)-4:]))
	})
	mux.HandleFunc("DELETE /v1/engine-keys/{engine}", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("POST /v1/engine-keys/{engine}/test", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]any{"ok": false, "took_ms": 412, "error": map[string]any{"code": "engine.key_refused", "error": "The vendor refuses this key.", "retryable": false}})
	})
}
