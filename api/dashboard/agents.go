package dashboard

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/wire"
	"parley/store"
	"parley/store/ledger"
)

// maxAgentForm bounds a form with an agent, in bytes: the longest texts, escaped.
const maxAgentForm = 3 << 20

const agentsAt = home + "/agents"

func agentPages() []page {
	const one = agentsAt + "/{id}"
	return []page{
		{route: "GET " + agentsAt, serve: listAgents},
		{route: "GET " + agentsAt + "/new", serve: newAgentPage},
		{route: "POST " + agentsAt, max: maxAgentForm, serve: createAgent},
		{route: "POST " + agentsAt + "/check", max: maxAgentForm, serve: checkAgent},
		{route: "GET " + agentsAt + "/import", serve: importPage},
		{route: "POST " + agentsAt + "/import", max: maxAgentForm, serve: importAgent},
		{route: "GET " + one, serve: editAgent},
		{route: "POST " + one, max: maxAgentForm, serve: saveAgent},
		{route: "GET " + one + "/document", serve: documentPage},
		{route: "POST " + one + "/document", max: maxAgentForm, serve: saveDocument},
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
func (a agentRow) LanguageName() string { return labelOfOption(languageOptions(), a.Language) }

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
	all, err := ledger.New(q.DB).Numbers(q.Context(), q.Account(), store.Page{})
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
	Early    bool        // whether answers are begun early unless an agent says otherwise
	Stages   []agentStage
	settings *huma.Schema // of settings; nil: the server has none
	// Newer is what another user changed while this was edited.
	Newer *wire.AgentDiff
}

// Blank is an entry of a list for scripts to make more of.
func (v *agentView) Blank(list string) Row {
	r := blankRow(list)
	r.N = -1
	return r
}

// agentTabs are the ways from one page of an agent to the others.
type agentTabs struct{ ID, Tab string }

// Tabs says which page is open.
func (v *agentView) Tabs(tab string) agentTabs { return agentTabs{v.ID, tab} }

func newAgentPage(q *Request) error {
	f, err := formOf(&wire.AgentDefinition{Voice: "F1", Language: "en", FirstMessage: "Hello, how can I help you?"})
	return q.Show("agent", "New agent")(q.agentView(nil, f), err)
}

// agentView gathers what the editor shows; a nil agent is new.
func (q *Request) agentView(a *wire.AgentDefinition, f *agentForm) *agentView {
	v := &agentView{Title: "New agent", Agent: a, Form: f, Early: q.Card().SpeculativeReplies(), Stages: agentStages(q.Status.Models().Models),
		settings: q.d.api.Document().Components.Schemas.SchemaFromRef(wire.AgentSettingsRef)}
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
	f, err := formOf(a)
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
	var found struct {
		Mistakes []wire.Mistake `json:"mistakes"`
	}
	err := q.Call(http.MethodPost, "/v1/agents/validate", document, &found)
	if p := api.ProblemOf(err); err != nil && p.Status == http.StatusBadRequest {
		return []wire.Mistake{{Path: "body", Problem: p.Detail}}, nil
	}
	return found.Mistakes, err
}

// entered reads the form and says in it what is wrong.
func (q *Request) entered() (*agentForm, *wire.AgentDefinition, error) {
	f, err := agentEntered(q)
	if err != nil {
		return nil, nil, err
	}
	a, err := f.document()
	if err != nil {
		return nil, nil, err
	}
	wrong, err := q.judge(a)
	f.mistaken(wrong)
	return f, a, err
}

// checkAgent says what is wrong with a form, or a document, while it is written.
func checkAgent(q *Request) error {
	form, err := q.Form()
	if err != nil {
		return err
	}
	var list []Complaint
	if form.Values.Has("document") {
		_, list, err = q.documentEntered(form)
	} else {
		var f *agentForm
		if f, _, err = q.entered(); err == nil {
			list = f.Complaints()
		}
	}
	if err != nil {
		return err
	}
	return q.Part("agent", "agent-complaints", list)
}

func createAgent(q *Request) error {
	f, a, err := q.entered()
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

func saveAgent(q *Request) error {
	f, a, err := q.entered()
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
	version, _ := strconv.ParseInt(f.Value("version"), 10, 64) // what is no number is no version
	saved, err := q.put(stored.ID, version, a)
	if stale(err) {
		return q.conflict(v, version, "agent", "agent-form")
	}
	if err != nil {
		return err
	}
	return q.Done(Path(agentsAt+"/", stored.ID), savedWords(version, saved))
}

// savedWords say that what was entered over a version was saved.
func savedWords(version int64, saved *wire.AgentDefinition) string {
	if saved.Version == version {
		return "Nothing was changed."
	}
	return fmt.Sprintf("Saved as version %d. New conversations go by it.", saved.Version)
}

// put stores an agent over the version that it was made of.
func (q *Request) put(id string, version int64, document any) (*wire.AgentDefinition, error) {
	saved := &wire.AgentDefinition{}
	ctx := api.WithIfMatch(q.Context(), fmt.Sprintf("%q", strconv.FormatInt(version, 10)))
	return saved, q.d.api.Call(ctx, q.Principal(), http.MethodPut, Path("/v1/agents/", id), document, saved)
}

func stale(err error) bool {
	return err != nil && api.ProblemOf(err).Status == http.StatusPreconditionFailed
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
