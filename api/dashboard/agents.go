package dashboard

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"parley/api"
	"parley/api/tts"
	"parley/api/wire"
	"parley/store"
)

// maxAgentForm bounds a form with an agent, in bytes: the longest texts, escaped.
const maxAgentForm = 3 << 20

const agentsAt = home + "/agents"

func agentPages() []page {
	const one = agentsAt + "/{id}"
	return []page{
		{route: "GET " + agentsAt, serve: listAgents},
		{route: "GET " + agentsAt + "/new", serve: newAgentPage},
		{route: "POST " + agentsAt, max: maxAgentForm, form: createAgent},
		{route: "POST " + agentsAt + "/check", max: maxAgentForm, form: checkAgent},
		{route: "GET " + agentsAt + "/import", serve: importPage},
		{route: "POST " + agentsAt + "/import", max: maxAgentForm, serve: importAgent},
		{route: "GET " + one, serve: editAgent},
		{route: "POST " + one, max: maxAgentForm, form: saveAgent},
		{route: "GET " + one + "/document", serve: documentPage},
		{route: "POST " + one + "/document", max: maxAgentForm, form: saveDocument},
		{route: "GET " + one + "/export", serve: exportAgent},
		{route: "GET " + one + "/versions", serve: listVersions},
		{route: "GET " + one + "/versions/{version}", serve: versionPage},
		{route: "POST " + one + "/versions/{version}/restore", serve: restoreVersion},
		{route: "POST " + one + "/limit", open: owners, serve: setAgentLimit},
		{route: "GET " + one + "/delete", serve: deletePage},
		{route: "POST " + one + "/delete", serve: deleteAgent},
	}
}

// agentRow is a line of the list.
type agentRow struct {
	wire.AgentDefinition
	Numbers []string
}

// LanguageName is the agent's language in words.
func (a agentRow) LanguageName() string { return labelOfOption(agentLanguages(), a.Language) }

type agentsView struct {
	Agents []agentRow
	More   string
}

func listAgents(q *Request) error {
	found, older, err := listed[wire.AgentDefinition](q, "/v1/agents", agentsAt, "after", "50", nil)
	if err != nil {
		return err
	}
	numbers, err := q.numbersOf()
	v := agentsView{Agents: make([]agentRow, len(found)), More: older}
	for i, a := range found {
		v.Agents[i] = agentRow{a, numbers[a.ID]}
	}
	return q.Show("agents", "Agents")(v, err)
}

// numbersOf are the telephone numbers that each agent answers.
func (q *Request) numbersOf() (map[string][]string, error) {
	all, err := q.Ledger.Numbers(q.Context(), q.Account(), store.Page{})
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
	Limit    *limitView  // of spending; nil: it is new
	Wrong    []Complaint // with the document
	// Newer is what another user changed while this was edited.
	Newer *wire.AgentDiff
	Shown []shownChange // what that is
}

// Voices are the choices.
func (v *agentView) Voices() []Option { return voiceOptions() }

// Languages are the choices.
func (v *agentView) Languages() []Option { return agentLanguages() }

// agentLanguages are the languages that agents have: one, or their caller's.
func agentLanguages() []Option {
	out := languageOptions()
	for _, l := range tts.Languages() {
		out = append(out, Option{Value: "auto-" + l.Code, Label: "The caller’s, at first " + l.Name})
	}
	return out
}

// voiceOptions are the voices.
func voiceOptions() (out []Option) {
	for _, v := range tts.Voices() {
		out = append(out, Option{Value: v.ID, Label: fmt.Sprintf("%s, %s, %s", v.Name, v.Gender, v.Description)})
	}
	return out
}

// languageOptions are the languages that voices speak.
func languageOptions() (out []Option) {
	for _, l := range tts.Languages() {
		out = append(out, Option{Value: l.Code, Label: l.Name})
	}
	return out
}

// agentTabs are the ways from one page of an agent to the others.
type agentTabs struct{ ID, Tab string }

