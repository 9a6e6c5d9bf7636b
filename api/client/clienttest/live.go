package clienttest

import (
	"net/http"
	"time"

	"parley/api/wire"
)

// Moment is what an account has at some time, the newest first.
type Moment struct {
	Calls    []wire.CallSummary
	Requests []wire.RequestSummary
}

// Live has the lists of calls and requests change as they are followed: each question for the requests since a time finds the next
// moment. The one after the last calls done, and finds the last again. Call it before the first request.
func (s *Server) Live(moments []Moment, done func()) { s.moments, s.done = moments, done }

// moving serves lists that change; without moments fixed does.
func (s *Server) moving(fixed http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if s.moments == nil {
			fixed(w, r)
			return
		}
		q := r.URL.Query()
		from, _ := time.Parse(time.RFC3339, q.Get("from")) // without one, all
		to, bounded := time.Parse(time.RFC3339, q.Get("to"))
		within := func(at time.Time) bool { return !at.Before(from) && (bounded != nil || at.Before(to)) }
		page := map[string]any{"has_more": false, "next_cursor": nil}
		if r.URL.Path == "/v1/calls" {
			data := []wire.CallSummary{}
			for _, c := range s.moment(false).Calls {
				if within(c.CreatedAt) && (q.Get("state") != "live" || c.EndedAt == nil) {
					data = append(data, c)
				}
			}
			page["data"] = data
		} else {
			data := []wire.RequestSummary{}
			for _, one := range s.moment(!from.IsZero()).Requests {
				if within(one.At) {
					data = append(data, one)
				}
			}
			page["data"] = data
		}
		answer(w, http.StatusOK, page)
	}
}

// moment is what the account has now, or next.
func (s *Server) moment(next bool) Moment {
	s.mu.Lock()
	defer s.mu.Unlock()
	if next {
		s.at++
	}
	if s.at == len(s.moments) {
		s.done()
	}
	return s.moments[min(s.at, len(s.moments)-1)]
}
