package clienttest

import (
	"encoding/json"
	"net/http"
	"slices"

	"parley/api/wire"
)

// Happen has events happen: a webhook that listens is given each once.
func (s *Server) Happen(events ...wire.TakenEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, events...)
}

// OnReport has f called with each event that a program reports on, and how it went, before that is answered. Call it before the first.
func (s *Server) OnReport(f func(event string, a wire.TakenAttempt)) { s.reported = f }

// reportEvent notes how it went with an event.
func (s *Server) reportEvent(r *http.Request, in map[string]any) {
	var a wire.TakenAttempt
	text, _ := json.Marshal(in) // it was read from JSON
	if json.Unmarshal(text, &a) == nil && s.reported != nil {
		s.reported(r.PathValue("delivery"), a)
	}
}

// takeEvent answers with the first event that was not taken; it does not wait.
func (s *Server) takeEvent(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var next wire.Taken
	if len(s.events) > 0 {
		next.Event = &s.events[0]
		s.events = slices.Clone(s.events[1:])
	}
	answer(w, http.StatusOK, next)
}
