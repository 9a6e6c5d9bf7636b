// Package editor is the dashboard's pages of agents: the list, the form, the document, the
// versions with what changed between them, and the test cases with their simulations. The form's
// fields are made of the schema of agents.
//
// editor.go has the pages; form.go makes a form of an agent and an agent of a form, by the
// fields in fields.go, lists.go, facts.go and choices.go. tests.go and simulation.go are the pages of
// test cases, new.go that of a new agent, embed.go that of the button
// for other sites. The templates are the dashboard's, whose tests use the pages in a browser.
package editor

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"parley/api"
	"parley/api/dashboard/page"
	"parley/api/tts"
	"parley/api/wire"
	"parley/store"
	"parley/store/numbers"
)

// maxAgentForm bounds a form with an agent, in bytes: the longest texts, escaped.
const maxAgentForm = 3 << 20

// At is where the list is.
const At = page.Home + "/agents"

// Pages are the addresses of agents.
func Pages() []page.Page {
	const one = At + "/{id}"
	return []page.Page{
		{Route: "GET " + At, Serve: listAgents},
		{Route: "GET " + At + "/new", Serve: newAgentPage},
		{Route: "POST " + At, Max: maxAgentForm, Form: createAgent},
		{Route: "POST " + At + "/check", Max: maxAgentForm, Form: checkAgent},
		{Route: "GET " + At + "/import", Serve: importPage},
		{Route: "POST " + At + "/import", Max: maxAgentForm, Serve: importAgent},
		{Route: "GET " + one, Serve: editAgent},
		{Route: "POST " + one, Max: maxAgentForm, Form: saveAgent},
		{Route: "GET " + one + "/document", Serve: documentPage},
		{Route: "POST " + one + "/document", Max: maxAgentForm, Form: saveDocument},
		{Route: "GET " + one + "/export", Serve: exportAgent},
		{Route: "GET " + one + "/functions", Serve: functionsPage},
		{Route: "POST " + one + "/functions", Max: maxAgentForm, Form: saveFunction},
		{Route: "GET " + one + "/functions/new", Serve: newFunctionPage},
		{Route: "POST " + one + "/functions/check", Max: maxAgentForm, Form: checkFunction},
		{Route: "POST " + one + "/functions/try", Open: page.Owners, Max: maxAgentForm, Form: tryFunction},
		{Route: "GET " + one + "/functions/{no}", Serve: functionPage},
		{Route: "POST " + one + "/functions/{no}", Max: maxAgentForm, Form: saveFunction},
		{Route: "POST " + one + "/functions/{no}/check", Max: maxAgentForm, Form: checkFunction},
		{Route: "POST " + one + "/functions/{no}/try", Open: page.Owners, Max: maxAgentForm, Form: tryFunction},
		{Route: "POST " + one + "/functions/{no}/delete", Form: deleteFunction},
		{Route: "GET " + one + "/embed", Serve: embedPage},
		{Route: "POST " + one + "/embed/ticket", Serve: embedTicket},
		{Route: "POST " + one + "/talk", Max: maxAgentForm, Form: saveAndTalk},
		{Route: "POST " + one + "/try", Max: maxAgentForm, Form: tryDraft},
		{Route: "GET " + one + "/tests", Serve: testsPage},
		{Route: "POST " + one + "/tests", Max: maxCaseForm, Form: createCase},
		{Route: "GET " + one + "/tests/new", Serve: newCasePage},
		{Route: "POST " + one + "/tests/run", Form: runCases},
		{Route: "GET " + one + "/tests/{case}", Serve: casePage},
		{Route: "POST " + one + "/tests/{case}", Max: maxCaseForm, Form: saveCase},
		{Route: "POST " + one + "/tests/{case}/delete", Serve: deleteCase},
		{Route: "GET " + one + "/simulations/{simulation}", Serve: simulationPage},
		{Route: "GET " + one + "/simulations/{simulation}/progress", Serve: simulationPart},
		{Route: "POST " + one + "/simulations/{simulation}/cancel", Serve: cancelSimulation},
		{Route: "GET " + one + "/compare", Serve: comparePage},
		{Route: "POST " + one + "/compare", Max: maxAgentForm, Form: compareForm},
		{Route: "GET " + one + "/versions", Serve: listVersions},
		{Route: "GET " + one + "/versions/{version}", Serve: versionPage},
		{Route: "POST " + one + "/versions/{version}/restore", Serve: restoreVersion},
		{Route: "POST " + one + "/limit", Open: page.Owners, Serve: setAgentLimit},
		{Route: "POST " + one + "/metadata", Serve: setAgentMetadata},
		{Route: "GET " + one + "/delete", Serve: deletePage},
		{Route: "POST " + one + "/delete", Serve: deleteAgent},
	}
}

