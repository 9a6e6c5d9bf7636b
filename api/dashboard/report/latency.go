package report

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"time"

	"parley/api/dashboard/page"
	"parley/api/wire"
)

// Where the page about latencies is, and what it is called.
const (
	LatencyAt    = page.Home + "/latency"
	LatencyTitle = "Latency"
)

// latencyDays is how many days the page is about unless it is asked for others.
const latencyDays = 30

// Pages are the addresses of this package.
func Pages() []page.Page {
	return []page.Page{{Route: "GET " + LatencyAt, Serve: latencyPage}}
}

// latencyView is how long the turns of some days took.
type latencyView struct {
	Form   *page.Form
	Ranges []Range
	Total  *wire.LatencyGroup // nil: there were no turns
	Chart  Chart              // of the chosen stage by day
	Days   []took             // of the same, the newest first
	Stages []took
	// Speakers are the agents, the slowest first; nil: one was chosen, or there is one.
	Speakers []took
	Engines  []took

	agents []page.Option
	names  map[string]string // of agents
}

// took is a line of a table: how long turns took, in milliseconds. Its bars are as many thousandths of the longest of its table.
type took struct {
	Name          string
	Note          string // beside the name
	Turns         int64
	P50, P95, P99 int64 // P99 is negative where it is not known
	longest       int64
}

// Part is a time as a part of a thousand of the longest.
func (t took) Part(ms int64) int64 { return ms * 1000 / max(1, t.longest) }

// scaled sets what the bars of a table's lines compare with.
func scaled(lines []took) []took {
	longest := int64(0)
	for _, t := range lines {
		longest = max(longest, t.P95, t.P99)
	}
	for i := range lines {
		lines[i].longest = longest
	}
	return lines
}

// stage is a part of the wait for an answer.
type stage struct {
	Name, Label, Note string
	of                func(*wire.LatencyGroup) wire.Percentiles
}

// stages are the whole wait and its parts, in their order.
var stages = []stage{
	{"total", "Response latency", "from the caller’s last word to the first audio", func(g *wire.LatencyGroup) wire.Percentiles { return g.Total }},
	{"endpoint", "End of turn", "until it is clear that the caller has finished", func(g *wire.LatencyGroup) wire.Percentiles { return g.Endpoint }},
	{"model", "Language model", "until its first words", func(g *wire.LatencyGroup) wire.Percentiles { return g.Model }},
	{"voice", "Voice", "until its first audio", func(g *wire.LatencyGroup) wire.Percentiles { return g.Voice }},
}

// engineStages are the stages of engines in words.
var engineStages = map[string]string{"llm": "Language model", "tts": "Voice"}

// Stage is the stage that the page shows by day and agent.
func (v *latencyView) Stage() stage {
	i := slices.IndexFunc(stages, func(s stage) bool { return s.Name == v.Form.Value("stage") })
	return stages[max(0, i)]
}

// Parts, Directions and Who are the choices.
func (v *latencyView) Parts() page.Field {
	options := make([]page.Option, len(stages))
	for i, s := range stages {
		options[i] = page.Option{Value: s.Name, Label: s.Label}
	}
	return v.Form.Select("stage", "Stage", stages[0].Name, options, "plain")
}

func (v *latencyView) Directions() page.Field {
	return v.Form.Select("direction", "Direction", "", []page.Option{{Value: "", Label: "All"}, {Value: "inbound", Label: "Inbound"},
		{Value: "outbound", Label: "Outbound"}, {Value: "web", Label: "Web"}}, "plain")
}

func (v *latencyView) Who() page.Field {
	return v.Form.Select("agent_id", "Agent", "", append([]page.Option{{Value: "", Label: "All"}}, v.agents...), "plain")
}

// latencyFilters are what the address of the page narrows down by, as the API's does.
var latencyFilters = []string{"agent_id", "direction", "from", "to"}

// newLatencyView reads the form that the address of the page is, with the agents to choose from.
func newLatencyView(q *page.Request) (*latencyView, error) {
	v := &latencyView{Form: page.NewForm(), names: map[string]string{}}
	agents, err := q.DB.AgentNames(q.Context(), q.Account())
	if err != nil {
		return nil, err
	}
	for _, a := range agents {
		v.agents = append(v.agents, page.Option{Value: a.ID, Label: a.Name})
		v.names[a.ID] = a.Name
	}
	asked := q.R.URL.Query()
	for _, name := range append([]string{"stage"}, latencyFilters...) {
		v.Form.Values.Set(name, asked.Get(name))
	}
	end := Tomorrow(q.DB.Now())
	for name, days := range map[string]int{"from": -latencyDays, "to": 0} {
		given := v.Form.Value(name)
		if given == "" {
			v.Form.Values.Set(name, end.AddDate(0, 0, days).Format(time.DateOnly))
		} else if _, err := time.Parse(time.DateOnly, given); err != nil {
			v.Form.Fail(name, "Enter a date such as 2026-03-01.")
		}
	}
	return v, nil
}

