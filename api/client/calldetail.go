package client

import (
	"context"
	"encoding/json"
	"net/http"
)

// CallText is a call with everything that the server says of it, as JSON: a
// wire.CallDetail.
func (c *Client) CallText(ctx context.Context, id string) (json.RawMessage, error) {
	var out json.RawMessage
	if err := c.call(ctx, http.MethodGet, c.address("v1", "calls", id), nil, &out); err != nil {
		return nil, err
	}
	return out, nil
}

// ForgetCall deletes what was said in a call. That there was the call stays.
func (c *Client) ForgetCall(ctx context.Context, id string) error {
	resp, err := c.ask(ctx, http.MethodDelete, c.address("v1", "calls", id), nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
