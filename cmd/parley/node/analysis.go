package node

import (
	"context"
	"errors"
	"strings"
	"time"

	"parley/billing"
	"parley/inference"
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/schema"
	"parley/store"
	"parley/store/history"
	"parley/store/jobs"
)

// Calls that are over are analyzed by rounds: the transaction that ends a call says that
// it is due and queues a round; what that did not get done the next one finds. The
// database says which are due, so an analysis outlives whoever was about to make it.
const (
	analysisWorkers  = 2 // rounds at once on one node: calls in progress need the model more
	analysesEvery    = 15 * time.Second
	analysisTime     = store.AnalysisLease - 10*time.Second // of one call
	analysesRound    = 30 * time.Second                     // then a round takes no further call
	analysisNoteTime = 5 * time.Second                      // for what came of it, also when the node stops
	maxModelText     = 64 << 10                             // bytes of one answer that are read
	maxDetail        = 500                                  // code points
)

type analyses struct{}

// Kind implements jobs.Args.
func (analyses) Kind() string { return "analyses" }

// handleAnalyses has calls analyzed. Call it before the queue opens.
func (n *Node) handleAnalyses() {
	jobs.Handle(n.jobs, jobs.Limits{Workers: analysisWorkers, Timeout: analysesRound + store.AnalysisLease}, n.analyzeCalls)
	jobs.Every(n.jobs, analysesEvery, analyses{})
}

func (n *Node) analyzeCalls(ctx context.Context, _ analyses) error {
	for begun := time.Now(); time.Since(begun) < analysesRound; {
		d, err := n.db.ClaimAnalysis(ctx, n.db.Now())
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err == nil {
			err = n.analyze(ctx, d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// analyze makes one analysis, and keeps it.
func (n *Node) analyze(ctx context.Context, d *store.DueAnalysis) error {
	call, err := history.New(n.db).Call(ctx, d.Account, d.Session)
	if err != nil {
		return err
	}
	result, took, err := n.analysisOf(ctx, d, call)
	keep, cancel := context.WithTimeout(context.WithoutCancel(ctx), analysisNoteTime)
	defer cancel()
	if err == nil {
		_, err = n.db.SaveAnalysis(keep, d, result, took, n.db.Now())
		return err
	}
	if ctx.Err() == nil { // else the node stops
		n.log.Warn("a call could not be analyzed and is tried again", "session", d.Session, "try", d.Try, "err", err)
	}
	return n.db.AnalysisLater(keep, d, result.Summary, took, n.db.Now())
}

// analysisOf asks the agent's language model about a call. With an error, which trying
// again may help, took and the result's summary count all the same.
func (n *Node) analysisOf(ctx context.Context, d *store.DueAnalysis, call *history.Call) (result store.Analysis, took []store.Generation, err error) {
	result.Summary = d.Summary
	settings, err := agent.ParseSettings(d.Settings)
	wanted := settings.Analysis
	switch {
	case err != nil || !wanted.Wanted():
		return store.Analysis{State: store.AnalysisSkipped, Reason: store.AnalysisSchema}, nil, nil
	case len(call.Transcript) == 0:
		return store.Analysis{State: store.AnalysisSkipped, Reason: store.AnalysisSilence}, nil, nil
	}
	q := question{llm: n.engines.chosen(settings.Engines).llm, lines: summaryLines(call.Transcript), language: d.Language}
	var expect billing.Usage
	summary := inference.SummaryFor(q.lines, q.language, wanted.SummaryPrompt)
	if wanted.Summary && result.Summary == nil {
		expectAnswers(&expect, summary, 1)
	}
	if len(wanted.Extract) > 0 {
		expectAnswers(&expect, inference.ExtractRequest(q.lines, q.language, wanted.Extract), 2)
	}
	paid, err := n.mayCharge(ctx, d.Account, d.Session, expect, store.AnalysisLease)
	if err != nil {
		return result, nil, err
	}
	if !paid {
		return store.Analysis{State: store.AnalysisSkipped, Reason: store.AnalysisBalance, Summary: result.Summary}, nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, analysisTime)
	defer cancel()
	if wanted.Summary && result.Summary == nil {
		text, err := q.ask(ctx, summary)
		if err == nil && text == "" {
			q.discard()
			err = errNoSummary
		}
		if err != nil {
			return result, q.took, err
		}
		text = clippedTo(text, maxSummary)
		result.Summary = &text
	}
	result.State = store.AnalysisDone
	if len(wanted.Extract) > 0 {
		form, mistakes := schema.Parse("extract", wanted.Extract)
		if len(mistakes) > 0 {
			return store.Analysis{State: store.AnalysisSkipped, Reason: store.AnalysisSchema}, q.took, nil
		}
		err = q.extract(ctx, form, wanted.Extract, &result)
	}
	return result, q.took, err
}

// mayCharge says whether what is expected of work on a call that is over may be charged:
// the account can pay for it, for so long as lease, and the limits of spending that bound
// the call allow more.
func (n *Node) mayCharge(ctx context.Context, account, call string, expect billing.Usage, lease time.Duration) (bool, error) {
	err := n.db.MaySpendAfter(ctx, account, call, n.db.Now())
	if errors.Is(err, store.ErrSpending) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return n.db.HoldAfterwards(ctx, account, call, expect, lease, n.db.Now())
}

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
	lines    []inference.SummaryLine
	language string
	took     []store.Generation
}

// extract asks for facts that fit the form, and once more when they do not.
func (q *question) extract(ctx context.Context, form *schema.Schema, text []byte, result *store.Analysis) error {
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
			result.State, result.Reason, result.Detail = store.AnalysisFailed, store.AnalysisAnswer, clippedTo(wrong.Error(), maxDetail)
			return nil
		}
		request = request.Again(answer, wrong.Error())
	}
}

// discard says that the latest answer was of no use.
func (q *question) discard() { q.took[len(q.took)-1].Outcome = string(pipeline.Discarded) }

// ask lets the model answer, and notes what it took.
func (q *question) ask(ctx context.Context, r inference.Request) (string, error) {
	text, g, err := completed(ctx, q.llm, r)
	if err == nil {
		q.took = append(q.took, g)
	}
	return text, err
}

// completed is the whole answer to a request, with what it took. An answer that goes on
// and on is cut short.
func completed(ctx context.Context, llm inference.LLM, r inference.Request) (string, store.Generation, error) {
	g := store.Generation{Outcome: string(pipeline.Committed), Source: string(inference.UsageCounted), Engine: llm.Info().Name}
	var text strings.Builder
	for d, err := range llm.Complete(ctx, r) {
		if err != nil {
			return "", g, err
		}
		text.WriteString(d.Text)
		if d.Engine != "" {
			g.Engine = d.Engine
		}
		if u := d.Usage; u != nil {
			g.InTokens, g.OutTokens = int64(u.In), int64(u.Out)
			if u.Source != "" {
				g.Source = string(u.Source)
			}
		}
		if text.Len() > maxModelText {
			break
		}
	}
	return strings.TrimSpace(strings.ToValidUTF8(text.String(), "")), g, nil
}

func summaryLines(transcript []history.TranscriptLine) []inference.SummaryLine {
	lines := make([]inference.SummaryLine, len(transcript))
	for i, l := range transcript {
		lines[i] = inference.SummaryLine{Agent: l.Role == "agent", Text: l.Text}
	}
	return lines
}

func clippedTo(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most])
	}
	return text
}
