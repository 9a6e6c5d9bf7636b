package calls

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"parley/store"
	"parley/store/history"
)

// CallAnalysis is what the agent's language model made of a call after its end.
type CallAnalysis struct {
	State   string         `json:"state" doc:"Status of the analysis. failed: given up, though the summary may be there; skipped: not tried." enum:"waiting,done,failed,skipped" example:"done"`
	Reason  *string        `json:"reason" doc:"Why it failed or was skipped: no language model answered; its answer did not fit the schema, twice; the balance was used up; nothing was said; the agent's settings cannot be read; or the call was deleted." enum:"engine,answer,balance,silence,schema,deleted" example:"answer"`
	Detail  *string        `json:"detail" doc:"The same in a sentence, if there is more to say." example:"data.day: is missing"`
	Summary *string        `json:"summary" doc:"What the call came to; null: not asked for, or not there." example:"Bob books a table for four on Friday."`
	Data    map[string]any `json:"data" doc:"What was taken out of the transcript, as the agent's schema wants it; null likewise." nullable:"true" example:"{\"day\":\"Friday\",\"people\":4}"`
	DoneAt  *time.Time     `json:"done_at" doc:"When it was finished; null: it waits."`
}

// CallAnalyzed is a call that has ended, with its analysis.
type CallAnalyzed struct {
	CallSummary
	Analysis CallAnalysis `json:"analysis" doc:"What the agent's language model made of it."`
}

// Analyzed is c, which has ended, with its analysis.
func Analyzed(c *history.Call, a *store.Analysis) (CallAnalyzed, error) {
	v, err := viewAnalysis(a)
	return CallAnalyzed{summary(c, time.Time{}), v}, err
}

func viewAnalysis(a *store.Analysis) (CallAnalysis, error) {
	v := CallAnalysis{State: string(a.State), Summary: a.Summary, DoneAt: a.DoneAt}
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
func (m *calls) analysisOf(ctx context.Context, account, id string) (*CallAnalysis, error) {
	a, err := m.db.AnalysisOf(ctx, account, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v, err := viewAnalysis(a)
	return &v, err
}
