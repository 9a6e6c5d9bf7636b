package calls

import (
	"context"
	"math"
	"slices"
	"time"

	"parley/api"
	"parley/api/wire"
	"parley/billing"
	"parley/store/history"
)

const (
	statisticsDays = 30  // without a range
	longestDays    = 400 // of a range: a year, and the month before it
	maxAgents      = 100 // in an answer
)

// Groupings of statistics.
const (
	byDay   = "day"
	byAgent = "agent"
)

func (m *calls) mountStatistics(a *api.API) {
	api.Register(a, routes.Get("/v1/statistics", "get-statistics", "Read statistics of calls",
		"Figures of the calls that began on some days and have ended: how many, how many were answered, their length and cost, how they ended, and how long turns waited for each "+
			"stage and engine. It holds each call as soon as it has ended, also when its transcript was deleted. `cost` is that of the calls, to the last decimal; "+
			"`GET /v1/usage` has the same by the day on which it was charged, beside what is no call. Latencies are counted in buckets, and are within 4.5 %; `GET /v1/latency` has exact ones "+
			"of fewer days. Those of engines leave out calls that came with a demonstration."), m.statistics)
}

type statisticsInput struct {
	From      string   `query:"from" doc:"The first day (UTC); without it 30 days before to." maxLength:"10" example:"2026-03-01"`
	To        string   `query:"to" doc:"The day after the last, at most 400 days after from; without it today counts." maxLength:"10" example:"2026-04-01"`
	AgentID   string   `query:"agent_id" doc:"Only calls of this agent, also one that was deleted." maxLength:"100" example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Direction string   `query:"direction" doc:"Only these." enum:"web,inbound,outbound" example:"inbound"`
	GroupBy   []string `query:"group_by" doc:"What is also summed up by itself; without it both." enum:"day,agent" maxItems:"2" example:"[\"day\"]"`
}

// of is what the query asks for.
func (in *statisticsInput) of(now time.Time) (of history.StatisticsOf, err error) {
	of = history.StatisticsOf{Agent: in.AgentID, Direction: billing.Kind(in.Direction)}
	if of.To, err = day("to", in.To, now.Truncate(24*time.Hour).AddDate(0, 0, 1)); err != nil {
		return of, err
	}
	if of.From, err = day("from", in.From, of.To.AddDate(0, 0, -statisticsDays)); err != nil {
		return of, err
	}
	switch {
	case !of.From.Before(of.To):
		return of, api.Bad("from must be before to")
	case of.To.Sub(of.From) > longestDays*24*time.Hour:
		return of, api.Bad("from, to: %d days at most", longestDays)
	}
	return of, nil
}

// day reads a date; an empty one is otherwise.
func day(name, text string, otherwise time.Time) (time.Time, error) {
	if text == "" {
		return otherwise, nil
	}
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return t, api.Bad("%s must be a date such as 2026-03-01", name)
	}
	return t, nil
}

func (m *calls) statistics(ctx context.Context, in *statisticsInput) (*api.Reply[wire.Statistics], error) {
	of, err := in.of(m.db.Now())
	if err != nil {
		return nil, err
	}
	st, err := m.history.Statistics(ctx, api.AccountOf(ctx), of)
	if err != nil {
		return nil, err
	}
	wanted := func(group string) bool { return len(in.GroupBy) == 0 || slices.Contains(in.GroupBy, group) }
	out := wire.Statistics{From: of.From.Format(time.DateOnly), To: of.To.Format(time.DateOnly), Total: viewFigures(&st.Total),
		Days: []wire.DayFigures{}, Agents: []wire.AgentFigures{}, Outcomes: api.Views(st.Outcomes, viewOutcome), Stages: api.Views(st.Waits, viewWait)}
	if wanted(byDay) {
		out.Days = api.Views(st.Days, func(f *history.FiguresOf) wire.DayFigures {
			day := wire.DayFigures{Day: f.Name, CallFigures: viewFigures(&f.Figures)}
			if w, ok := st.DayWaits[f.Name]; ok {
				day.P50, day.P95 = &w.P50, &w.P95
			}
			return day
		})
	}
	if wanted(byAgent) {
		out.Agents = api.Views(st.Agents[:min(len(st.Agents), maxAgents)], func(f *history.FiguresOf) wire.AgentFigures {
			return wire.AgentFigures{AgentID: api.Some(f.Name), CallFigures: viewFigures(&f.Figures)}
		})
	}
	return api.Body(out), nil
}

func viewFigures(f *history.Figures) wire.CallFigures {
	v := wire.CallFigures{Calls: f.Calls, Answered: f.Answered, Duration: f.Seconds, Cost: wire.USD(f.Cost)}
	if f.Calls > 0 {
		rate := math.Round(10_000*float64(f.Answered)/float64(f.Calls)) / 10_000
		v.AnswerRate = &rate
	}
	return v
}

func viewOutcome(f *history.FiguresOf) wire.OutcomeFigures {
	return wire.OutcomeFigures{EndReason: f.Name, Calls: f.Calls}
}

func viewWait(w *history.WaitSum) wire.StageLatency {
	return wire.StageLatency{Stage: w.Stage, Engine: api.Some(w.Engine), Turns: w.Turns, P50: w.P50, P95: w.P95}
}
