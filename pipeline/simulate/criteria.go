package simulate

import (
	"encoding/json"
	"fmt"
	"strings"

	"parley/inference"
	"parley/pipeline/schema"
)

// Criterion is what a model judges a conversation by.
type Criterion struct {
	Name   string `json:"name"`
	Rubric string `json:"rubric"`
}

const (
	maxCriteria = 20
	maxRubric   = 2000
	maxReason   = 500 // code points of it that a Checked has
)

// verdict is what the model answers.
type verdict struct {
	Met    bool   `json:"met"`
	Reason string `json:"reason"`
}

// form is the JSON Schema of the answer to a criterion: a question about a transcript, as
// those that an agent's owner asks about calls.
func (c *Criterion) form() *schema.Schema {
	return schema.Object("A judgement of the agent in this call.", map[string]*schema.Schema{
		"met":    schema.Flag("Whether the call meets this criterion, judged strictly by the transcript: " + c.Rubric),
		"reason": schema.Text("Why it does or does not, in one sentence that names what was said.", 0),
	}, "met")
}

// criteria has the model judge what was said, a request for each criterion, for a
// criterion is judged more reliably alone. A model that fails is the run's problem.
func (w *world) criteria(r *Result) {
	lines := make([]inference.SummaryLine, len(r.Lines))
	for i, l := range r.Lines {
		lines[i] = inference.SummaryLine{Agent: l.Role == "agent", Text: l.Text}
	}
	for i := range w.script.Criteria {
		c := &w.script.Criteria[i]
		if w.problem != nil {
			return
		}
		if len(lines) == 0 {
			r.add("meets "+c.Name, false, "nothing was said")
			continue
		}
		v, err := w.verdict(c, lines)
		if err != nil {
			w.problem = fmt.Errorf("criterion %s: %w", c.Name, err)
			return
		}
		r.add("meets "+c.Name, v.Met, v.Reason)
		r.Checks[len(r.Checks)-1].Reason = v.Reason
	}
}

// verdict asks about one criterion, and once more when the answer does not fit. What does
// not fit then does not meet the criterion.
func (w *world) verdict(c *Criterion, lines []inference.SummaryLine) (v verdict, err error) {
	model := w.subject.Judge
	if model == nil {
		model = w.subject.Config.LLM
	}
	form := c.form()
	text, err := json.Marshal(form)
	if err != nil {
		return v, err
	}
	request := inference.ExtractRequest(lines, w.subject.Config.Agent.Language, text)
	for again := false; ; again = true {
		answer, _, err := w.complete(Judge, model, request)
		if inference.FaultOf(err) == inference.ErrRefused && len(request.Schema) > 0 {
			request.Schema = nil // a server that cannot be asked for JSON can be asked nicely
			answer, _, err = w.complete(Judge, model, request)
		}
		if err != nil {
			return v, err
		}
		data, wrong := form.Answer("answer", answer)
		if len(wrong) == 0 {
			err = json.Unmarshal(data, &v)
			v.Reason = clipped(v.Reason)
			return v, err
		}
		if again {
			return verdict{Reason: clipped("the model gave no judgement: " + wrong.Error())}, nil
		}
		request = request.Again(answer, wrong.Error())
	}
}

func clipped(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\x00", "")
	if r := []rune(text); len(r) > maxReason {
		return string(r[:maxReason])
	}
	return text
}
