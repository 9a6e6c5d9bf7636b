package client

import (
	"context"
	"net/http"
	"net/url"

	"parley/api/wire"
)

// EngineKeys lists the account's own keys for engines, the first hundred, without the keys themselves.
func (c *Client) EngineKeys(ctx context.Context) ([]wire.EngineKey, error) {
	list, err := ask[struct{ Data []wire.EngineKey }](ctx, c, http.MethodGet, c.query(url.Values{"limit": {"100"}}, "v1", "engine-keys"), nil)
	if err != nil {
		return nil, err
	}
	return list.Data, nil
}

// PutEngineKey sets the account's own key for an engine.
func (c *Client) PutEngineKey(ctx context.Context, engine, key string) (*wire.EngineKey, error) {
	return ask[wire.EngineKey](ctx, c, http.MethodPut, c.address("v1", "engine-keys", engine), map[string]string{"key": key})
}

// DeleteEngineKey deletes it.
func (c *Client) DeleteEngineKey(ctx context.Context, engine string) error {
	return c.did(ctx, http.MethodDelete, c.address("v1", "engine-keys", engine), nil)
}

// TestEngineKey makes one small request to the engine's vendor with it, which the vendor charges.
func (c *Client) TestEngineKey(ctx context.Context, engine string) (*wire.EngineTest, error) {
	return ask[wire.EngineTest](ctx, c, http.MethodPost, c.address("v1", "engine-keys", engine, "test"), nil)
}
