package client

import (
	"context"
	"net/http"
	"time"

	"parley/billing"
)

// NewBatch is a batch of calls to queue. From and Agent may be left to the rows.
type NewBatch struct {
	Name    string      `json:"name,omitempty"`
	From    string      `json:"from,omitempty"`
	Agent   string      `json:"agent_id,omitempty"`
	Consent bool        `json:"consent_confirmed"` // all callees have agreed; without it the batch is refused
	Rows    []NewRow    `json:"rows"`              // 1 to 500
	Window  *CallWindow `json:"call_window,omitempty"`
	Ring    int         `json:"ring_timeout_seconds,omitempty"`
	// OnMachine is what a machine gets: continue, hangup or message; empty: continue.
	OnMachine string `json:"on_machine,omitempty"`
	Message   string `json:"message,omitempty"`              // of message
	Longest   int    `json:"max_duration_seconds,omitempty"` // 10 to 7200; 0: as the agent says
}

// NewRow is one call of it.
type NewRow struct {
	To          string     `json:"to"`
	ScheduledAt *time.Time `json:"scheduled_at,omitempty"` // nil: at once
	From        string     `json:"from,omitempty"`         // instead of the batch's
	Agent       string     `json:"agent_id,omitempty"`
}

// CallWindow is the time of day in which people are called, both ends as "15:04".
type CallWindow struct {
	Start    string `json:"start"`
	End      string `json:"end"`
	Timezone string `json:"timezone"` // a zone's name, or destination
}

// Batch is a queued batch.
type Batch struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	State     string    `json:"state"` // running, paused, cancelled or done
	CreatedAt time.Time `json:"created_at"`
	Total     int       `json:"total"`
	Counts    struct {
		Pending int `json:"pending"`
		Dialing int `json:"dialing"`
		Sent    int `json:"sent"`
		Failed  int `json:"failed"`
	} `json:"counts"`
	Window    *CallWindow `json:"call_window,omitempty"`
	OnMachine string      `json:"on_machine"`
	Rows      []BatchRow  `json:"rows,omitempty"` // not of Batches
}

// BatchRow is a call of a batch. What is not known, or does not apply, is nil.
type BatchRow struct {
	ID          string        `json:"id"`
	To          string        `json:"to"`
	From        string        `json:"from"`
	Agent       string        `json:"agent_id"`
	ScheduledAt *time.Time    `json:"scheduled_at"`
	Status      string        `json:"status"` // pending, dialing, sent or failed
	CallID      *string       `json:"call_id"`
	StartedAt   *time.Time    `json:"started_at"`
	AnsweredAt  *time.Time    `json:"answered_at"`
	EndedAt     *time.Time    `json:"ended_at"`
	Duration    int64         `json:"duration"` // whole seconds since the answer
	EndReason   *string       `json:"end_reason"`
	EndDetail   *string       `json:"end_detail"`
	AnsweredBy  *string       `json:"answered_by"`
	Cost        billing.Money `json:"cost"`
	Summary     *string       `json:"summary"`
	Error       *RowError     `json:"error,omitempty"`
}

// RowError is why a row was not dialled.
type RowError struct {
	Code    string `json:"code"`
	Message string `json:"error"`
}

// BulkDial queues a batch. A bad row refuses it; the error's Detail begins with which,
// counted from 0: rows[3].
func (c *Client) BulkDial(ctx context.Context, b NewBatch) (*Batch, error) {
	return c.batch(ctx, http.MethodPost, b)
}

// Batch looks at a batch and its rows.
func (c *Client) Batch(ctx context.Context, id string) (*Batch, error) {
	return c.batch(ctx, http.MethodGet, nil, id)
}

// TurnBatch pauses, resumes or cancels a batch, as verb says, and returns it.
func (c *Client) TurnBatch(ctx context.Context, id, verb string) (*Batch, error) {
	return c.batch(ctx, http.MethodPost, nil, id, verb)
}

func (c *Client) batch(ctx context.Context, method string, in any, path ...string) (*Batch, error) {
	var out Batch
	if err := c.call(ctx, method, c.address(append([]string{"callcenter", "bulk-dial"}, path...)...), in, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// Batches lists the account's batches, newest first, without their rows.
func (c *Client) Batches(ctx context.Context) ([]Batch, error) {
	var out struct {
		Batches []Batch `json:"batches"`
	}
	err := c.call(ctx, http.MethodGet, c.address("callcenter", "bulk-dial"), nil, &out)
	return out.Batches, err
}
