// Code generated from the service's OpenAPI document. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"

	"parley/api/wire"
)

// ListMessagesQuery is the query of ListMessages. Empty fields are not sent.
type ListMessagesQuery struct {
	// Only these.
	Direction string
	// Only messages from or to this number of the account, in international format; a + is %2B in an address, and may be
	// left out.
	Number string
	// Only messages to or from this number of somebody else, likewise.
	Peer string
	// Only these.
	Status string
	// Not before this: a date, which begins at midnight UTC, or an RFC 3339 time.
	From string
	// Before this, likewise: 2026-04-01 includes all of March.
	To string
}

func (q ListMessagesQuery) values() url.Values {
	return picked(map[string]string{"direction": q.Direction, "number": q.Number, "peer": q.Peer, "status": q.Status, "from": q.From, "to": q.To})
}

// ListMessages: List text messages.
// Those that were sent and those that came in, newest first: all, or those of which everything that is asked for is
// true.
func (c *Client) ListMessages(ctx context.Context, q ListMessagesQuery) iter.Seq2[wire.Message, error] {
	return each[wire.Message](ctx, c, q.values(), "v1", "messages")
}

// DeleteMessage: Delete the text of a message.
// Deletes what it says, for good. That there was the message stays: with whom, when and what it cost. One that is
// still queued answers 404.
func (c *Client) DeleteMessage(ctx context.Context, id string) error {
	return c.did(ctx, http.MethodDelete, c.address("v1", "messages", id), nil)
}

// GetMessage: Read a text message.
// What it says, how far it is, and what it cost.
func (c *Client) GetMessage(ctx context.Context, id string) (*wire.Message, error) {
	return ask[wire.Message](ctx, c, http.MethodGet, c.address("v1", "messages", id), nil)
}
