package clienttest

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// Dialled is the call that is placed.
const Dialled = "ses_dialled"

// dial places a call, whose body Placed returns.
func (s *Server) dial(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		answer(w, 400, Problem{Code: "validation.invalid_request_format", Error: "No."})
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.placed = body
	answer(w, 200, map[string]any{"call_id": Dialled, "status": "dialing", "from": body["from"], "to": body["to"], "agent_id": body["agent_id"],
		"created_at": "2026-03-01T12:00:00Z"})
}

// Placed is the body of the last request to place a call; nil: there was none.
func (s *Server) Placed() map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.placed
}

// events follows a call of which a line is said before it ends.
func events(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("id") != Dialled {
		answer(w, http.StatusNotFound, unknown)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range []string{`{"type":"snapshot","status":"dialing","transcript":[],"duration":0}`, `{"type":"status","status":"connected","duration":0}`,
		`{"type":"transcript","role":"agent","text":"Hello.","at":0.5}`,
		`{"type":"ended","status":"ended","transcript":[{"role":"agent","text":"Hello.","at":0.5}],"duration":3,"end_reason":"user_hangup"}`} {
		fmt.Fprintf(w, "data: %s\n\n", e) // the client has gone
	}
}
