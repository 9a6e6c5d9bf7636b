// Code generated from the service's OpenAPI document. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"

	"parley/api/wire"
)

// ListSounds: List the account's sounds.
// The newest first.
func (c *Client) ListSounds(ctx context.Context) iter.Seq2[wire.Sound, error] {
	return each[wire.Sound](ctx, c, url.Values{}, "v1", "sounds")
}

// DeleteSound: Delete a sound.
// Calls in which it plays go on with it. After them callers of agents that name it hear the ringing tone.
func (c *Client) DeleteSound(ctx context.Context, id string) error {
	return c.did(ctx, http.MethodDelete, c.address("v1", "sounds", id), nil)
}
