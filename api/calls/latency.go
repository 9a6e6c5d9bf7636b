package calls

import (
	"context"
	"time"

	"parley/api"
	"parley/api/wire"
	"parley/store"
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

type latencyList struct {
	GroupBy string              `json:"group_by" doc:"As it was asked for." enum:"day,hour,agent"`
	From    time.Time           `json:"from" doc:"Not before this."`
	To      time.Time           `json:"to" doc:"Before this."`
	Data    []wire.LatencyGroup `json:"data" doc:"The groups that have turns, the oldest first." nullable:"false"`
	Total   *wire.LatencyGroup  `json:"total,omitempty" doc:"All turns together, of all pages; absent: there are none."`
	api.More
}

func (m *calls) latency(ctx context.Context, in *latencyInput) (*api.Reply[latencyList], error) {
	l := listInput{Direction: in.Direction, AgentID: in.AgentID, Period: in.Period, Paging: api.Paging{Limit: in.Limit, Cursor: in.Cursor}}
	p, err := l.page()
	if err != nil {
		return nil, err
	}
	m.lately(&p.Range, latencyDays)
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
	out := api.Body(latencyList{GroupBy: in.GroupBy, From: p.From, To: p.To, Data: []wire.LatencyGroup{}})
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

// lately ends a range that has no end now, and begins one that has no beginning days before its end.
func (m *calls) lately(r *store.Range, days int) {
	if r.To.IsZero() {
		r.To = m.db.Now().Truncate(time.Second).Add(time.Second)
	}
	if r.From.IsZero() {
		r.From = r.To.AddDate(0, 0, -days)
	}
}

// engineDays is how far back latencies of engines are read without a range.
const engineDays = 7

type engineLatencyList struct {
	From time.Time            `json:"from" doc:"Not before this."`
	To   time.Time            `json:"to" doc:"Before this."`
	Data []wire.EngineLatency `json:"data" doc:"The engines that have turns, by stage and name." nullable:"false"`
}

type engineLatencyInput struct {
	AgentID   string `query:"agent_id" doc:"Only calls of this agent, also one that was deleted." maxLength:"100" example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Direction string `query:"direction" doc:"Only these." enum:"web,inbound,outbound" example:"inbound"`
	api.Period
}

func (m *calls) engineLatency(ctx context.Context, in *engineLatencyInput) (*api.Reply[engineLatencyList], error) {
	l := listInput{Direction: in.Direction, AgentID: in.AgentID, Period: in.Period}
	p, err := l.page()
	if err != nil {
		return nil, err
	}
	m.lately(&p.Range, engineDays)
	if p.To.Sub(p.From) > longestRange {
		return nil, api.Bad("from, to: 92 days at most")
	}
	found, err := m.history.EngineLatencies(ctx, api.AccountOf(ctx), p)
	if err != nil {
		return nil, err
	}
	return api.Body(engineLatencyList{p.From, p.To, api.Views(found, viewEngineLatency)}), nil
}

func viewEngineLatency(l *history.EngineLatency) wire.EngineLatency {
	return wire.EngineLatency{Stage: l.Stage, Engine: l.Engine, Calls: l.Calls, Turns: l.Turns, P50: l.Waits[0], P95: l.Waits[1]}
}

func viewLatency(l *history.Latency) wire.LatencyGroup {
	of := func(v []int64) wire.Percentiles {
		if len(v) != 4 {
			return wire.Percentiles{}
		}
		return wire.Percentiles{P50: v[0], P90: v[1], P95: v[2], P99: v[3]}
	}
	return wire.LatencyGroup{Key: api.Some(l.Name), Calls: l.Calls, Turns: l.Turns,
		Endpoint: of(l.Endpoint), Model: of(l.Model), Voice: of(l.Voice), Total: of(l.Total)}
}
