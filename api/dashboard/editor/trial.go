package editor

import (
	"encoding/json"
	"net/http"
	"strings"

	"parley/api/dashboard/page"
	"parley/api/wire"
)

// triedFunction is what a function has come to that was run once.
type triedFunction struct{ wire.FunctionTest }

// Words says in words how it went, and Tone is their colour.
func (t *triedFunction) Words() outcome {
	switch t.Outcome {
	case "ok":
		return outcome{"Answered", "good"}
	case "timeout":
		return outcome{"Too late", "bad"}
	}
	return outcome{"Failed", "bad"}
}

// answered is what the model reads of a request that was answered.
type answered struct {
	Status int             `json:"status"`
	Body   json.RawMessage `json:"body"`
}

// Status is the HTTP status of the answer; 0: not known.
func (t *triedFunction) Status() int {
	var a answered
	_ = json.Unmarshal([]byte(t.Result), &a) // what is no answer has none
	return a.Status
}

// Answer is what the model reads, as people do: of a request the body, laid out; of an error its text.
func (t *triedFunction) Answer() string {
	var failed struct{ Error string }
	if t.Outcome != "ok" && json.Unmarshal([]byte(t.Result), &failed) == nil && failed.Error != "" {
		return page.Sentence(failed.Error)
	}
	var a answered
	if json.Unmarshal([]byte(t.Result), &a) != nil || a.Status == 0 {
		return t.Result
	}
	if len(a.Body) == 0 {
		return "(empty)"
	}
	var text string
	if json.Unmarshal(a.Body, &text) == nil {
		return text
	}
	if laid, err := wire.YAML(a.Body); err == nil {
		return strings.TrimSuffix(laid, "\n")
	}
	return string(a.Body)
}

// sample are arguments to begin a trial with: each parameter, with a value of its type.
func (v *functionView) sample() string {
	for _, x := range v.Form.fields.all {
		if x.path != "parameters" || !v.Form.listed(x) {
			continue
		}
		var out object
		for _, r := range v.Form.written(x) {
			out.add(r.cells["name"], sampleOf(r))
		}
		if len(out) == 0 {
			return ""
		}
		raw, _ := json.Marshal(out) // texts, numbers and flags can be written
		text, _ := wire.YAML(raw)
		return text
	}
	return ""
}

// sampleOf is a value of a parameter.
func sampleOf(r row) any {
	switch r.cells["kind"] {
	case "integer", "number":
		return 1
	case "boolean":
		return true
	case oneOf:
		if choices := choicesIn(r.cells["choices"]); len(choices) > 0 {
			return choices[0]
		}
	}
	return ""
}

// tryFunction runs what was entered once, which is not saved, and shows what it has come to.
func tryFunction(q *page.Request, form *page.Form) error {
	v, err := newFunctionView(q, form.Value("type"))
	if err != nil {
		return err
	}
	function, err := v.entered(q, form)
	if err != nil {
		return err
	}
	arguments := json.RawMessage("{}")
	if text := unix(form.Value("arguments")); text != "" {
		if arguments, err = wire.FromYAML(text); err != nil {
			v.Form.Fail("arguments", page.Sentence(err.Error()))
		}
	}
	name := form.Value("name")
	if v.Kind.Value == "mcp" {
		name = form.Need("function", "Enter the name of a function, such as "+name+"_search.")
	}
	if v.Form.OK() {
		list, err := json.Marshal([]json.RawMessage{function})
		if err != nil {
			return err
		}
		asked := object{{"tools", json.RawMessage(list)}, {"name", name}, {"arguments", arguments}}
		v.Tried = &triedFunction{}
		if err := v.Form.Refused(q.Call(http.MethodPost, "/v1/functions/test", asked, &v.Tried.FunctionTest)); err != nil {
			return err
		}
	}
	if !v.Form.OK() {
		v.Tried = nil
	}
	if q.HTMX() {
		return q.Part("agent-function", "function-tried", v)
	}
	return q.Page("agent-function", v.Title, v)
}
