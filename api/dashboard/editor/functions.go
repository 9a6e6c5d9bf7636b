package editor

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"parley/api"
	"parley/api/dashboard/page"
	"parley/api/wire"
	"parley/store"
)

// membersOf are the members of a function that its form shows, by its kind. A kind that is not here has none.
var membersOf = map[string][]string{
	"http":     {"name", "description", "parameters", "http", "on_interrupt"},
	"mcp":      {"name", "mcp", "on_interrupt"},
	"function": {"function"},
	"crm":      {"crm"},
}

// functionRow is a function of an agent in a list.
type functionRow struct {
	At          string // its page
	Name, Kind  string // the kind in words
	Description string
}

// functionsView are an agent's functions.
type functionsView struct {
	Agent     *wire.AgentDefinition
	Functions []functionRow
	Kinds     []page.Option
}

// Tabs says which page is open.
func (v *functionsView) Tabs(tab string) agentTabs { return agentTabs{v.Agent.ID, tab} }

// functionsAt is where the functions of an agent are.
func functionsAt(agent string) string { return page.Path(At+"/", agent, "/functions") }

// functionShape is the schema of a function.
func functionShape(q *page.Request) (*shape, error) {
	schema, err := page.Read[shape](q, "/v1/agents/schema")
	if err != nil {
		return nil, err
	}
	return schema.Properties["tools"].Items, nil
}

// kinds are those that there are, in words. None is a choice that counts anyway.
func (s *shape) kinds() []page.Option { return s.Properties["type"].options() }

// toolsOf are the functions of an agent, each as it was written.
func toolsOf(a *wire.AgentDefinition) (list []json.RawMessage, err error) {
	if len(a.Tools.RawMessage) > 0 {
		err = json.Unmarshal(a.Tools.RawMessage, &list)
	}
	return list, err
}

// namesOf says what a function is called and what it is for.
func namesOf(raw json.RawMessage, kinds []page.Option) (row functionRow) {
	var f struct {
		Type, Name, Description string
		Function                struct{ Name, Description string }
	}
	_ = json.Unmarshal(raw, &f) // nothing else is stored
	row.Kind = page.LabelOf(kinds, f.Type)
	row.Name, row.Description = cmp.Or(f.Name, f.Function.Name, row.Kind), cmp.Or(f.Description, f.Function.Description)
	return row
}

// functionRows are the functions of an agent for a list.
func functionRows(a *wire.AgentDefinition, kinds []page.Option) ([]functionRow, error) {
	list, err := toolsOf(a)
	rows := make([]functionRow, len(list))
	for i, raw := range list {
		rows[i] = namesOf(raw, kinds)
		rows[i].At = functionsAt(a.ID) + "/" + strconv.Itoa(i+1)
	}
	return rows, err
}

func functionsPage(q *page.Request) error {
	a, err := agent(q)
	if err != nil {
		return err
	}
	of, err := functionShape(q)
	if err != nil {
		return err
	}
	v := &functionsView{Agent: a, Kinds: of.kinds()}
	v.Functions, err = functionRows(a, v.Kinds)
	return q.Show("agent-functions", "Functions of "+a.Name)(v, err)
}

// toolsSection is the part of an agent's form with its functions.
type toolsSection struct {
	agentSection
	Agent     string // empty: it is not there yet
	Functions []functionRow
	Wrong     bool // whether something is wrong with the document of them
}

// Tools is the section of functions with those that are stored.
func (v *agentView) Tools(s agentSection) (toolsSection, error) {
	out := toolsSection{agentSection: s, Agent: v.ID, Wrong: v.Form.Errors["tools"] != ""}
	if v.Agent == nil {
		return out, nil
	}
	var err error
	out.Functions, err = functionRows(v.Agent, s.fields[0].Items.kinds())
	return out, err
}

// functionView is a function that is edited.
type functionView struct {
	Agent *wire.AgentDefinition
	No    int // from 1; 0: it is new
	Title string
	Kind  page.Option
	Form  *agentForm
	Owner bool // whether the user may have it run
	Tried *triedFunction
	tools []json.RawMessage
	shape *shape
}

// Tabs says which page is open.
func (v *functionView) Tabs(tab string) agentTabs { return agentTabs{v.Agent.ID, tab} }

// At is where the function is, or what is below it.
func (v *functionView) At(below string) string {
	at := functionsAt(v.Agent.ID)
	if v.No > 0 {
		at += "/" + strconv.Itoa(v.No)
	}
	return at + below
}

// Trial says whether this server can run it for once.
func (v *functionView) Trial() bool {
	return v.Owner && (v.Kind.Value == "http" || v.Kind.Value == "mcp")
}

// Groups are the fields, those beside each other together.
func (v *functionView) Groups() [][]control {
	if len(v.Form.fields.sections) == 0 {
		return nil
	}
	return v.Form.Sections()[0].Groups
}

// newFunctionView gathers what the form of the function of the path shows, or of a new one of a kind. The form is empty.
func newFunctionView(q *page.Request, kind string) (*functionView, error) {
	a, err := agent(q)
	if err != nil {
		return nil, err
	}
	v := &functionView{Agent: a, Title: "New function", Owner: q.Principal().Owner}
	if v.tools, err = toolsOf(a); err != nil {
		return nil, err
	}
	if v.shape, err = functionShape(q); err != nil {
		return nil, err
	}
	if no := q.ID("no"); no != "" {
		n, err := strconv.Atoi(no)
		if err != nil || n < 1 || n > len(v.tools) {
			return nil, store.ErrNotFound
		}
		var is struct{ Type string }
		if err := json.Unmarshal(v.tools[n-1], &is); err != nil {
			return nil, err
		}
		v.No, kind = n, is.Type
		v.Title = namesOf(v.tools[n-1], v.shape.kinds()).Name
	}
	i := slices.IndexFunc(v.shape.kinds(), func(o page.Option) bool { return o.Value == kind })
	if i < 0 {
		return nil, store.ErrNotFound
	}
	v.Kind = v.shape.kinds()[i]
	return v, nil
}

