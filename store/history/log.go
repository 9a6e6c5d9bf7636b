package history

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store"
)

// CallLog is what happened in a call, oldest first. The zero CallLog is that of a call
// without one: it still lasts, or ended with its node.
type CallLog struct {
	// How the call stood before the first of Events: since when, its status, who had
	// answered, and how many lines had been said, which are the transcript's first.
	At         time.Time   `json:"at"`
	Status     string      `json:"status"`
	AnsweredBy string      `json:"answered_by,omitempty"`
	Lines      int         `json:"lines"`
	Omitted    int         `json:"omitted"` // older events, which are not kept
	Events     []CallEvent `json:"events"`
}

// CallEvent is one thing that happened in a call. One field besides At is set.
type CallEvent struct {
	At         time.Time       `json:"at"`
	Status     string          `json:"status,omitempty"`
	AnsweredBy string          `json:"answered_by,omitempty"`
	Line       *TranscriptLine `json:"line,omitempty"`      // that was added
	Correction *Correction     `json:"corrected,omitempty"` // of an earlier line
	Function   *FunctionCall   `json:"function,omitempty"`  // that was called, or has its result
}

// Correction is a line's new text.
type Correction struct {
	Line int    `json:"line"` // of the transcript, from 0
	Text string `json:"text"`
}

// saveLog adds the replacement of a call's log to b.
func saveLog(b *pgx.Batch, id string, l *CallLog) error {
	kept := *l
	kept.Events = append([]CallEvent{}, l.Events...) // [] and not null when there are none
	for i, e := range kept.Events {
		kept.Events[i] = e.storable()
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	b.Queue("insert into call_logs (session_id, log) values ($1, $2) on conflict (session_id) do update set log = excluded.log", id, string(text))
	return nil
}

// CallLog returns the log of a call of the account.
func (h *Store) CallLog(ctx context.Context, account, id string) (*CallLog, error) {
	found, err := store.First[struct{ Log CallLog }](ctx, h.db, "read call log", `select coalesce(l.log, '{}') from calls c
		left join call_logs l on l.session_id = c.session_id where c.account_id = $1 and c.session_id = $2`, account, id)
	if err != nil {
		return nil, err
	}
	return &found.Log, nil
}
