package calls

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"parley/api"
	"parley/api/dashboard/page"
	"parley/api/dashboard/report"
	"parley/api/wire"
	"parley/billing"
)

const (
	InsightsAt    = page.Home + "/insights"
	InsightsTitle = "Insights"
)

func insightPages() []page.Page {
	return []page.Page{{Route: "GET " + InsightsAt, Serve: insightsPage}}
}

// Insights is what the calls of some days come to.
type Insights struct {
	wire.Statistics
	Form   *page.Form
	Agents []page.Option
	Ranges []report.Range
	Charts []report.Chart
	names  map[string]string // of agents
}

// Directions and Who are the choices.
func (v *Insights) Directions() page.Field { return directionField(v.Form) }
func (v *Insights) Who() page.Field        { return agentField(v.Form, v.Agents) }

// insightsFilters are what the calls can be narrowed down by, in the address of the page as in the API's.
var insightsFilters = []string{"agent_id", "direction", "from", "to"}

func insightsPage(q *page.Request) error {
	names, agents, err := page.AgentNames(q)
	if err != nil {
		return err
	}
	v := &Insights{Form: page.NewForm(), Agents: page.AgentOptions(agents), names: names}
	asked, filter := q.R.URL.Query(), url.Values{}
	for _, name := range insightsFilters {
		if value := asked.Get(name); value != "" {
			filter.Set(name, value)
		}
		v.Form.Values.Set(name, asked.Get(name))
	}
	v.Statistics, err = page.Read[wire.Statistics](q, "/v1/statistics?"+filter.Encode())
	if err != nil && api.ProblemOf(err).Status == http.StatusBadRequest {
		return q.ShowInvalid("insights", "insights", InsightsTitle)(v, v.Form.Refused(err))
	}
	if err != nil {
		return err
	}
	v.Form.Values.Set("from", v.From)
	v.Form.Values.Set("to", v.To)
	v.Ranges = report.Ranges(InsightsAt, filter, v.From, v.To, report.Tomorrow(q.DB.Now()), 7, 30, 90, 365)
	v.Charts, err = chartsOf(&v.Statistics)
	return q.Show("insights", InsightsTitle)(v, err)
}

// Lately is what the calls of the last 30 days come to, as the API has it without a range; names are those of agents.
func Lately(q *page.Request, names map[string]string) (v *Insights, err error) {
	v = &Insights{names: names}
	if v.Statistics, err = page.Read[wire.Statistics](q, "/v1/statistics?group_by=day"); err != nil {
		return nil, err
	}
	v.Charts, err = chartsOf(&v.Statistics)
	return v, err
}

// Wait is how long turns took from the caller's last word to the first audio; nil: there were none.
func (v *Insights) Wait() *wire.StageLatency {
	for i := range v.Stages {
		if v.Stages[i].Stage == "total" {
			return &v.Stages[i]
		}
	}
	return nil
}

// stageNames are what turns wait for, in words.
var stageNames = map[string]string{"total": "Until the answer is heard", "endpoint": "Seeing that the caller has finished", "asr": "Their last words as text",
	"llm": "The model’s first words", "tts": "The voice’s first audio"}

// Stage is what turns wait for.
func (v *Insights) Stage(s wire.StageLatency) string { return cmp.Or(stageNames[s.Stage], s.Stage) }

// Newest are the days that have calls, the newest first.
func (v *Insights) Newest() []wire.DayFigures {
	days := slices.Clone(v.Days)
	slices.Reverse(days)
	return days
}

// Response is what half of a day's turns waited for their answer.
func (v *Insights) Response(f wire.DayFigures) string {
	if f.P50 == nil {
		return "–"
	}
	return fmt.Sprintf("%d ms", *f.P50)
}

// Name is what an agent is called.
func (v *Insights) Name(id *string) string {
	if id == nil {
		return "No agent"
	}
	return cmp.Or(v.names[*id], "Deleted agent")
}

// Outcome is how calls ended.
func (v *Insights) Outcome(reason string) string {
	if reason == "user_hangup" {
		return eitherHungUp
	}
	return cmp.Or(page.EndWords[reason], reason)
}

// Part is a number of calls as a part of a thousand of all.
func (v *Insights) Part(calls int64) int64 { return calls * 1000 / max(1, v.Total.Calls) }

// Share is how many of a hundred calls were answered.
func (v *Insights) Share(f wire.CallFigures) string {
	if f.AnswerRate == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100**f.AnswerRate)
}

// Minutes are those of calls since their answers.
func (v *Insights) Minutes(f wire.CallFigures) string {
	return fmt.Sprintf("%.1f", float64(f.Duration)/60)
}

// chartsOf are the charts of statistics.
func chartsOf(st *wire.Statistics) ([]report.Chart, error) {
	charts := make([]report.Chart, 0, 5)
	for _, c := range []struct {
		report.Figure
		of func(*wire.DayFigures) float64
	}{
		{report.Figure{ID: "calls", Title: "Calls", Least: 1, Say: func(n float64) string { return fmt.Sprintf("%.0f", n) }}, func(f *wire.DayFigures) float64 { return float64(f.Calls) }},
		{report.Figure{ID: "answered", Title: "Answer rate", Least: 1, Say: func(n float64) string { return fmt.Sprintf("%.0f %%", 100*n) }},
			func(f *wire.DayFigures) float64 { return *cmp.Or(f.AnswerRate, new(float64)) }},
		{report.Figure{ID: "minutes", Title: "Minutes", Say: func(n float64) string { return fmt.Sprintf("%.1f", n) }}, func(f *wire.DayFigures) float64 { return float64(f.Duration) / 60 }},
		{report.Figure{ID: "spend", Title: "Cost", Say: func(n float64) string { text, _ := page.USD(billing.Money(n)); return text }}, func(f *wire.DayFigures) float64 { return float64(f.Cost) }},
		{report.Figure{ID: "latency", Title: "Response latency (p50)", Least: 1, Say: func(n float64) string { return fmt.Sprintf("%.0f ms", n) }},
			func(f *wire.DayFigures) float64 { return float64(*cmp.Or(f.P50, new(int64))) }},
	} {
		days := make([]report.Day, len(st.Days))
		for i := range st.Days {
			days[i] = report.Day{Date: st.Days[i].Day, Figures: []float64{c.of(&st.Days[i])}}
		}
		chart, err := c.Chart(st.From, st.To, days)
		if err != nil {
			return nil, err
		}
		charts = append(charts, chart)
	}
	return charts, nil
}
