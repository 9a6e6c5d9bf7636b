package clienttest

import (
	"encoding/json"
	"net/http"
	"time"

	"parley/api/wire"
)

// caseRoutes serves two test cases of any agent and simulations of them, in which the second
// fails unless a draft is tried. Each is over when it is asked for.
func caseRoutes(mux *http.ServeMux) {
	list := []wire.Case{{ID: "case_2", CaseDraft: wire.CaseDraft{Name: "Booking"}}, {ID: "case_1", CaseDraft: wire.CaseDraft{Name: "Hours"}}}
	for i := range list {
		list[i].Script.RawMessage = json.RawMessage(`{"caller":[{"say":"hello"}]}`)
	}
	put := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			var draft wire.CaseDraft
			if json.NewDecoder(r.Body).Decode(&draft) != nil {
				answer(w, http.StatusBadRequest, Problem{http.StatusBadRequest, "validation.invalid_request_format", "No case.", false, ""})
				return
			}
			answer(w, status, wire.Case{ID: "case_" + draft.Name, CaseDraft: draft})
		}
	}
	const all = "/v1/agents/{id}/cases"
	mux.HandleFunc("GET "+all, func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]any{"data": list, "has_more": false, "next_cursor": nil})
	})
	mux.HandleFunc("POST "+all, put(http.StatusCreated))
	mux.HandleFunc("PUT "+all+"/{case}", put(http.StatusOK))
	mux.HandleFunc("DELETE "+all+"/{case}", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("POST /v1/agents/{id}/simulations", func(w http.ResponseWriter, r *http.Request) {
		var wanted wire.NewSimulation
		_ = json.NewDecoder(r.Body).Decode(&wanted) // the client's own
		s := wire.Simulation{ID: "sim_failed", State: "queued"}
		if wanted.Definition != nil || len(wanted.Cases) == 1 && wanted.Cases[0] == "case_1" {
			s.ID = "sim_good"
		}
		answer(w, http.StatusAccepted, s)
	})
	mux.HandleFunc("GET /v1/simulations/{id}", func(w http.ResponseWriter, r *http.Request) { answer(w, http.StatusOK, simulation(r.PathValue("id"))) })
}

func simulation(id string) wire.SimulationDetail {
	good, bad, ended := true, false, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s := wire.SimulationDetail{Simulation: wire.Simulation{ID: id, AgentID: "ag_one", State: "done", OK: true, Total: 2, Ran: 2, EndedAt: &ended}}
	line := []wire.SimulatedLine{{AtMS: 1200, Role: "user", Text: "hello"}}
	s.Cases = []wire.SimulatedCase{{CaseID: "case_1", Name: "Hours", OK: &good, Runs: 1, Results: []wire.SimulatedRun{{Run: 1, OK: true, LengthMS: 2500, Transcript: line}}},
		{CaseID: "case_2", Name: "Booking", OK: &good, Runs: 1, Results: []wire.SimulatedRun{{Run: 1, OK: true, LengthMS: 1000}}}}
	if id == "sim_failed" {
		s.OK, s.Unmet = false, 1
		c := &s.Cases[1]
		c.OK, c.Failed = &bad, 1
		c.Results[0] = wire.SimulatedRun{Run: 1, LengthMS: 1000, Transcript: line, Checks: []wire.SimulatedCheck{{Expected: `says "table"`, Found: "never"}}}
	}
	for i := range s.Cases { // lists are never null
		r := &s.Cases[i].Results[0]
		r.Checks, r.Transcript = append([]wire.SimulatedCheck{}, r.Checks...), append([]wire.SimulatedLine{}, r.Transcript...)
		r.Functions, r.Turns = []wire.SimulatedFunction{}, []wire.SimulatedTurn{}
	}
	return s
}
