package editor

import (
	_ "embed"
	"net/http"
	"strings"

	"parley/api"
	"parley/api/dashboard/page"
	"parley/api/wire"
	"parley/store/cases"
)

// maxCaseForm bounds a form with a test case, in bytes: the longest script, escaped.
const maxCaseForm = 3*cases.MaxScript + 16<<10

// NewCase is the script that a new test case begins with, YAML.
//
//go:embed case.yaml
var NewCase string

// caseRow is a line of the list of test cases.
type caseRow struct {
	wire.Case
	Last *cases.Latest // nil: it was not run yet, or that is not kept
}

// Passed says whether each of its last runs was as expected.
func (r caseRow) Passed() bool { return r.Last.Failed == 0 }

// testsView is an agent's test cases, and a part of its simulations.
type testsView struct {
	Agent       *wire.AgentDefinition
	Form        *page.Form // has why no simulation could be begun
	Cases       []caseRow
	Simulations []wire.Simulation
	More        string // address of older simulations
}

// Tabs says which page is open.
func (v *testsView) Tabs(tab string) agentTabs { return agentTabs{v.Agent.ID, tab} }

// Outcome is a simulation in words and their colour.
func (v *testsView) Outcome(s wire.Simulation) outcome { return outcomeOf(&s) }

// casesRoute is the API's address of the test cases of the agent of the path.
func casesRoute(q *page.Request) string { return page.Path("/v1/agents/", q.ID("id"), "/cases") }

// caseRoute is the API's address of the test case of the path.
func caseRoute(q *page.Request) string { return casesRoute(q) + page.Path("/", q.ID("case")) }

// testsAt is where the test cases of the agent of the path are.
func testsAt(q *page.Request) string { return page.Path(At+"/", q.ID("id"), "/tests") }

// tested says whether an agent has test cases.
func tested(q *page.Request, id string) (bool, error) {
	list, err := page.Read[api.List[wire.Case]](q, page.Path("/v1/agents/", id, "/cases")+"?limit=1")
	return len(list.Data) > 0, err
}

func newTestsView(q *page.Request, f *page.Form) (*testsView, error) {
	a, err := agent(q)
	if err != nil {
		return nil, err
	}
	v := &testsView{Agent: a, Form: f}
	list, err := page.Read[api.List[wire.Case]](q, casesRoute(q)+"?limit=100") // all that an agent may have
	if err != nil {
		return nil, err
	}
	latest, err := cases.New(q.DB).Latest(q.Context(), q.Account(), a.ID)
	if err != nil {
		return nil, err
	}
	last := map[string]*cases.Latest{}
	for i := range latest {
		last[latest[i].CaseID] = &latest[i]
	}
	for _, c := range list.Data {
		v.Cases = append(v.Cases, caseRow{c, last[c.ID]})
	}
	v.Simulations, v.More, err = page.Listed[wire.Simulation](q, page.Path("/v1/agents/", a.ID, "/simulations"), testsAt(q), "before", "20", nil)
	return v, err
}

func testsPage(q *page.Request) error {
	v, err := newTestsView(q, page.NewForm())
	if err != nil {
		return err
	}
	return q.Page("agent-tests", "Tests of "+v.Agent.Name, v)
}

// caseView is a test case that is edited.
type caseView struct {
	Agent *wire.AgentDefinition
	ID    string // empty: it is new
	Title string
	Form  *page.Form
	Wrong []Complaint // with its script
}

// Tabs says which page is open.
func (v *caseView) Tabs(tab string) agentTabs { return agentTabs{v.Agent.ID, tab} }

// At is where the form goes.
func (v *caseView) At() string {
	at := page.Path(At+"/", v.Agent.ID, "/tests")
	if v.ID != "" {
		at += page.Path("/", v.ID)
	}
	return at
}

func newCasePage(q *page.Request) error {
	a, err := agent(q)
	return q.Show("agent-case", "New test case")(&caseView{Agent: a, Title: "New test case", Form: page.NewForm("script", NewCase)}, err)
}

func casePage(q *page.Request) error {
	a, err := agent(q)
	if err != nil {
		return err
	}
	c, err := page.Read[wire.Case](q, caseRoute(q))
	if err != nil {
		return err
	}
	text, err := wire.YAML(c.Script.RawMessage)
	return q.Show("agent-case", c.Name)(&caseView{Agent: a, ID: c.ID, Title: c.Name, Form: page.NewForm("name", c.Name, "script", text)}, err)
}

func createCase(q *page.Request, f *page.Form) error {
	return putCase(q, f, http.MethodPost, casesRoute(q), "", "was created. Run it to see what the agent does.")
}

func saveCase(q *page.Request, f *page.Form) error {
	return putCase(q, f, http.MethodPut, caseRoute(q), q.ID("case"), "was saved.")
}

// putCase has the API keep what was entered, and says so with the case's name before it. What is wrong
// with the script is listed beside it.
func putCase(q *page.Request, f *page.Form, method, address, id, said string) error {
	a, err := agent(q)
	if err != nil {
		return err
	}
	v := &caseView{Agent: a, ID: id, Title: "New test case", Form: f}
	if id != "" {
		v.Title = "Test case"
	}
	name := f.Need("name", "Enter a name, such as Opening hours.")
	script, err := wire.FromYAML(unix(f.Values.Get("script")))
	switch {
	case err != nil:
		f.Fail("script", page.Sentence(err.Error()))
	case string(script) == "null":
		f.Fail("script", "Write what the caller does.")
	}
	if f.OK() {
		draft := wire.CaseDraft{Name: name, Script: wire.CaseScript{RawMessage: script}}
		if err := v.refused(q.Call(method, address, draft, nil)); err != nil {
			return err
		}
	}
	if !f.OK() {
		return q.Invalid("agent-case", "agent-case-form", v.Title, v)
	}
	return q.Done(testsAt(q), "The test case "+name+" "+said)
}

// refused is Form.Refused, with a complaint for each mistake in the script.
func (v *caseView) refused(err error) error {
	detail := api.ProblemOf(err).Detail
	if err == nil || !strings.HasPrefix(detail, "script") {
		return v.Form.Refused(err)
	}
	for _, m := range scriptMistakes(detail) {
		v.Wrong = append(v.Wrong, Complaint{"script", m.Path, page.Sentence(m.Problem)})
	}
	v.Form.Fail("script", v.Wrong[0].Label+": "+v.Wrong[0].What)
	return nil
}

// scriptMistakes takes apart what the API says is wrong with a script: a path of "script" and a problem
// each, with semicolons between them.
func scriptMistakes(detail string) (out []wire.Mistake) {
	for one := range strings.SplitSeq(detail, "; script") {
		path, problem, _ := strings.Cut(strings.TrimPrefix(one, "script"), ": ")
		if path = strings.TrimPrefix(path, "."); path == "" {
			path = "script"
		}
		out = append(out, wire.Mistake{Path: path, Problem: problem})
	}
	return out
}

func deleteCase(q *page.Request) error {
	return q.Do(http.MethodDelete, caseRoute(q), nil, testsAt(q), "The test case was deleted. Results of simulations stay.")
}