// agentRow is a line of the list.
type agentRow struct {
	wire.AgentDefinition
	Numbers []string
}

// LanguageName is the agent's language in words.
func (a agentRow) LanguageName() string { return page.LabelOf(agentLanguages(), a.Language) }

type agentsView struct {
	Agents []agentRow
	More   string
}

func listAgents(q *page.Request) error {
	found, older, err := page.Listed[wire.AgentDefinition](q, "/v1/agents", At, "after", "50", nil)
	if err != nil {
		return err
	}
	numbers, err := numbersOf(q)
	v := agentsView{Agents: make([]agentRow, len(found)), More: older}
	for i, a := range found {
		v.Agents[i] = agentRow{a, numbers[a.ID]}
	}
	return q.Show("agents", "Agents")(v, err)
}

// numbersOf are the telephone numbers that each agent answers.
func numbersOf(q *page.Request) (map[string][]string, error) {
	all, err := numbers.New(q.DB).Numbers(q.Context(), q.Account(), store.Page{})
	out := map[string][]string{}
	for _, n := range all {
		if n.AgentID != nil {
			out[*n.AgentID] = append(out[*n.AgentID], n.E164)
		}
	}
	return out, err
}

// agentView is an agent that is edited.
type agentView struct {
	ID       string // empty: it is new
	Title    string
	Agent    *wire.AgentDefinition // as it is stored
	Form     *agentForm
	Document string // the whole as a file
	Numbers  []string
	Limit    *page.Limit // of spending; nil: it is new
	Metadata *page.Form  // what is kept with it; nil: it is new
	Wrong    []Complaint // with the document
	Tested   bool        // whether it has test cases
	// Newer is what another user changed while this was edited.
	Newer *wire.AgentDiff
	Shown []shownChange // what that is
	// Template is the name of the one that a new agent was begun with; empty: none.
	Template string
}

// Voices are the choices.
func (v *agentView) Voices() []page.Option { return page.VoiceOptions() }

// Languages are the choices.
func (v *agentView) Languages() []page.Option { return agentLanguages() }

// agentLanguages are the languages that agents have: one, or their caller's.
func agentLanguages() []page.Option {
	out := page.LanguageOptions()
	for _, l := range tts.Languages() {
		out = append(out, page.Option{Value: "auto-" + l.Code, Label: "The caller’s, at first " + l.Name})
	}
	return out
}

// agentTabs are the ways from one page of an agent to the others.
type agentTabs struct{ ID, Tab string }

// Tabs says which page is open.
func (v *agentView) Tabs(tab string) agentTabs { return agentTabs{v.ID, tab} }

// newAgentView gathers what the editor shows; a nil agent is new.
func newAgentView(q *page.Request, a *wire.AgentDefinition, f *agentForm) *agentView {
	v := &agentView{Title: "New agent", Agent: a, Form: f}
	if a != nil {
		v.ID, v.Title, v.Metadata = a.ID, a.Name, metadataForm(a.Metadata)
	}
	return v
}

// agent reads the agent of the path.
func agent(q *page.Request) (*wire.AgentDefinition, error) {
	return page.Read[*wire.AgentDefinition](q, page.Path("/v1/agents/", q.ID("id")))
}

func editAgent(q *page.Request) error {
	v, err := agentEdited(q)
	if err != nil {
		return err
	}
	return q.Page("agent", v.Title, v)
}

// agentEdited is what the editor shows of the agent of the path as it is stored.
func agentEdited(q *page.Request) (*agentView, error) {
	a, err := agent(q)
	if err != nil {
		return nil, err
	}
	f, err := formOf(q, a)
	if err != nil {
		return nil, err
	}
	v := newAgentView(q, a, f)
	return v, addBeside(q, v)
}

