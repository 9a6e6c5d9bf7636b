// Code generated from the service's OpenAPI document. DO NOT EDIT.

package client

import (
	"context"
	"net/http"

	"parley/api/wire"
)

// GetKnowledgeBase: Read a collection.
// With how many documents it has.
func (c *Client) GetKnowledgeBase(ctx context.Context, id string) (*wire.KnowledgeBase, error) {
	return ask[wire.KnowledgeBase](ctx, c, http.MethodGet, c.address("v1", "knowledge", id), nil)
}

// UpdateKnowledgeBase: Rename a collection.
// Its language stays.
func (c *Client) UpdateKnowledgeBase(ctx context.Context, id string, body wire.KnowledgeBaseChange) (*wire.KnowledgeBase, error) {
	return ask[wire.KnowledgeBase](ctx, c, http.MethodPatch, c.address("v1", "knowledge", id), body)
}
