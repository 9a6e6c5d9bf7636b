package editor

import (
	"encoding/json"
	"net/http"
	"strconv"

	"parley/api/dashboard/page"
	"parley/api/wire"
)

func documentPage(q *page.Request) error {
	a, err := agent(q)
	if err != nil {
		return err
	}
	text, err := a.File()
	f := &agentForm{Form: page.NewForm("document", text, "version", strconv.FormatInt(a.Version, 10))}
	return q.Show("agent-document", a.Name)(newAgentView(q, a, f), err)
}

// documentEntered reads a whole document and says what is wrong with it.
func documentEntered(q *page.Request, f *page.Form) (json.RawMessage, []Complaint, error) {
	text, err := wire.FromYAML(f.Values.Get("document"))
	if err != nil {
		return nil, []Complaint{{"document", "Document", page.Sentence(err.Error())}}, nil
	}
	wrong, err := judge(q, text)
	var list []Complaint
	for _, m := range wrong {
		list = append(list, Complaint{"document", m.Path, page.Sentence(m.Problem)})
	}
	return text, list, err
}

func saveDocument(q *page.Request, form *page.Form) error {
	stored, err := agent(q)
	if err != nil {
		return err
	}
	f := &agentForm{Form: form}
	v := newAgentView(q, stored, f)
	text, list, err := documentEntered(q, form)
	if err != nil {
		return err
	}
	if len(list) > 0 {
		return refusedDocument(q, "agent-document", "agent-document-form", v, list)
	}
	return save(q, v, text, page.Path(At+"/", stored.ID, "/document"), "agent-document", "agent-document-form")
}

// refusedDocument shows a document again, with all that is wrong with it.
func refusedDocument(q *page.Request, page, part string, v *agentView, list []Complaint) error {
	v.Form.Fail("document", list[0].Label+": "+list[0].What)
	v.Wrong = list
	return q.Invalid(page, part, v.Title, v)
}

func importPage(q *page.Request) error {
	return q.Page("agent-import", "Import an agent", &agentView{Title: "Import an agent", Form: &agentForm{Form: &page.Form{}}})
}

// importAgent makes an agent of a file, or of what was pasted.
func importAgent(q *page.Request) error {
	f, file, err := q.FormWithFile(maxAgentForm)
	if err != nil {
		return err
	}
	if len(file) > 0 { // a browser sends an empty one where none was chosen
		f.Values.Set("document", string(file))
	}
	v := &agentView{Title: "Import an agent", Form: &agentForm{Form: f}}
	text, list, err := documentEntered(q, f)
	if err != nil {
		return err
	}
	if len(list) > 0 {
		return refusedDocument(q, "agent-import", "agent-import-form", v, list)
	}
	var made wire.AgentDefinition
	if err := q.Call(http.MethodPost, "/v1/agents", text, &made); err != nil {
		return err
	}
	return q.Done(page.Path(At+"/", made.ID), made.Name+" was imported.")
}
