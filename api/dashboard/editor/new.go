package editor

import (
	"encoding/json"

	"parley/api"
	"parley/api/dashboard/page"
	"parley/api/starter"
	"parley/api/wire"
)

// Templates are what a new agent may begin with.
func (v *agentView) Templates() []starter.Template { return starter.Templates() }

// newAgentPage shows the form of an agent that is not there yet: with little in it, or with the template that the
// address names.
func newAgentPage(q *page.Request) error {
	a := &wire.AgentDefinition{Voice: "F1", Language: "en", FirstMessage: "Hello, how can I help you?"}
	name := q.R.URL.Query().Get("template")
	if name != "" {
		t, ok := starter.Named(name)
		if !ok {
			return api.ErrNotFound
		}
		document, err := t.Document()
		if err != nil {
			return err
		}
		if err := json.Unmarshal(document, a); err != nil {
			return err
		}
	}
	f, err := formOf(q, a)
	v := newAgentView(q, nil, f)
	v.Template = name
	return q.Show("agent", "New agent")(v, err)
}
