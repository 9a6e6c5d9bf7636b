package dashboard

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"parley/api"
	"parley/api/dashboard/page"
	"parley/api/wire"
	"parley/billing"
)

const (
	insightsAt    = page.Home + "/insights"
	insightsTitle = "Insights"
)

func insightPages() []page.Page {
	return []page.Page{{Route: "GET " + insightsAt, Serve: insightsPage}}
}

// insightsView is what the calls of some days come to.
type insightsView struct {
	wire.Statistics
	Form   *page.Form
	Agents []page.Option
	Ranges []insightsRange
	Charts []dayChart
	names  map[string]string // of agents
}

// insightsRange is a number of days until today to choose.
type insightsRange struct {
	Days    int
	Path    string
	Current bool
}

// Directions and Who are the choices.
func (v *insightsView) Directions() page.Field { return directionField(v.Form) }
func (v *insightsView) Who() page.Field        { return agentField(v.Form, v.Agents) }

// insightsFilters are what the calls can be narrowed down by, in the address of the page as in the API's.
var insightsFilters = []string{"agent_id", "direction", "from", "to"}

func insightsPage(q *page.Request) error {
	names, agents, err := agentNames(q)
	if err != nil {
		return err
	}
	v := &insightsView{Form: page.NewForm(), Agents: optionsOf(agents), names: names}
	asked, filter := q.R.URL.Query(), url.Values{}
	for _, name := range insightsFilters {
		if value := asked.Get(name); value != "" {
			filter.Set(name, value)
		}
		v.Form.Values.Set(name, asked.Get(name))
	}
	v.Statistics, err = page.Read[wire.Statistics](q, "/v1/statistics?"+filter.Encode())
	if err != nil && api.ProblemOf(err).Status == http.StatusBadRequest {
		return q.ShowInvalid("insights", "insights", insightsTitle)(v, v.Form.Refused(err))
	}
	if err != nil {
		return err
	}
	v.Form.Values.Set("from", v.From)
	v.Form.Values.Set("to", v.To)
	tomorrow := q.DB.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)
	for _, days := range []int{7, 30, 90, 365} {
		from := tomorrow.AddDate(0, 0, -days).Format(time.DateOnly)
		current := v.From == from && v.To == tomorrow.Format(time.DateOnly)
		filter.Del("to")
		filter.Set("from", from)
		v.Ranges = append(v.Ranges, insightsRange{days, insightsAt + "?" + filter.Encode(), current})
	}
	v.Charts, err = chartsOf(&v.Statistics)
	return q.Show("insights", insightsTitle)(v, err)
}

// Wait is how long turns took from the caller's last word to the first audio; nil: there were none.
func (v *insightsView) Wait() *wire.StageLatency {
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
func (v *insightsView) Stage(s wire.StageLatency) string { return cmp.Or(stageNames[s.Stage], s.Stage) }

// Newest are the days that have calls, the newest first.
func (v *insightsView) Newest() []wire.DayFigures {
	days := slices.Clone(v.Days)
	slices.Reverse(days)
	return days
}

// Name is what an agent is called.
func (v *insightsView) Name(id *string) string {
	if id == nil {
		return "No agent"
	}
	return cmp.Or(v.names[*id], "Deleted agent")
}

// Outcome is how calls ended.
func (v *insightsView) Outcome(reason string) string {
	if reason == "user_hangup" {
		return eitherHungUp
	}
	return cmp.Or(endWords[reason], reason)
}

// Part is a number of calls as a part of a thousand of all.
func (v *insightsView) Part(calls int64) int64 { return calls * 1000 / max(1, v.Total.Calls) }

// Share is how many of a hundred calls were answered.
func (v *insightsView) Share(f wire.CallFigures) string {
	if f.AnswerRate == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100**f.AnswerRate)
}

// Minutes are those of calls since their answers.
func (v *insightsView) Minutes(f wire.CallFigures) string {
	return fmt.Sprintf("%.1f", float64(f.Duration)/60)
}

// dayChart is a figure of each day, as bars. A day is ten units wide, and the highest bar a thousand high.
type dayChart struct {
	ID, Title   string
	Top         string // the figure of the highest
	First, Last string // day
	Width       int
	Bars        []dayBar
}

// dayBar is one day's; Y counts from above.
type dayBar struct {
	X, Y, Height int
	Label        string
}

// chartsOf are the charts of statistics, with the days between that have no calls.
func chartsOf(st *wire.Statistics) ([]dayChart, error) {
	first, err := time.Parse(time.DateOnly, st.From)
	if err != nil {
		return nil, err
	}
	end, err := time.Parse(time.DateOnly, st.To)
	if err != nil {
		return nil, err
	}
	charts := make([]dayChart, 0, 4)
	for _, c := range []struct {
		id, title string
		least     float64 // that the top stands for
		of        func(*wire.CallFigures) float64
		say       func(float64) string
	}{
		{"calls", "Calls", 1, func(f *wire.CallFigures) float64 { return float64(f.Calls) }, func(n float64) string { return fmt.Sprintf("%.0f", n) }},
		{"answered", "Answered", 1, func(f *wire.CallFigures) float64 { return *cmp.Or(f.AnswerRate, new(float64)) }, func(n float64) string { return fmt.Sprintf("%.0f %%", 100*n) }},
		{"minutes", "Minutes", 0, func(f *wire.CallFigures) float64 { return float64(f.Duration) / 60 }, func(n float64) string { return fmt.Sprintf("%.1f", n) }},
		{"spend", "Cost", 0, func(f *wire.CallFigures) float64 { return float64(f.Cost) }, func(n float64) string { text, _ := page.USD(billing.Money(n)); return text }},
	} {
		top := c.least
		for i := range st.Days {
			top = max(top, c.of(&st.Days[i].CallFigures))
		}
		chart := dayChart{ID: c.id, Title: c.title, Top: c.say(top), First: shortDay(first), Last: shortDay(end.AddDate(0, 0, -1)), Width: 10 * int(end.Sub(first)/(24*time.Hour))}
		for i := range st.Days {
			day, err := time.Parse(time.DateOnly, st.Days[i].Day)
			if err != nil {
				return nil, err
			}
			n := c.of(&st.Days[i].CallFigures)
			if n <= 0 {
				continue
			}
			height := max(10, int(1000*n/top))
			chart.Bars = append(chart.Bars, dayBar{X: 10*int(day.Sub(first)/(24*time.Hour)) + 1, Y: 1000 - height, Height: height, Label: shortDay(day) + ": " + c.say(n)})
		}
		charts = append(charts, chart)
	}
	return charts, nil
}

// shortDay is a day for people.
func shortDay(t time.Time) string { return t.Format("2 Jan 2006") }
