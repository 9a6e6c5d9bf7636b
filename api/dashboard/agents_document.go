package dashboard

import (
	"encoding/json"
	"net/http"
	"strconv"

	"parley/api/wire"
)

func documentPage(q *Request) error {
	a, err := q.agent()
	if err != nil {
		return err
	}
	text, err := agentFile(a)
	f := &agentForm{Form: NewForm("document", text, "version", strconv.FormatInt(a.Version, 10))}
	return q.Show("agent-document", a.Name)(q.agentView(a, f), err)
}

// documentEntered reads a whole document and says what is wrong with it.
func (q *Request) documentEntered(f *Form) (json.RawMessage, []Complaint, error) {
	text, err := jsonOf(f.Values.Get("document"))
	if err != nil {
		return nil, []Complaint{{"document", "Document", sentence(err.Error())}}, nil
	}
	wrong, err := q.judge(text)
	var list []Complaint
	for _, m := range wrong {
		list = append(list, Complaint{"document", m.Path, sentence(m.Problem)})
	}
	return text, list, err
}

func saveDocument(q *Request, form *Form) error {
	stored, err := q.agent()
	if err != nil {
		return err
	}
	f := &agentForm{Form: form}
	v := q.agentView(stored, f)
	text, list, err := q.documentEntered(form)
	if err != nil {
		return err
	}
	if len(list) > 0 {
		return q.refusedDocument("agent-document", "agent-document-form", v, list)
	}
	return q.save(v, text, Path(agentsAt+"/", stored.ID, "/document"), "agent-document", "agent-document-form")
}

// refusedDocument shows a document again, with all that is wrong with it.
func (q *Request) refusedDocument(page, part string, v *agentView, list []Complaint) error {
	v.Form.Fail("document", list[0].Label+": "+list[0].What)
	v.Wrong = list
	return q.Invalid(page, part, v.Title, v)
}

func importPage(q *Request) error {
	return q.Page("agent-import", "Import an agent", &agentView{Title: "Import an agent", Form: &agentForm{Form: &Form{}}})
}

// importAgent makes an agent of a file, or of what was pasted.
func importAgent(q *Request) error {
	f, file, err := q.formWithFile(maxAgentForm)
	if err != nil {
		return err
	}
	if len(file) > 0 { // a browser sends an empty one where none was chosen
		f.Values.Set("document", string(file))
	}
	v := &agentView{Title: "Import an agent", Form: &agentForm{Form: f}}
	text, list, err := q.documentEntered(f)
	if err != nil {
		return err
	}
	if len(list) > 0 {
		return q.refusedDocument("agent-import", "agent-import-form", v, list)
	}
	var made wire.AgentDefinition
	if err := q.Call(http.MethodPost, "/v1/agents", text, &made); err != nil {
		return err
	}
	return q.Done(Path(agentsAt+"/", made.ID), made.Name+" was imported.")
}
