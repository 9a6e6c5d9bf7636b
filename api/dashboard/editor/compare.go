package editor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"parley/api"
	"parley/api/dashboard/page"
	"parley/api/wire"
)

// compareView is an agent compared with its recorded calls.
type compareView struct {
	Agent    *wire.AgentDefinition
	Form     *page.Form
	Versions []page.Option // that may be compared
	Against  []page.Option // and with what
	Models   []page.Option // whether they answer again
	Draft    bool          // what is compared is not stored
	Found    *wire.Comparison
}

// Tabs says which page is open.
func (v *compareView) Tabs(tab string) agentTabs { return agentTabs{v.Agent.ID, tab} }

// Outcome is a call in words and their colour.
func (v *compareView) Outcome(c wire.ComparedCall) outcome {
	answers := 0
	for i := range c.Answers {
		if c.Answers[i].Differs {
			answers++
		}
	}
	switch n := len(c.Turns); {
	case answers > 0:
		return outcome{fmt.Sprintf("%d of %d answers differ", answers, len(c.Answers)), "info"}
	case c.Outcome == "same":
		return outcome{"Same", "good"}
	case c.Outcome == "unreadable":
		return outcome{"Cannot be replayed", "warn"}
	case c.Outcome == "skipped":
		return outcome{"Skipped", "warn"}
	case n == 0:
		return outcome{"Ends otherwise", "info"}
	default:
		return outcome{fmt.Sprintf("%d of %d turns differ", n, c.TurnsTotal), "info"}
	}
}

// Compared says what is compared.
func (v *compareView) Compared() string {
	if v.Draft {
		return "Draft"
	}
	return "Version " + cmp.Or(v.Form.Value("version"), strconv.FormatInt(v.Agent.Version, 10))
}

// stops say why models were not asked about all turns.
var stops = map[string]string{"turns": "more than 100", "time": "there was no time for them", "balance": "the balance, or a limit of spending, was used up"}

// Stopped says it of the comparison.
func (v *compareView) Stopped() string { return stops[v.Found.Stopped] }

// End says in words why a call ends.
func (v *compareView) End(reason string) string { return cmp.Or(ends[reason], reason, "not kept") }

// newCompareView is the page with what may be compared.
func newCompareView(q *page.Request, f *page.Form) (*compareView, error) {
	a, err := agent(q)
	if err != nil {
		return nil, err
	}
	list, err := page.Read[api.List[wire.AgentDefinition]](q, page.Path("/v1/agents/", a.ID, "/versions")+"?limit=50")
	if err != nil {
		return nil, err
	}
	v := &compareView{Agent: a, Form: f, Against: []page.Option{{Value: "", Label: "The calls as they were"}},
		Models: []page.Option{{Value: "asked", Label: "Answer again"}, {Value: "recorded", Label: "As recorded, free"}}}
	for _, version := range list.Data {
		n := strconv.FormatInt(version.Version, 10)
		o := page.Option{Value: n, Label: "Version " + n}
		if version.Version == a.Version {
			o.Label += " (current)"
		}
		v.Versions, v.Against = append(v.Versions, o), append(v.Against, o)
	}
	return v, nil
}

// comparePage shows what may be compared. Once calls are in its address, what differs in them: without asking models, so that
// opening a page costs nothing.
func comparePage(q *page.Request) error {
	f := &page.Form{Values: q.R.URL.Query()}
	v, err := newCompareView(q, f)
	if err != nil {
		return err
	}
	if !f.Values.Has("calls") {
		return q.Page("agent-compare", "Compare "+v.Agent.Name, v)
	}
	return v.compareVersions(q, "recorded")
}

// compareVersions compares what the form of the page has. models says whether they answer again, as the API takes it.
func (v *compareView) compareVersions(q *page.Request, models string) error {
	var asked wire.NewComparison
	number := func(name string) int64 {
		text := v.Form.Value(name)
		n, err := strconv.ParseInt(text, 10, 64)
		if text != "" && err != nil {
			v.Form.Fail(name, "Write a number.")
		}
		return n
	}
	asked.Version, asked.Against, asked.Calls, asked.Models = number("version"), number("against"), int(number("calls")), models
	return v.compare(q, asked)
}

// compareForm compares what was entered: in the form of the page, or in that of the agent, which is not saved.
func compareForm(q *page.Request, form *page.Form) error {
	if !form.Values.Has("against") {
		return compareDraft(q, form)
	}
	v, err := newCompareView(q, form)
	if err != nil {
		return err
	}
	return v.compareVersions(q, form.Value("models"))
}

// compareDraft compares what was entered in the form of the agent, which is not saved.
func compareDraft(q *page.Request, form *page.Form) error {
	entered, a, err := agentEntered(q, form)
	if err != nil {
		return err
	}
	if !entered.Form.OK() {
		return q.Invalid("agent", "agent-form", entered.Title, entered)
	}
	document, err := json.Marshal(a)
	if err != nil {
		return err
	}
	v, err := newCompareView(q, page.NewForm("calls", "10"))
	if err != nil {
		return err
	}
	v.Draft = true
	return v.compare(q, wire.NewComparison{Definition: &wire.AgentDraft{RawMessage: document}})
}

// compare has the API compare, and shows what it says.
func (v *compareView) compare(q *page.Request, asked wire.NewComparison) error {
	found := &wire.Comparison{}
	again := func() error { return q.Invalid("agent-compare", "agent-compare-found", "Compare "+v.Agent.Name, v) }
	if done, err := q.Submit(v.Form, http.MethodPost, page.Path("/v1/agents/", v.Agent.ID, "/compare"), asked, found, again); !done {
		return err
	}
	v.Found = found
	return q.Page("agent-compare", "Compare "+v.Agent.Name, v)
}
