package client

import (
	"context"
	"net/http"
	"time"

	"parley/api/wire"
)

// NewBatch is a batch of calls to queue. From and Agent may be left to the rows.
type NewBatch struct {
	Name    string           `json:"name,omitempty"`
	From    string           `json:"from,omitempty"`
	Agent   string           `json:"agent_id,omitempty"`
	Consent bool             `json:"consent_confirmed"` // all callees have agreed; without it the batch is refused
	Rows    []NewRow         `json:"rows"`              // 1 to 500
	Window  *wire.CallWindow `json:"call_window,omitempty"`
	Ring    int              `json:"ring_timeout_seconds,omitempty"`
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

// BulkDial queues a batch. A bad row refuses it; the error's Detail begins with which,
// counted from 0: rows[3].
func (c *Client) BulkDial(ctx context.Context, b NewBatch) (*wire.BatchDetail, error) {
	return c.batch(ctx, http.MethodPost, b)
}

// Batch looks at a batch and its rows.
func (c *Client) Batch(ctx context.Context, id string) (*wire.BatchDetail, error) {
	return c.batch(ctx, http.MethodGet, nil, id)
}

// TurnBatch pauses, resumes or cancels a batch, as verb says, and returns it.
func (c *Client) TurnBatch(ctx context.Context, id, verb string) (*wire.BatchDetail, error) {
	return c.batch(ctx, http.MethodPost, nil, id, verb)
}

func (c *Client) batch(ctx context.Context, method string, in any, path ...string) (*wire.BatchDetail, error) {
	var out wire.BatchDetail
	if err := c.call(ctx, method, c.address(append([]string{"callcenter", "bulk-dial"}, path...)...), in, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// Batches lists the account's batches, newest first, without their rows.
func (c *Client) Batches(ctx context.Context) ([]wire.Batch, error) {
	var out struct {
		Batches []wire.Batch `json:"batches"`
	}
	err := c.call(ctx, http.MethodGet, c.address("callcenter", "bulk-dial"), nil, &out)
	return out.Batches, err
}