// Tabs says which page is open.
func (v *agentView) Tabs(tab string) agentTabs { return agentTabs{v.ID, tab} }

func newAgentPage(q *Request) error {
	f, err := q.formOf(&wire.AgentDefinition{Voice: "F1", Language: "en", FirstMessage: "Hello, how can I help you?"})
	return q.Show("agent", "New agent")(q.agentView(nil, f), err)
}

// agentView gathers what the editor shows; a nil agent is new.
func (q *Request) agentView(a *wire.AgentDefinition, f *agentForm) *agentView {
	v := &agentView{Title: "New agent", Agent: a, Form: f}
	if a != nil {
		v.ID, v.Title = a.ID, a.Name
	}
	return v
}

// agent reads the agent of the path.
func (q *Request) agent() (*wire.AgentDefinition, error) {
	return read[*wire.AgentDefinition](q, Path("/v1/agents/", q.ID("id")))
}

func editAgent(q *Request) error {
	v, err := q.agentEdited()
	if err != nil {
		return err
	}
	return q.Page("agent", v.Title, v)
}

// agentEdited is what the editor shows of the agent of the path as it is stored.
func (q *Request) agentEdited() (*agentView, error) {
	a, err := q.agent()
	if err != nil {
		return nil, err
	}
	f, err := q.formOf(a)
	if err != nil {
		return nil, err
	}
	v := q.agentView(a, f)
	return v, q.beside(v)
}

// beside adds what the editor shows beside the form and below it.
func (q *Request) beside(v *agentView) error {
	numbers, err := q.numbersOf()
	if err != nil {
		return err
	}
	v.Numbers = numbers[v.ID]
	v.Limit, err = q.limit(v.ID, Path(agentsAt+"/", v.ID, "/limit"), "All its conversations count.")
	return err
}

// judge has the API say what is wrong with a document.
func (q *Request) judge(document any) ([]wire.Mistake, error) {
	var found wire.AgentCheck
	err := q.Call(http.MethodPost, "/v1/agents/validate", document, &found)
	if p := api.ProblemOf(err); err != nil && p.Status == http.StatusBadRequest {
		return []wire.Mistake{{Path: "body", Problem: p.Detail}}, nil
	}
	return found.Mistakes, err
}

// entered says in a form that was sent what is wrong with its agent.
func (q *Request) entered(form *Form) (*agentForm, *wire.AgentDefinition, error) {
	fields, err := q.agentFields()
	if err != nil {
		return nil, nil, err
	}
	f := &agentForm{Form: form, fields: fields}
	a, err := f.document()
	if err != nil {
		return nil, nil, err
	}
	wrong, err := q.judge(a)
	f.mistaken(wrong)
	return f, a, err
}

// checkAgent says what is wrong with a form, or a document, while it is written.
func checkAgent(q *Request, form *Form) (err error) {
	var list []Complaint
	if form.Values.Has("document") {
		_, list, err = q.documentEntered(form)
	} else {
		var f *agentForm
		if f, _, err = q.entered(form); err == nil {
			list = f.Complaints()
		}
	}
	return q.ShowPart("agent", "agent-complaints")(list, err)
}

func createAgent(q *Request, form *Form) error {
	f, a, err := q.entered(form)
	if err != nil {
		return err
	}
	if !f.OK() || f.Value("more") != "" {
		return q.Invalid("agent", "agent-form", "New agent", q.agentView(nil, f))
	}
	var made wire.AgentDefinition
	if err := q.Call(http.MethodPost, "/v1/agents", a, &made); err != nil {
		return err
	}
	return q.Done(Path(agentsAt+"/", made.ID), made.Name+" is there. Talk to it, or give it a telephone number.")
}

func saveAgent(q *Request, form *Form) error {
	f, a, err := q.entered(form)
	if err != nil {
		return err
	}
	stored, err := q.agent()
	if err != nil {
		return err
	}
	v := q.agentView(stored, f)
	if err := q.beside(v); err != nil {
		return err
	}
	if !f.OK() || f.Value("more") != "" {
		return q.Invalid("agent", "agent-form", stored.Name, v)
	}
	return q.save(v, a, Path(agentsAt+"/", stored.ID), "agent", "agent-form")
}

