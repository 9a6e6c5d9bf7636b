package clienttest

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"parley/api/wire"
	"parley/billing"
)

// callHistory is what the server knows of, the newest first: of each its identifier,
// direction, caller, callee, agent, and how it ended, empty while it lasts.
var callHistory = [][6]string{
	{"ses_4", "inbound", "+34612345678", "+34911234567", "ag_one", ""},
	{"ses_3", "outbound", "+34911234567", "+34612345678", "ag_one", "busy"},
	{"ses_2", "outbound", "+34911234567", "+34612345679", "ag_two", "user_hangup"},
	{"ses_1", "web", "", "", "ag_two", "user_hangup"},
}

// calls lists those that the query picks. They all began on 1 March 2026.
func calls(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	limit, _ := strconv.Atoi(q.Get("limit"))
	page := map[string]any{"has_more": false, "next_cursor": nil}
	data := []any{}
	list := callHistory[:]
	if q.Get("sort") == "oldest" {
		list = slices.Clone(list)
		slices.Reverse(list)
	}
	for _, c := range list {
		state, status, end, ended := "ended", "ended", any(c[5]), any(submitted)
		if c[5] == "" {
			state, status, end, ended = "live", "connected", nil, nil
		}
		fits := func(name string, values ...string) bool {
			wanted := q.Get(name)
			for _, v := range values {
				if wanted == v {
					return true
				}
			}
			return wanted == ""
		}
		if state == "live" && slices.Contains([]string{"longest", "most_expensive", "worst_sound"}, q.Get("sort")) {
			continue
		}
		if !fits("direction", c[1]) || !fits("number", c[2], c[3]) || !fits("agent_id", c[4]) || !fits("end_reason", c[5]) || !fits("state", state) ||
			q.Get("from") > "2026-03-01" || q.Get("to") != "" && q.Get("to") <= "2026-03-01" {
			continue
		}
		if len(data) == limit {
			page["has_more"], page["next_cursor"] = true, "more"
			break
		}
		data = append(data, map[string]any{"id": c[0], "direction": c[1], "from": c[2], "to": c[3], "agent_id": c[4], "agent_version": 1, "status": status,
			"created_at": "2026-03-01T10:00:00Z", "answered_at": nil, "ended_at": ended, "duration": 0, "end_reason": end, "end_detail": nil, "cost": 0,
			"answered_by": nil, "verstat": nil, "attestation": nil, "mos": nil, "deleted_at": nil})
	}
	page["data"] = data
	answer(w, http.StatusOK, page)
}

// statistics answers for four calls, two of them of ag_one; there are none of one direction.
func statistics(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	st := wire.Statistics{From: q.Get("from"), To: q.Get("to"), Days: []wire.DayFigures{}, Agents: []wire.AgentFigures{}, Outcomes: []wire.OutcomeFigures{}, Stages: []wire.StageLatency{}}
	if st.From == "" {
		st.From = "2026-02-01"
	}
	if st.To == "" {
		st.To = "2026-03-02"
	}
	for _, day := range []string{st.From, st.To} {
		if _, err := time.Parse(time.DateOnly, day); err != nil {
			answer(w, http.StatusBadRequest, Problem{http.StatusBadRequest, "validation.invalid_request_format", "That is no date.", false, ""})
			return
		}
	}
	if q.Get("direction") != "" || q.Get("agent_id") == "ag_nobody" {
		answer(w, http.StatusOK, st)
		return
	}
	figures := func(calls, answered int64) wire.CallFigures {
		rate := float64(answered) / float64(calls)
		return wire.CallFigures{Calls: calls, Answered: answered, AnswerRate: &rate, Duration: 90 * answered, Cost: wire.USD(billing.Money(answered) * 12 * billing.Cent)}
	}
	one, haiku := "ag_one", "haiku"
	st.Total = figures(4, 3)
	st.Days = []wire.DayFigures{{Day: "2026-03-01", CallFigures: figures(4, 3), P50: new(int64(820)), P95: new(int64(1900))}}
	st.Agents = []wire.AgentFigures{{AgentID: &one, CallFigures: figures(2, 1)}, {CallFigures: figures(2, 2)}}
	st.Outcomes = []wire.OutcomeFigures{{EndReason: "user_hangup", Calls: 3}, {EndReason: "busy", Calls: 1}}
	st.Stages = []wire.StageLatency{{Stage: "total", Turns: 9, P50: 820, P95: 1900}, {Stage: "llm", Engine: &haiku, Turns: 8, P50: 310, P95: 740}}
	answer(w, http.StatusOK, st)
}