// addBeside adds what the editor shows beside the form and below it.
func addBeside(q *page.Request, v *agentView) error {
	numbers, err := numbersOf(q)
	if err != nil {
		return err
	}
	v.Numbers = numbers[v.ID]
	if v.Tested, err = tested(q, v.ID); err != nil {
		return err
	}
	v.Limit, err = q.Limit(v.ID, page.Path(At+"/", v.ID, "/limit"), "All its conversations count.")
	return err
}

// judge has the API say what is wrong with a document.
func judge(q *page.Request, document any) ([]wire.Mistake, error) {
	var found wire.AgentCheck
	err := q.Call(http.MethodPost, "/v1/agents/validate", document, &found)
	if p := api.ProblemOf(err); err != nil && p.Status == http.StatusBadRequest {
		return []wire.Mistake{{Path: "body", Problem: p.Detail}}, nil
	}
	return found.Mistakes, err
}

// entered says in a form that was sent what is wrong with its agent.
func entered(q *page.Request, form *page.Form) (*agentForm, *wire.AgentDefinition, error) {
	fields, err := newAgentFields(q)
	if err != nil {
		return nil, nil, err
	}
	f := &agentForm{Form: form, fields: fields}
	a, err := f.document()
	if err != nil {
		return nil, nil, err
	}
	wrong, err := judge(q, a)
	f.mistaken(wrong)
	return f, a, err
}

// checkAgent says what is wrong with a form, or a document, while it is written.
func checkAgent(q *page.Request, form *page.Form) (err error) {
	var list []Complaint
	if form.Values.Has("document") {
		_, list, err = documentEntered(q, form)
	} else {
		var f *agentForm
		if f, _, err = entered(q, form); err == nil {
			list = f.Complaints()
		}
	}
	return q.ShowPart("agent", "agent-complaints")(list, err)
}

func createAgent(q *page.Request, form *page.Form) error {
	f, a, err := entered(q, form)
	if err != nil {
		return err
	}
	if !f.OK() || f.Value("more") != "" {
		return q.Invalid("agent", "agent-form", "New agent", newAgentView(q, nil, f))
	}
	var made wire.AgentDefinition
	if err := q.Call(http.MethodPost, "/v1/agents", a, &made); err != nil {
		return err
	}
	return q.Done(after(f, made.ID), made.Name+" is there. Talk to it, or give it a telephone number.")
}

// after is the page that follows when an agent was saved: its own, or the one below it that the button asks for.
func after(f *agentForm, id string) string {
	at := page.Path(At+"/", id)
	if then := f.Value("then"); then == "functions/new" {
		return at + "/" + then
	}
	return at
}

// agentEntered is the form of the agent of the path as it was sent, and the agent that it says.
func agentEntered(q *page.Request, form *page.Form) (*agentView, *wire.AgentDefinition, error) {
	f, a, err := entered(q, form)
	if err != nil {
		return nil, nil, err
	}
	stored, err := agent(q)
	if err != nil {
		return nil, nil, err
	}
	v := newAgentView(q, stored, f)
	return v, a, addBeside(q, v)
}

func saveAgent(q *page.Request, form *page.Form) error {
	v, a, err := agentEntered(q, form)
	if err != nil {
		return err
	}
	if !v.Form.OK() || v.Form.Value("more") != "" {
		return q.Invalid("agent", "agent-form", v.Title, v)
	}
	return save(q, v, a, after(v.Form, v.ID), "agent", "agent-form")
}

// saveAndTalk is saveAgent for the button whose script begins a conversation then, on the same page: it answers
// with the version that was saved. Without the script the page comes anew.
func saveAndTalk(q *page.Request, form *page.Form) error {
	if !q.HTMX() {
		return saveAgent(q, form)
	}
	v, a, err := agentEntered(q, form)
	if err != nil {
		return err
	}
	if !v.Form.OK() {
		return q.Invalid("agent", "agent-form", v.Title, v)
	}
	version, _ := strconv.ParseInt(v.Form.Value("version"), 10, 64) // what is no number is no version
	saved, err := put(q, v.ID, version, a)
	if err != nil {
		return err
	}
	api.WriteJSON(q.W, http.StatusOK, map[string]int64{"version": saved.Version})
	return nil
}