// save stores what was entered over the version that the form was made of, and goes to the page at
// next. Where another user was faster, part of page shows both.
func (q *Request) save(v *agentView, document any, next, page, part string) error {
	version, _ := strconv.ParseInt(v.Form.Value("version"), 10, 64) // what is no number is no version
	saved, err := q.put(v.ID, version, document)
	switch {
	case err != nil && api.ProblemOf(err).Status == http.StatusPreconditionFailed:
		return q.conflict(v, version, page, part)
	case err != nil:
		return err
	case saved.Version == version:
		return q.Done(next, "Nothing was changed.")
	}
	return q.Done(next, fmt.Sprintf("Saved as version %d. New conversations go by it.", saved.Version))
}

// put stores an agent over the version that it was made of.
func (q *Request) put(id string, version int64, document any) (*wire.AgentDefinition, error) {
	saved := &wire.AgentDefinition{}
	ctx := api.WithIfMatch(q.Context(), fmt.Sprintf("%q", strconv.FormatInt(version, 10)))
	return saved, q.d.api.Call(ctx, q.Principal(), http.MethodPut, Path("/v1/agents/", id), document, saved)
}

// conflict shows what another user saved in the meantime, and keeps what was
// entered: saving again replaces theirs.
func (q *Request) conflict(v *agentView, version int64, page, part string) error {
	now, err := q.agent()
	if err != nil {
		return err
	}
	v.Agent = now
	v.Newer, err = q.difference(now.ID, version, now.Version)
	if api.ProblemOf(err).Status == http.StatusNotFound { // a version that never was
		v.Newer, err = &wire.AgentDiff{From: version, To: now.Version}, nil
	}
	if err != nil {
		return err
	}
	if v.Shown, err = q.shown(v.Newer.Changes); err != nil {
		return err
	}
	v.Form.Values.Set("version", strconv.FormatInt(now.Version, 10))
	return q.Invalid(page, part, now.Name, v)
}

// difference is what changed from a version to another; from 0: since the one before.
func (q *Request) difference(id string, from, to int64) (*wire.AgentDiff, error) {
	address := Path("/v1/agents/", id, "/versions/", strconv.FormatInt(to, 10), "/diff")
	if from > 0 {
		address += "?against=" + strconv.FormatInt(from, 10)
	}
	return read[*wire.AgentDiff](q, address)
}

func deletePage(q *Request) error {
	a, err := q.agent()
	if err != nil {
		return err
	}
	v := q.agentView(a, nil)
	numbers, err := q.numbersOf()
	v.Numbers = numbers[a.ID]
	return q.Show("agent-delete", "Delete "+a.Name)(v, err)
}

func deleteAgent(q *Request) error {
	a, err := q.agent()
	if err != nil {
		return err
	}
	return q.Do(http.MethodDelete, Path("/v1/agents/", a.ID), nil, agentsAt, a.Name+" was deleted.")
}

var plainName = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// exportAgent sends an agent, or one of its versions, as a file.
func exportAgent(q *Request) error {
	address := Path("/v1/agents/", q.ID("id"))
	if v := q.R.URL.Query().Get("version"); v != "" {
		address = Path("/v1/agents/", q.ID("id"), "/versions/", v)
	}
	a, err := read[wire.AgentDefinition](q, address)
	if err != nil {
		return err
	}
	text, err := agentFile(&a)
	if err != nil {
		return err
	}
	name := cmp.Or(strings.Trim(plainName.ReplaceAllString(a.Name, "-"), "-"), "agent")
	q.W.Header().Set("Content-Type", "application/yaml; charset=utf-8")
	q.W.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s.yaml"`, name))
	_, _ = q.W.Write([]byte(text)) // the client has gone
	return nil
}
