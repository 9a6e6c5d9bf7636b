package clienttest

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// bulk serves one batch at a time, of which each look brings a row to its end, unless
// it is paused or cancelled.
type bulk struct {
	name, state string
	rows        []bulkRow
	ended       int
	retries     json.RawMessage // as they were sent
}

// bulkRow is one of them, as it was sent.
type bulkRow struct {
	To                 string
	Variables, Headers map[string]string
}

func (s *Server) bulkRoutes(mux *http.ServeMux) {
	mux.HandleFunc("POST /callcenter/bulk-dial", s.queueBatch)
	mux.HandleFunc("GET /callcenter/bulk-dial", func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		list := []any{}
		if s.bulk.state != "" {
			list = append(list, s.bulk.view(false))
		}
		answer(w, 200, map[string]any{"batches": list})
	})
	mux.HandleFunc("GET /callcenter/bulk-dial/{id}", s.lookAtBatch)
	mux.HandleFunc("POST /callcenter/bulk-dial/{id}/{verb}", s.lookAtBatch)
	mux.HandleFunc("/callcenter/call-window", s.callWindow)
}

func (s *Server) callWindow(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r.Method {
	case http.MethodPut:
		_ = json.NewDecoder(r.Body).Decode(&s.window) // a test's client writes JSON
	case http.MethodDelete:
		s.window = nil
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if s.window == nil {
		answer(w, 404, Problem{Code: "request.not_found", Error: "There is no such thing."})
		return
	}
	answer(w, 200, s.window)
}

func (s *Server) queueBatch(w http.ResponseWriter, r *http.Request) {
	var b struct {
		Name    string
		Consent bool `json:"consent_confirmed"`
		Rows    []bulkRow
		Retries json.RawMessage
	}
	if err := json.NewDecoder(r.Body).Decode(&b); err != nil {
		answer(w, 400, Problem{Code: "validation.invalid_request_format", Error: "No."})
		return
	}
	if !b.Consent {
		answer(w, 400, Problem{Code: "callcenter.consent_required", Error: "Confirm it."})
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bulk = bulk{name: b.Name, state: "running", rows: b.Rows, retries: b.Retries}
	answer(w, 200, s.bulk.view(true))
}

func (s *Server) lookAtBatch(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := &s.bulk
	if b.state == "" || r.PathValue("id") != "bulk_1" {
		answer(w, 404, Problem{Code: "request.not_found", Error: "There is no such thing."})
		return
	}
	if state := map[string]string{"pause": "paused", "resume": "running", "cancel": "cancelled"}[r.PathValue("verb")]; state != "" {
		b.state = state
	} else if b.state == "running" && b.ended < len(b.rows) {
		b.ended++
	}
	if b.state == "running" && b.ended == len(b.rows) {
		b.state = "done"
	}
	answer(w, 200, b.view(true))
}

func (b *bulk) view(withRows bool) map[string]any {
	rows := []any{}
	for i, sent := range b.rows {
		row := map[string]any{"id": fmt.Sprintf("row_%d", i+1), "to": sent.To, "from": "+34911234567", "agent_id": "ag_one", "scheduled_at": nil, "status": "pending", "attempt": 1,
			"call_id": nil, "started_at": nil, "answered_at": nil, "ended_at": nil, "duration": 0, "end_reason": nil, "end_detail": nil, "answered_by": nil,
			"cost": 0, "summary": nil}
		if sent.Variables != nil {
			row["variables"] = sent.Variables
		}
		if sent.Headers != nil {
			row["headers"] = sent.Headers
		}
		if i < b.ended {
			row["status"], row["call_id"], row["end_reason"], row["cost"], row["duration"] = "sent", fmt.Sprintf("ses_%d", i+1), "user_hangup", 0.25, 12
			row["started_at"], row["answered_at"], row["ended_at"] = "2026-03-01T12:00:00Z", "2026-03-01T12:00:01Z", "2026-03-01T12:00:13Z"
			row["answered_by"], row["summary"] = "human", "They said \"yes\", twice."
		}
		rows = append(rows, row)
	}
	v := map[string]any{"id": "bulk_1", "name": b.name, "state": b.state, "created_at": "2026-03-01T12:00:00Z", "total": len(b.rows), "on_machine": "continue",
		"counts": map[string]int{"pending": len(b.rows) - b.ended, "dialing": 0, "sent": b.ended, "failed": 0}}
	if b.retries != nil {
		v["retries"] = b.retries
	}
	if withRows {
		v["rows"] = rows
	}
	return v
}
