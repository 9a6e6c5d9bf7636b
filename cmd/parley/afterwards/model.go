package afterwards

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"parley/billing"
	"parley/inference"
	"parley/pipeline/reply"
	"parley/pipeline/schema"
	"parley/pipeline/session"
	"parley/store"
	"parley/store/aftercall"
	"parley/store/history"
)

// errNoSummary is a model's empty answer.
var errNoSummary = errors.New("the model wrote no summary")

// maxModelText is how many bytes of one answer are read.
const maxModelText = 64 << 10

// bytesOfToken are fewer than those of a token in any language, so that what is expected of
// a request is rather too much.
const bytesOfToken = 2

// expectAnswers adds what a request may take that is made so many times, the later ones
// with the answers before.
func expectAnswers(u *billing.Usage, r inference.Request, times int64) {
	in, out := len(r.System)+len(r.Schema), int64(r.MaxTokens)
	for _, m := range r.Messages {
		in += len(m.Text)
	}
	u[billing.SummaryIn] += times*int64(in/bytesOfToken) + times*(times-1)/2*out
	u[billing.SummaryOut] += times * out
}

// question is what a model is asked about one call, with what that took.
type question struct {
	llm      inference.LLM
	of       func(engine string) session.Engine // see Work.Model
	lines    []inference.SummaryLine
	language string
	took     []aftercall.Completion
}

// extract asks for facts that fit the form, and once more when they do not.
func (q *question) extract(ctx context.Context, form *schema.Schema, text []byte, result *aftercall.Analysis) error {
	request := inference.ExtractRequest(q.lines, q.language, text)
	for again := false; ; again = true {
		answer, err := q.ask(ctx, request)
		if inference.FaultOf(err) == inference.ErrRefused && len(request.Schema) > 0 {
			request.Schema = nil // a server that cannot be asked for JSON can be asked nicely
			answer, err = q.ask(ctx, request)
		}
		if err != nil {
			return err
		}
		data, wrong := form.Answer("data", answer)
		if len(wrong) == 0 {
			result.Data = data
			return nil
		}
		q.discard()
		if again {
			result.State, result.Reason, result.Detail = aftercall.AnalysisFailed, aftercall.AnalysisAnswer, clippedTo(wrong.Error(), maxDetail)
			return nil
		}
		request = request.Again(answer, wrong.Error())
	}
}

// discard says that the latest answer was of no use.
func (q *question) discard() { q.took[len(q.took)-1].Outcome = string(reply.Discarded) }

// ask lets the model answer, and notes what it took.
func (q *question) ask(ctx context.Context, r inference.Request) (string, error) {
	text, took, err := Complete(ctx, q.llm, r)
	if err != nil {
		return "", err
	}
	e := q.of(took.Engine)
	took.Own, took.Model, took.Costs = e.Own, e.Model, e.Costs
	q.took = append(q.took, took)
	return text, nil
}

// Complete returns the whole answer to a request, and what it took. An answer above 64 KiB is
// cut short.
func Complete(ctx context.Context, llm inference.LLM, r inference.Request) (string, aftercall.Completion, error) {
	took := aftercall.Completion{Generation: store.Generation{Outcome: string(reply.Committed), Source: string(inference.UsageCounted), Engine: llm.Info().Name}}
	var text strings.Builder
	for d, err := range llm.Complete(ctx, r) {
		if err != nil {
			return "", took, err
		}
		text.WriteString(d.Text)
		took.Engine = cmp.Or(d.Engine, took.Engine)
		if u := d.Usage; u != nil {
			took.InTokens, took.Cached, took.OutTokens = int64(u.In), int64(u.Cached), int64(u.Out)
			took.Source = cmp.Or(string(u.Source), took.Source)
		}
		if text.Len() > maxModelText {
			break
		}
	}
	return strings.TrimSpace(strings.ToValidUTF8(text.String(), "")), took, nil
}

// SummaryLines is a transcript as a model reads it.
func SummaryLines(transcript []history.TranscriptLine) []inference.SummaryLine {
	lines := make([]inference.SummaryLine, len(transcript))
	for i, l := range transcript {
		lines[i] = inference.SummaryLine{Agent: l.Role != "user", Text: l.Text}
	}
	return lines
}

func clippedTo(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most])
	}
	return text
}