// fields are those of the form of the function's kind.
func (v *functionView) fields() *agentFields {
	f := &agentFields{}
	f.add(agentSection{Fields: membersOf[v.Kind.Value]}.resolved(v.shape, ""))
	for _, x := range f.all {
		if x.path == "http.body" { // it may be any JSON
			free := *x.shape
			free.Type = "object"
			x.shape = &free
		}
	}
	return f
}

// fill makes the form of a function as it is.
func (v *functionView) fill(raw json.RawMessage) error {
	v.Form = &agentForm{Form: page.NewForm("version", strconv.FormatInt(v.Agent.Version, 10), "kept", string(raw), "type", v.Kind.Value), fields: v.fields()}
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &members); err != nil {
		return err
	}
	for _, x := range v.Form.fields.all {
		v.Form.fill(x, settingAt(members, x.path))
	}
	v.Form.Values.Set("arguments", v.sample())
	return nil
}

// entered is the function that a form says, and what is wrong with it there.
func (v *functionView) entered(q *page.Request, form *page.Form) (json.RawMessage, error) {
	v.Form = &agentForm{Form: form, fields: v.fields()}
	members := v.Form.kept()
	if err := v.Form.change(members, ""); err != nil {
		return nil, err
	}
	members["type"], _ = json.Marshal(v.Kind.Value) // a string can be written
	function, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	n, list := v.with(function)
	document := *v.Agent
	document.Tools = wire.AgentTools{RawMessage: list}
	wrong, err := judge(q, document)
	at := "tools[" + strconv.Itoa(n) + "]"
	for _, m := range wrong {
		rest, own := strings.CutPrefix(m.Path, at)
		if !own { // of the agent's other parts
			v.Form.Others = append(v.Form.Others, m)
			continue
		}
		m.Path = cmp.Or(strings.TrimPrefix(rest, "."), nameOf[v.Kind.Value])
		v.Form.mistaken([]wire.Mistake{m})
	}
	return function, err
}

// nameOf is where a function of a kind has its name: what is wrong with the whole of it, such as that another has
// its name, stands there.
var nameOf = map[string]string{"http": "name", "mcp": "name", "function": "function.name"}

// with is the agent's list with a function in the place of this one, or after the last, and its number from 0.
func (v *functionView) with(function json.RawMessage) (n int, list json.RawMessage) {
	all := slices.Clone(v.tools)
	if n = v.No - 1; v.No == 0 {
		n, all = len(all), append(all, nil)
	}
	all[n] = function
	list, _ = json.Marshal(all) // what was read, or has been written, can be written
	return n, list
}

func newFunctionPage(q *page.Request) error {
	v, err := newFunctionView(q, cmp.Or(q.R.URL.Query().Get("kind"), "http"))
	if err == nil {
		err = v.fill(json.RawMessage("{}"))
	}
	return q.Show("agent-function", "New function")(v, err)
}

func functionPage(q *page.Request) error {
	v, err := newFunctionView(q, "")
	if err != nil {
		return err
	}
	return q.Show("agent-function", v.Title)(v, v.fill(v.tools[v.No-1]))
}

// checkFunction says what is wrong with a function while it is written.
func checkFunction(q *page.Request, form *page.Form) error {
	v, err := newFunctionView(q, form.Value("type"))
	if err != nil {
		return err
	}
	if _, err := v.entered(q, form); err != nil {
		return err
	}
	return q.Part("agent-function", "agent-complaints", v.Form.Complaints())
}

func saveFunction(q *page.Request, form *page.Form) error {
	v, err := newFunctionView(q, form.Value("type"))
	if err != nil {
		return err
	}
	function, err := v.entered(q, form)
	if err != nil {
		return err
	}
	if !v.Form.OK() || form.Value("more") != "" {
		return v.invalid(q)
	}
	_, list := v.with(function)
	what := namesOf(function, v.shape.kinds()).Name
	return v.save(q, list, functionsAt(v.Agent.ID), what+" was saved")
}

func deleteFunction(q *page.Request, form *page.Form) error {
	v, err := newFunctionView(q, "")
	if err != nil {
		return err
	}
	list, err := json.Marshal(slices.Delete(slices.Clone(v.tools), v.No-1, v.No))
	if err != nil {
		return err
	}
	v.Form = &agentForm{Form: form, fields: v.fields()}
	return v.save(q, list, functionsAt(v.Agent.ID), v.Title+" was deleted")
}

// invalid shows the form again.
func (v *functionView) invalid(q *page.Request) error {
	return q.Invalid("agent-function", "agent-function-form", v.Title, v)
}

// save stores the agent with other functions over the version that the form was made of, and says what was done.
func (v *functionView) save(q *page.Request, list json.RawMessage, next, done string) error {
	version, _ := strconv.ParseInt(v.Form.Value("version"), 10, 64) // what is no number is no version
	document := *v.Agent
	document.Tools = wire.AgentTools{RawMessage: list}
	saved, err := put(q, v.Agent.ID, version, document)
	switch {
	case err != nil && api.ProblemOf(err).Status == http.StatusPreconditionFailed:
		v.Form.Fail("", "Somebody else has saved this agent in the meantime, and nothing was done. Open the functions again, and make your change there.")
		return v.invalid(q)
	case err != nil:
		return err
	case saved.Version == version:
		return q.Done(next, "Nothing was changed.")
	}
	return q.Done(next, done+", as version "+strconv.FormatInt(saved.Version, 10)+" of the agent. New calls use it.")
}
