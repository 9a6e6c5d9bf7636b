package calls

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"parley/api/wire"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
)

// CallAnalyzed is a call that has ended, with its analysis.
type CallAnalyzed struct {
	wire.CallSummary
	Analysis wire.CallAnalysis `json:"analysis" doc:"What the agent's language model made of it."`
}

// Analyzed is c, which has ended, with its analysis.
func Analyzed(c *history.Call, a *ledger.Analysis) (CallAnalyzed, error) {
	v, err := viewAnalysis(a)
	return CallAnalyzed{summary(c, time.Time{}), v}, err
}

func viewAnalysis(a *ledger.Analysis) (wire.CallAnalysis, error) {
	v := wire.CallAnalysis{State: string(a.State), Summary: a.Summary, DoneAt: a.DoneAt}
	if a.Reason != "" {
		v.Reason = &a.Reason
	}
	if a.Detail != "" {
		v.Detail = &a.Detail
	}
	if a.Data != nil {
		d := json.NewDecoder(bytes.NewReader(a.Data))
		d.UseNumber() // a float would lose digits
		if err := d.Decode(&v.Data); err != nil {
			return v, fmt.Errorf("analysis: %w", err)
		}
	}
	return v, nil
}

// analysisOf is the analysis of a call of the account; nil: it gets none.
func (m *calls) analysisOf(ctx context.Context, account, id string) (*wire.CallAnalysis, error) {
	a, err := ledger.New(m.db).AnalysisOf(ctx, account, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v, err := viewAnalysis(a)
	return &v, err
}
