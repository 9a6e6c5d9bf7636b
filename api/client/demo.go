package client

import (
	"context"
	"net/http"
)

// DemoLink makes a link that opens the pages of the server's demonstration once. The key
// must be an owner's of its account.
func (c *Client) DemoLink(ctx context.Context) (string, error) {
	var made struct{ Path string }
	if err := c.call(ctx, http.MethodPost, c.address("v1", "demonstration-links"), nil, &made); err != nil {
		return "", err
	}
	u, err := c.base.Parse(made.Path)
	if err != nil {
		return "", err
	}
	return u.String(), nil
}
