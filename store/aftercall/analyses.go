package aftercall

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"parley/store"
	"parley/store/ledger"
)

// AnalysisState is how far the analysis of a call is.
type AnalysisState string

// States of an analysis.
const (
	AnalysisWaiting AnalysisState = "waiting"
	AnalysisDone    AnalysisState = "done"
	AnalysisFailed  AnalysisState = "failed"  // given up; a part of it may be there
	AnalysisSkipped AnalysisState = "skipped" // not tried
)

// Why an analysis failed or was skipped.
const (
	AnalysisEngine  = "engine"  // no language model answered
	AnalysisAnswer  = "answer"  // what it answered did not fit the schema, twice
	AnalysisBalance = "balance" // the account could not pay for it
	AnalysisSilence = "silence" // nothing was said
	AnalysisSchema  = "schema"  // the agent's settings cannot be read any more
)

// Analysis is what a language model made of a call after its end.
type Analysis struct {
	State   AnalysisState
	Reason  string          // why it failed or was skipped: a word
	Detail  string          // and a sentence, which may be empty
	Summary *string         // nil: not asked for, or not there
	Data    json.RawMessage // what was taken out of the transcript; nil likewise
	DoneAt  *time.Time      // nil: it waits
}

// DueAnalysis is a call that is over and to be analyzed now.
type DueAnalysis struct {
	Account, Session string
	Settings         json.RawMessage // of the agent, as it was in the call
	Language         string          // likewise
	Try              int             // from 1
	Summary          *string         // that an earlier try made; nil: none did
}

// Rhythm of analyses.
const (
	// AnalysisLease is how long the claimant of one may take.
	AnalysisLease    = 90 * time.Second
	analysisRetry    = 5 * time.Second
	maxAnalysisRetry = 5 * time.Minute
	maxAnalysisTries = 8 // about a quarter of an hour
)

// AnalysisDue is the condition, of SQL, in which $1 is the time, under which ClaimAnalysis finds one.
const AnalysisDue = "exists (select from call_analyses where state = 'waiting' and next_at <= $1)"

// ClaimAnalysis returns the next call to be analyzed, for one claimant; ErrNotFound: none
// is due. The claim is a lease of AnalysisLease; then another node may claim it.
func (w *Work) ClaimAnalysis(ctx context.Context) (*DueAnalysis, error) {
	now := w.db.Time(ctx)
	_, err := w.db.Exec(ctx, "give up analyses", `update call_analyses set state = 'failed', reason = 'engine', next_at = null, done_at = $1
		where state = 'waiting' and next_at <= $1 and tries >= $2`, now, maxAnalysisTries)
	if err != nil {
		return nil, err
	}
	return store.First[DueAnalysis](ctx, w.db, "claim analysis", `with due as (select a.session_id, v.settings, v.language
			from call_analyses a join calls c using (session_id) join agent_versions v on v.agent_id = c.agent_id and v.version = c.agent_version
			where a.state = 'waiting' and a.next_at <= $1 order by a.next_at limit 1 for update of a skip locked)
		update call_analyses a set tries = tries + 1, next_at = $2, claimed = true from due where a.session_id = due.session_id
		returning a.account_id, a.session_id, due.settings, due.language, a.tries, a.summary`, now, now.Add(AnalysisLease))
}

// AnalysisLater has a claimed analysis tried again: after five seconds first, five minutes
// at last. With the eighth try it is given up, for the reason engine. A summary that was
// made is kept for the next try, and charged, as in SaveAnalysis; what was discarded is
// not, so that a call pays for the answers of one try beside its summary.
func (w *Work) AnalysisLater(ctx context.Context, d *DueAnalysis, summary *string, took []Completion) error {
	took = slices.DeleteFunc(slices.Clone(took), func(c Completion) bool { return c.Outcome == "discarded" })
	if d.Try >= maxAnalysisTries {
		_, err := w.SaveAnalysis(ctx, d, Analysis{State: AnalysisFailed, Reason: AnalysisEngine, Summary: summary}, took)
		return err
	}
	wait := min(maxAnalysisRetry, analysisRetry<<min(d.Try-1, 10))
	_, err := w.ledger.Afterwards(ctx, "postpone analysis", d.Account, d.Session, func(e *ledger.Ended) (bool, []store.Event, error) {
		tag, err := e.Exec(ctx, `update call_analyses set next_at = $3, summary = coalesce(summary, $4), claimed = false
			where session_id = $1 and account_id = $2 and state = 'waiting' and claimed and tries = $5`, d.Session, d.Account, e.Now().Add(wait), storable(summary), d.Try)
		if err != nil || tag.RowsAffected() == 0 {
			return false, nil, err
		}
		return true, nil, summarizeAll(ctx, e, d.Session, took...)
	})
	return err
}

// SaveAnalysis keeps the result of a claimed analysis, and charges the completions that it
// took to the call, as tokens of summaries by the call's rate card: once, however often it is
// called; then false. A summary is the one of the call's row in a batch, too. Webhooks
// get an event, unless it was skipped.
func (w *Work) SaveAnalysis(ctx context.Context, d *DueAnalysis, a Analysis, took []Completion) (saved bool, err error) {
	a.Summary = storable(a.Summary)
	a.Detail = *storable(&a.Detail)
	return w.ledger.Afterwards(ctx, "save analysis", d.Account, d.Session, func(e *ledger.Ended) (bool, []store.Event, error) {
		tag, err := e.Exec(ctx, `update call_analyses set state = $3, reason = $4, detail = $5, summary = $6, data = $7, next_at = null, done_at = $8
			where session_id = $1 and account_id = $2 and state = 'waiting'`, d.Session, d.Account, a.State, a.Reason, a.Detail, a.Summary, optionalJSON(a.Data), e.Now())
		if err != nil || tag.RowsAffected() == 0 {
			return false, nil, err
		}
		if err := summarizeAll(ctx, e, d.Session, took...); err != nil {
			return false, nil, err
		}
		var events []store.Event
		if a.State != AnalysisSkipped {
			events = append(events, store.Event{Account: d.Account, Kind: store.CallAnalyzed, About: d.Session})
		}
		if a.Summary != nil {
			row, err := e.SummarizeRow(ctx, d.Session, *a.Summary)
			if err != nil {
				return false, nil, err
			}
			if row {
				events = append(events, store.Event{Account: d.Account, Kind: store.CallSummarized, About: d.Session})
			}
		}
		return true, events, nil
	})
}

// storable is a text without zero characters, which no text of PostgreSQL holds.
func storable(text *string) *string {
	if text == nil {
		return nil
	}
	clean := strings.ReplaceAll(*text, "\x00", "")
	return &clean
}

func optionalJSON(raw json.RawMessage) *string {
	if raw == nil {
		return nil
	}
	text := string(raw)
	return &text
}

// AnalysisOf returns the analysis of a call of the account; ErrNotFound: it has none.
func (w *Work) AnalysisOf(ctx context.Context, account, session string) (*Analysis, error) {
	return store.First[Analysis](ctx, w.db, "read analysis",
		"select state, reason, detail, summary, data, done_at from call_analyses where account_id = $1 and session_id = $2", account, session)
}
