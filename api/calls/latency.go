package calls

import (
	"context"
	"time"

	"parley/api"
	"parley/store/history"
)

// What latencies are read of at once.
const (
	latencyDays  = 30                  // without a range
	longestRange = 92 * 24 * time.Hour // by day or agent
	longestHours = 31 * 24 * time.Hour // by hour
)

type latencyInput struct {
	GroupBy   string `query:"group_by" doc:"What is summed up together." enum:"day,hour,agent" default:"day"`
	AgentID   string `query:"agent_id" doc:"Only calls of this agent, also one that was deleted." maxLength:"100" example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Direction string `query:"direction" doc:"Only these." enum:"web,inbound,outbound" example:"inbound"`
	api.Period
	// A range of days was answered whole before there were pages, and still is.
	Limit  int    `query:"limit" doc:"How many groups at most." minimum:"1" maximum:"100" default:"100"`
	Cursor string `query:"cursor" doc:"next_cursor of the page before; send the same from and to." maxLength:"100"`
}

// Percentiles are how long a stage took.
type Percentiles struct {
	P50 int64 `json:"p50" doc:"Half of the turns took no longer, in milliseconds." example:"780"`
	P90 int64 `json:"p90" doc:"Nine of ten." example:"1120"`
	P99 int64 `json:"p99" doc:"99 of a hundred." example:"1900"`
}

// LatencyGroup is how long the turns of some calls took.
type LatencyGroup struct {
	Key      *string     `json:"key" doc:"The day, the hour in which it begins, or the agent; null: conversations of no agent of the account." example:"2026-03-01"`
	Calls    int64       `json:"calls" doc:"How many had turns." example:"42"`
	Turns    int64       `json:"turns" doc:"How many they had." example:"310"`
	Endpoint Percentiles `json:"endpoint_ms" doc:"From the caller's last word to the decision that they have finished."`
	Model    Percentiles `json:"model_ms" doc:"The wait for the model after that, until its first words."`
	Voice    Percentiles `json:"voice_ms" doc:"The wait after them, for the rest of the first sentence and the first audio."`
	Total    Percentiles `json:"total_ms" doc:"From the last word to the first audio."`
}

type latencyList struct {
	GroupBy string         `json:"group_by" doc:"As it was asked for." enum:"day,hour,agent"`
	From    time.Time      `json:"from" doc:"Not before this."`
	To      time.Time      `json:"to" doc:"Before this."`
	Data    []LatencyGroup `json:"data" doc:"The groups that have turns, the oldest first." nullable:"false"`
	Total   *LatencyGroup  `json:"total,omitempty" doc:"All turns together, of all pages; absent: there are none."`
	api.More
}

type latencyOutput struct{ Body latencyList }

func (m *calls) latency(ctx context.Context, in *latencyInput) (*latencyOutput, error) {
	l := listInput{Direction: in.Direction, AgentID: in.AgentID, Period: in.Period, Paging: api.Paging{Limit: in.Limit, Cursor: in.Cursor}}
	p, err := l.page()
	if err != nil {
		return nil, err
	}
	if p.To.IsZero() {
		p.To = m.db.Now().Truncate(time.Second).Add(time.Second)
	}
	if p.From.IsZero() {
		p.From = p.To.AddDate(0, 0, -latencyDays)
	}
	longest := longestRange
	if history.LatencyBy(in.GroupBy) == history.LatencyByHour {
		longest = longestHours
	}
	if p.To.Sub(p.From) > longest {
		return nil, api.Bad("from, to: 92 days at most, and 31 by the hour")
	}
	found, err := m.history.Latencies(ctx, api.AccountOf(ctx), history.LatencyBy(in.GroupBy), p)
	if err != nil {
		return nil, err
	}
	out := &latencyOutput{latencyList{GroupBy: in.GroupBy, From: p.From, To: p.To, Data: []LatencyGroup{}}}
	for i := range found {
		g := viewLatency(&found[i])
		switch {
		case found[i].All:
			out.Body.Total = &g
		case len(out.Body.Data) == in.Limit:
			last := found[i-1].Place()
			out.Body.More = api.More{HasMore: true, NextCursor: &last}
		default:
			out.Body.Data = append(out.Body.Data, g)
		}
	}
	return out, nil
}

func viewLatency(l *history.Latency) LatencyGroup {
	of := func(v []int64) Percentiles {
		if len(v) != 3 {
			return Percentiles{}
		}
		return Percentiles{v[0], v[1], v[2]}
	}
	g := LatencyGroup{Calls: l.Calls, Turns: l.Turns, Endpoint: of(l.Endpoint), Model: of(l.Model), Voice: of(l.Voice), Total: of(l.Total)}
	if l.Name != "" {
		g.Key = &l.Name
	}
	return g
}
