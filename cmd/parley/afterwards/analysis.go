package afterwards

import (
	"context"
	"time"

	"parley/billing"
	"parley/inference"
	"parley/pipeline/agent"
	"parley/pipeline/schema"
	"parley/store/aftercall"
	"parley/store/history"
	"parley/store/jobs"
)

const (
	analysisWorkers  = 2                                        // rounds at once on one node: calls in progress need the model more
	analysisTime     = aftercall.AnalysisLease - 10*time.Second // of one call
	analysesRound    = 30 * time.Second                         // then a round takes no further call
	analysisSaveTime = 5 * time.Second                          // also when the node stops
	maxDetail        = 500                                      // code points
)

type analyses struct{}

// Kind implements jobs.Args.
func (analyses) Kind() string { return "analyses" }

// analyze makes a round of the analyses that are due.
func (w *Work) analyze(ctx context.Context, _ analyses) error {
	return jobs.Drain(ctx, analysesRound, w.Due.ClaimAnalysis, w.analyzeCall)
}

// analyzeCall makes one analysis, and stores it.
func (w *Work) analyzeCall(ctx context.Context, d *aftercall.DueAnalysis) error {
	call, err := w.Calls.Call(ctx, d.Account, d.Session)
	if err != nil {
		return err
	}
	result, took, err := w.analysisOf(ctx, d, call)
	save, cancel := context.WithTimeout(context.WithoutCancel(ctx), analysisSaveTime)
	defer cancel()
	if err == nil {
		_, err = w.Due.SaveAnalysis(save, d, result, took)
		return err
	}
	if ctx.Err() == nil { // else the node stops
		w.Log.Warn("a call could not be analyzed and is tried again", "session", d.Session, "try", d.Try, "err", err)
	}
	return w.Due.AnalysisLater(save, d, result.Summary, took)
}

// analysisOf asks the agent's language model about a call. With an error, which trying
// again may help, took and the result's summary count all the same.
func (w *Work) analysisOf(ctx context.Context, d *aftercall.DueAnalysis, call *history.Call) (result aftercall.Analysis, took []aftercall.Completion, err error) {
	result.Summary = d.Summary
	settings, err := agent.ParseSettings(d.Settings)
	wanted := settings.Analysis
	switch {
	case err != nil || !wanted.Wanted():
		return aftercall.Analysis{State: aftercall.AnalysisSkipped, Reason: aftercall.AnalysisSchema}, nil, nil
	case len(call.Transcript) == 0:
		return aftercall.Analysis{State: aftercall.AnalysisSkipped, Reason: aftercall.AnalysisSilence}, nil, nil
	}
	q := question{lines: SummaryLines(call.Transcript), language: d.Language}
	q.llm, q.of = w.Model(ctx, d.Account, settings.Engines)
	var expect billing.Usage
	summary := inference.SummaryFor(q.lines, q.language, wanted.SummaryPrompt)
	if wanted.Summary && result.Summary == nil {
		expectAnswers(&expect, summary, 1)
	}
	if len(wanted.Extract) > 0 {
		expectAnswers(&expect, inference.ExtractRequest(q.lines, q.language, wanted.Extract), 2)
	}
	paid, err := w.mayCharge(ctx, d.Account, d.Session, expect, aftercall.AnalysisLease)
	if err != nil {
		return result, nil, err
	}
	if !paid {
		return aftercall.Analysis{State: aftercall.AnalysisSkipped, Reason: aftercall.AnalysisBalance, Summary: result.Summary}, nil, nil
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
	result.State = aftercall.AnalysisDone
	if len(wanted.Extract) > 0 {
		form, mistakes := schema.Parse("extract", wanted.Extract)
		if len(mistakes) > 0 {
			return aftercall.Analysis{State: aftercall.AnalysisSkipped, Reason: aftercall.AnalysisSchema}, q.took, nil
		}
		err = q.extract(ctx, form, wanted.Extract, &result)
	}
	return result, q.took, err
}
