package client

import (
	"context"
	"net/http"
	"net/url"

	"parley/api/wire"
)

// Keys lists the account's API keys, the newest first, revoked ones too: at most so many. more says whether there are
// others.
func (c *Client) Keys(ctx context.Context, most int) (list []wire.APIKey, more bool, err error) {
	return pages[wire.APIKey](ctx, c, most, url.Values{}, "v1", "keys")
}

// CreateKey makes an API key. The answer is the only one that has it.
func (c *Client) CreateKey(ctx context.Context, k wire.NewKey) (*wire.CreatedKey, error) {
	return ask[wire.CreatedKey](ctx, c, http.MethodPost, c.address("v1", "keys"), k)
}

// RevokeKey ends an API key for good.
func (c *Client) RevokeKey(ctx context.Context, id string) error {
	return c.did(ctx, http.MethodDelete, c.address("v1", "keys", id), nil)
}

// Secrets lists what the account's agents may use, without the values: at most so many. more says whether there are
// others.
func (c *Client) Secrets(ctx context.Context, most int) (list []wire.AccountSecret, more bool, err error) {
	return pages[wire.AccountSecret](ctx, c, most, url.Values{}, "v1", "secrets")
}

// PutSecret stores a secret for these hosts; none: as it was bound before.
func (c *Client) PutSecret(ctx context.Context, name, value string, hosts []string) (*wire.AccountSecret, error) {
	return ask[wire.AccountSecret](ctx, c, http.MethodPut, c.address("v1", "secrets", name), struct {
		Value string   `json:"value"`
		Hosts []string `json:"hosts,omitempty"`
	}{value, hosts})
}

// DeleteSecret deletes a secret.
func (c *Client) DeleteSecret(ctx context.Context, name string) error {
	return c.did(ctx, http.MethodDelete, c.address("v1", "secrets", name), nil)
}

// Consents lists the evidence of consent, the oldest first: at most so many. more says whether there are others.
func (c *Client) Consents(ctx context.Context, most int) (list []wire.Consent, more bool, err error) {
	return pages[wire.Consent](ctx, c, most, url.Values{}, "v1", "consents")
}

// LatencyQuery picks turns of calls. By is day, hour or agent; the others are empty for all.
type LatencyQuery struct{ By, Agent, Direction, From, To string }

// Latency is how quickly agents answered.
type Latency struct {
	GroupBy string              `json:"group_by"`
	Groups  []wire.LatencyGroup `json:"data"`
	Total   *wire.LatencyGroup  `json:"total,omitempty"` // nil: there were no turns
	HasMore bool                `json:"has_more"`
}

// Latency reads how quickly agents answered, the oldest group first, the first hundred.
func (c *Client) Latency(ctx context.Context, q LatencyQuery) (*Latency, error) {
	v := picked(map[string]string{"group_by": q.By, "agent_id": q.Agent, "direction": q.Direction, "from": q.From, "to": q.To})
	return ask[Latency](ctx, c, http.MethodGet, c.query(v, "v1", "latency"), nil)
}

// EngineLatency reads how long turns waited for engines, by stage and name. By of a query does not count.
func (c *Client) EngineLatency(ctx context.Context, q LatencyQuery) ([]wire.EngineLatency, error) {
	v := picked(map[string]string{"agent_id": q.Agent, "direction": q.Direction, "from": q.From, "to": q.To})
	list, err := ask[struct{ Data []wire.EngineLatency }](ctx, c, http.MethodGet, c.query(v, "v1", "latency", "engines"), nil)
	if err != nil {
		return nil, err
	}
	return list.Data, nil
}
