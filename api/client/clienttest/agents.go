package clienttest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"parley/api/wire"
)

// agent is the definition of one of the account's agents.
func agent(id, name string) map[string]any {
	return map[string]any{"id": id, "name": name, "voice": "F1", "language": "en", "prompt": "", "first_message": "", "tools": []any{},
		"settings": map[string]any{}, "version": 1, "created_at": submitted, "updated_at": submitted}
}

// agentRoutes adds the routes of agents: every identifier is one, but for ag_nobody.
func (s *Server) agentRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /v1/agents", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, map[string]any{"data": []any{agent("ag_one", "Lola"), agent("ag_two", "Max")}, "has_more": false, "next_cursor": nil})
	})
	mux.HandleFunc("GET /v1/agents/schema", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, map[string]any{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"})
	})
	mux.HandleFunc("POST /v1/agents/validate", s.checkAgent)
	mux.HandleFunc("POST /v1/agents", s.createAgent)
	mux.HandleFunc("GET /v1/agents/{id}", s.ofAgent(func(w http.ResponseWriter, _ *http.Request, a map[string]any) { answer(w, 200, a) }))
	mux.HandleFunc("PUT /v1/agents/{id}", s.ofAgent(s.replaceAgent))
	mux.HandleFunc("DELETE /v1/agents/{id}", s.ofAgent(func(w http.ResponseWriter, _ *http.Request, _ map[string]any) { w.WriteHeader(http.StatusNoContent) }))
	mux.HandleFunc("POST /v1/agents/{id}/compare", s.ofAgent(compareAgent))
	mux.HandleFunc("GET /v1/agents/{id}/versions", s.ofAgent(func(w http.ResponseWriter, _ *http.Request, a map[string]any) {
		list := []any{}
		for n := a["version"].(int); n > 0; n-- {
			list = append(list, versionOf(a, n))
		}
		answer(w, 200, map[string]any{"data": list, "has_more": false, "next_cursor": nil})
	}))
	mux.HandleFunc("GET /v1/agents/{id}/versions/{version}", s.ofAgent(func(w http.ResponseWriter, r *http.Request, a map[string]any) {
		n, _ := strconv.Atoi(r.PathValue("version"))
		answer(w, 200, versionOf(a, n))
	}))
}

// compareAgent compares an agent on one recorded call of one turn, in which each model says what it was asked as.
func compareAgent(w http.ResponseWriter, r *http.Request, _ map[string]any) {
	var in wire.NewComparison
	_ = json.NewDecoder(r.Body).Decode(&in) // the client's own
	side := func(version int64, functions ...wire.ComparedFunction) wire.AnswerSide {
		return wire.AnswerSide{Text: fmt.Sprintf("Version %d of %d calls", version, in.Calls), Functions: append([]wire.ComparedFunction{}, functions...)}
	}
	a := wire.ComparedAnswer{Turn: 1, Heard: "when do you open", Differs: true, Now: side(in.Version, wire.ComparedFunction{Name: "lookup", Arguments: "{}"}),
		Recorded: wire.AnswerSide{Text: "At ten.", Functions: []wire.ComparedFunction{{Name: "hours", Arguments: "{}", Recorded: true}}}}
	if in.Against != 0 {
		a.Then = new(side(in.Against))
	}
	if in.Definition != nil {
		var draft struct{ Prompt string }
		_ = json.Unmarshal(in.Definition.RawMessage, &draft)
		a.Now.Text = draft.Prompt
	}
	answer(w, http.StatusOK, wire.Comparison{InTokens: 8120, OutTokens: 460, LeftOut: 3, Stopped: "time", Calls: []wire.ComparedCall{
		{CallID: "ses_1", StartedAt: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Outcome: "differs", TurnsTotal: 1, Turns: []wire.ComparedTurn{}, Answers: []wire.ComparedAnswer{a}}}})
}

// versionOf is what an agent was, which here differs in its prompt.
func versionOf(a map[string]any, n int) map[string]any {
	was := maps.Clone(a)
	if was["version"] = n; n != a["version"] {
		was["prompt"] = "Version " + strconv.Itoa(n)
	}
	return was
}

// agentOf is an agent as it is now.
func (s *Server) agentOf(id string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a, changed := s.agents[id]; changed {
		return maps.Clone(a)
	}
	a := agent(id, "Lola")
	a["settings"] = map[string]any{"variables": map[string]any{"name": "there", "day": "soon"}}
	return a
}

// ofAgent has f answer for an agent of the account.
func (s *Server) ofAgent(f func(http.ResponseWriter, *http.Request, map[string]any)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("id") == "ag_nobody" {
			answer(w, 404, Problem{404, "agent.not_found", "There is no such agent.", false, ""})
			return
		}
		f(w, r, s.agentOf(r.PathValue("id")))
	}
}

// whole is a document with what it does not say.
func whole(r *http.Request) map[string]any {
	a := agent("", "")
	for name, value := range bodyOf(r) {
		switch name {
		case "id", "version", "created_at", "updated_at":
		default:
			a[name] = value
		}
	}
	return a
}

func bodyOf(r *http.Request) (in map[string]any) {
	_ = json.NewDecoder(r.Body).Decode(&in) // what is no object has nothing
	return in
}

// ChangeAgent makes an agent another version, as somebody else would.
func (s *Server) ChangeAgent(id, prompt string) {
	a := s.agentOf(id)
	a["prompt"], a["version"] = prompt, a["version"].(int)+1
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agents[id] = a
}

func (s *Server) createAgent(w http.ResponseWriter, r *http.Request) {
	a := whole(r)
	a["id"] = "ag_new"
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agents["ag_new"] = a
	answer(w, 201, a)
}

func (s *Server) replaceAgent(w http.ResponseWriter, r *http.Request, is map[string]any) {
	if m := r.Header.Get("If-Match"); m != "" && m != strconv.Quote(strconv.Itoa(is["version"].(int))) {
		answer(w, 412, Problem{412, "request.precondition_failed", "It was changed by someone else; read it again.", false, ""})
		return
	}
	a := whole(r)
	a["id"], a["version"] = is["id"], is["version"]
	if len(changes(is, a)) > 0 {
		a["version"] = is["version"].(int) + 1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agents[is["id"].(string)] = a
	answer(w, 200, a)
}

// changes are the members in which two agents differ.
func changes(a, b map[string]any) []any {
	out := []any{}
	for _, name := range []string{"name", "voice", "language", "first_message", "prompt", "tools", "settings"} {
		if !reflect.DeepEqual(a[name], b[name]) {
			out = append(out, map[string]any{"path": name, "before": a[name], "after": b[name]})
		}
	}
	return out
}

func (s *Server) checkAgent(w http.ResponseWriter, r *http.Request) {
	a, mistakes := whole(r), []any{}
	if a["voice"] == "Z9" {
		mistakes = append(mistakes, map[string]any{"path": "voice", "problem": "must be one of F1 to F5 and M1 to M5"})
	}
	check := map[string]any{"valid": len(mistakes) == 0, "mistakes": mistakes, "changes": nil}
	if id := r.URL.Query().Get("agent_id"); id != "" && len(mistakes) == 0 {
		check["changes"] = changes(s.agentOf(id), a)
	}
	answer(w, 200, check)
}