// save stores what was entered over the version that the form was made of, and goes to the page at
// next. Where another user was faster, part of page shows both.
func save(q *page.Request, v *agentView, document any, next, page, part string) error {
	version, _ := strconv.ParseInt(v.Form.Value("version"), 10, 64) // what is no number is no version
	saved, err := put(q, v.ID, version, document)
	switch {
	case err != nil && api.ProblemOf(err).Status == http.StatusPreconditionFailed:
		return conflict(q, v, version, page, part)
	case err != nil:
		return err
	case saved.Version == version:
		return q.Done(next, "Nothing was changed.")
	}
	return q.Done(next, fmt.Sprintf("Saved as version %d. New calls use it.", saved.Version))
}

// put stores an agent over the version that it was made of.
func put(q *page.Request, id string, version int64, document any) (*wire.AgentDefinition, error) {
	saved := &wire.AgentDefinition{}
	ctx := api.WithIfMatch(q.Context(), fmt.Sprintf("%q", strconv.FormatInt(version, 10)))
	return saved, q.CallWith(ctx, http.MethodPut, page.Path("/v1/agents/", id), document, saved)
}

// conflict shows what another user saved in the meantime, and keeps what was
// entered: saving again replaces theirs.
func conflict(q *page.Request, v *agentView, version int64, page, part string) error {
	now, err := agent(q)
	if err != nil {
		return err
	}
	v.Agent = now
	v.Newer, err = difference(q, now.ID, version, now.Version)
	if api.ProblemOf(err).Status == http.StatusNotFound { // a version that never was
		v.Newer, err = &wire.AgentDiff{From: version, To: now.Version}, nil
	}
	if err != nil {
		return err
	}
	if v.Shown, err = shown(q, v.Newer.Changes); err != nil {
		return err
	}
	v.Form.Values.Set("version", strconv.FormatInt(now.Version, 10))
	return q.Invalid(page, part, now.Name, v)
}

// difference is what changed from a version to another; from 0: since the one before.
func difference(q *page.Request, id string, from, to int64) (*wire.AgentDiff, error) {
	address := page.Path("/v1/agents/", id, "/versions/", strconv.FormatInt(to, 10), "/diff")
	if from > 0 {
		address += "?against=" + strconv.FormatInt(from, 10)
	}
	return page.Read[*wire.AgentDiff](q, address)
}

func deletePage(q *page.Request) error {
	a, err := agent(q)
	if err != nil {
		return err
	}
	v := newAgentView(q, a, nil)
	numbers, err := numbersOf(q)
	v.Numbers = numbers[a.ID]
	return q.Show("agent-delete", "Delete "+a.Name)(v, err)
}

func deleteAgent(q *page.Request) error {
	a, err := agent(q)
	if err != nil {
		return err
	}
	return q.Do(http.MethodDelete, page.Path("/v1/agents/", a.ID), nil, At, a.Name+" was deleted.")
}

var plainName = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// exportAgent sends an agent, or one of its versions, as a file.
func exportAgent(q *page.Request) error {
	address := page.Path("/v1/agents/", q.ID("id"))
	if v := q.R.URL.Query().Get("version"); v != "" {
		address = page.Path("/v1/agents/", q.ID("id"), "/versions/", v)
	}
	a, err := page.Read[wire.AgentDefinition](q, address)
	if err != nil {
		return err
	}
	text, err := a.File()
	if err != nil {
		return err
	}
	name := cmp.Or(strings.Trim(plainName.ReplaceAllString(a.Name, "-"), "-"), "agent")
	q.W.Header().Set("Content-Type", "application/yaml; charset=utf-8")
	q.W.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s.yaml"`, name))
	_, _ = q.W.Write([]byte(text)) // the client has gone
	return nil
}

func setAgentLimit(q *page.Request) error {
	v, err := agentEdited(q)
	if err != nil {
		return err
	}
	return q.SetLimit(v.ID, page.Path(At+"/", v.ID), func(f *page.Form) error {
		v.Limit.Form = f
		return q.Invalid("agent", "limit-form", v.Title, v)
	})
}
