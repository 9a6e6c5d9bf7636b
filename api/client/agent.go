package client

import (
	"context"
	"net/http"
)

// Agent is one of the account's agents.
type Agent struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Agents lists the account's agents, the first hundred.
func (c *Client) Agents(ctx context.Context) ([]Agent, error) {
	u := c.address("v1", "agents")
	u.RawQuery = "limit=100"
	var list struct {
		Data []Agent `json:"data"`
	}
	if err := c.call(ctx, http.MethodGet, u, nil, &list); err != nil {
		return nil, err
	}
	return list.Data, nil
}
