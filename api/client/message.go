package client

import (
	"context"
	"net/http"

	"parley/api/wire"
)

// SendMessage queues a text message. Asked again under the same key, it sends nothing twice; without a key it may.
func (c *Client) SendMessage(ctx context.Context, m wire.NewMessage, key string) (*wire.Message, error) {
	var headers []string
	if key != "" {
		headers = []string{"Idempotency-Key", key}
	}
	return decode[wire.Message](ctx, c)(c.send(ctx, http.MethodPost, c.address("v1", "messages"), m, headers...))
}