// filter is what the API is asked for.
func (v *latencyView) filter() url.Values {
	f := url.Values{}
	for _, name := range latencyFilters {
		if given := v.Form.Value(name); given != "" {
			f.Set(name, given)
		}
	}
	return f
}

// latencies are the answers of the API's routes.
type latencies struct {
	Data  []wire.LatencyGroup
	Total *wire.LatencyGroup
}

func latencyPage(q *page.Request) error {
	v, err := newLatencyView(q)
	if err != nil {
		return err
	}
	if v.Form.OK() {
		err = v.Form.Refused(v.read(q))
	}
	if err == nil && !v.Form.OK() {
		return q.Invalid("latency", "latency", LatencyTitle, v)
	}
	return q.Show("latency", LatencyTitle)(v, err)
}

// read asks the API for all that the page shows.
func (v *latencyView) read(q *page.Request) error {
	filter := v.filter()
	from, to := v.Form.Value("from"), v.Form.Value("to")
	v.Ranges = Ranges(LatencyAt, v.kept(), from, to, Tomorrow(q.DB.Now()), 7, 30, 90)
	ask := func(by string) (latencies, error) {
		filter.Set("group_by", by)
		return page.Read[latencies](q, "/v1/latency?"+filter.Encode())
	}
	days, err := ask("day")
	if err != nil || days.Total == nil {
		return err
	}
	v.Total = days.Total
	if err := v.byDay(from, to, days.Data); err != nil {
		return err
	}
	v.byStage()
	if v.Form.Value("agent_id") == "" {
		agents, err := ask("agent")
		if err != nil {
			return err
		}
		v.byAgent(agents.Data)
	}
	filter.Del("group_by")
	engines, err := page.Read[struct{ Data []wire.EngineLatency }](q, "/v1/latency/engines?"+filter.Encode())
	for _, e := range engines.Data {
		v.Engines = append(v.Engines, took{Name: e.Engine, Note: cmp.Or(engineStages[e.Stage], e.Stage), Turns: e.Turns, P50: e.P50, P95: e.P95, P99: -1})
	}
	scaled(v.Engines)
	return err
}

// kept is what the links to ranges keep.
func (v *latencyView) kept() url.Values {
	kept := v.filter()
	if v.Form.Value("stage") != "" {
		kept.Set("stage", v.Stage().Name)
	}
	return kept
}

// line is how long the turns of a group took in a stage.
func line(name, note string, g *wire.LatencyGroup, of stage) took {
	p := of.of(g)
	return took{Name: name, Note: note, Turns: g.Turns, P50: p.P50, P95: p.P95, P99: p.P99}
}

// byDay draws the chosen stage, and lists its days.
func (v *latencyView) byDay(from, to string, groups []wire.LatencyGroup) error {
	var days []Day
	for i := range groups {
		t := line(*cmp.Or(groups[i].Key, new("")), "", &groups[i], v.Stage())
		v.Days = append(v.Days, t)
		days = append(days, Day{t.Name, []float64{float64(t.P99), float64(t.P95), float64(t.P50)}})
	}
	slices.Reverse(v.Days)
	var err error
	v.Chart, err = Figure{ID: "latency", Title: v.Stage().Label, Least: 1, Series: []string{"p99", "p95", "p50"},
		Say: func(ms float64) string { return fmt.Sprintf("%.0f ms", ms) }}.Chart(from, to, days)
	return err
}

// byStage lists the whole wait and its parts.
func (v *latencyView) byStage() {
	for _, s := range stages {
		v.Stages = append(v.Stages, line(s.Label, s.Note, v.Total, s))
	}
	scaled(v.Stages)
}

// byAgent lists the agents, where there are several.
func (v *latencyView) byAgent(groups []wire.LatencyGroup) {
	if len(groups) < 2 {
		return
	}
	for i := range groups {
		name := "No agent"
		if id := groups[i].Key; id != nil {
			name = cmp.Or(v.names[*id], "Deleted agent")
		}
		v.Speakers = append(v.Speakers, line(name, "", &groups[i], v.Stage()))
	}
	slices.SortStableFunc(v.Speakers, func(a, b took) int { return cmp.Compare(b.P50, a.P50) })
	scaled(v.Speakers)
}
