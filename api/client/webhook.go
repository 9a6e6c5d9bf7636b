package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"parley/api/wire"
)

// Webhooks lists the account's webhooks, the newest first, of which there are few.
func (c *Client) Webhooks(ctx context.Context) (list []wire.Webhook, err error) {
	list, _, err = pages[wire.Webhook](ctx, c, pageSize, url.Values{}, "v1", "webhooks")
	return list, err
}

// Webhook reads a webhook.
func (c *Client) Webhook(ctx context.Context, id string) (*wire.Webhook, error) {
	return ask[wire.Webhook](ctx, c, http.MethodGet, c.address("v1", "webhooks", id), nil)
}

// CreateWebhook makes a webhook. The answer is the only one that has its secret.
func (c *Client) CreateWebhook(ctx context.Context, w wire.NewWebhook) (*wire.SecretWebhook, error) {
	return ask[wire.SecretWebhook](ctx, c, http.MethodPost, c.address("v1", "webhooks"), w)
}

// WebhookChange is what changes of a webhook; nil: as it is.
type WebhookChange struct {
	URL         *string   `json:"url,omitempty"`
	Description *string   `json:"description,omitempty"`
	Events      *[]string `json:"events,omitempty"` // an empty list: all
	Enabled     *bool     `json:"enabled,omitempty"`
}

// ChangeWebhook changes a webhook.
func (c *Client) ChangeWebhook(ctx context.Context, id string, change WebhookChange) (*wire.Webhook, error) {
	return ask[wire.Webhook](ctx, c, http.MethodPatch, c.address("v1", "webhooks", id), change)
}

// DeleteWebhook deletes a webhook with its deliveries.
func (c *Client) DeleteWebhook(ctx context.Context, id string) error {
	return c.did(ctx, http.MethodDelete, c.address("v1", "webhooks", id), nil)
}

// RotateWebhook gives a webhook a new secret, which only this answer has.
func (c *Client) RotateWebhook(ctx context.Context, id string) (*wire.SecretWebhook, error) {
	return ask[wire.SecretWebhook](ctx, c, http.MethodPost, c.address("v1", "webhooks", id, "rotate"), nil)
}

// TestWebhook sends a test event to a webhook.
func (c *Client) TestWebhook(ctx context.Context, id string) (*wire.Delivery, error) {
	return ask[wire.Delivery](ctx, c, http.MethodPost, c.address("v1", "webhooks", id, "test"), nil)
}

// TakeEvent takes the next event of a webhook that listens, for which the server waits up to so many seconds, 25 at most; nil: none has come.
func (c *Client) TakeEvent(ctx context.Context, id string, wait int) (*wire.TakenEvent, error) {
	out, err := ask[wire.Taken](ctx, c, http.MethodPost, c.query(url.Values{"wait": {strconv.Itoa(wait)}}, "v1", "webhooks", id, "deliveries", "take"), nil)
	if err != nil {
		return nil, err
	}
	return out.Event, nil
}

// ReportEvent reports how it went with an event that was taken.
func (c *Client) ReportEvent(ctx context.Context, id, event string, a wire.TakenAttempt) (*wire.Delivery, error) {
	return ask[wire.Delivery](ctx, c, http.MethodPost, c.address("v1", "webhooks", id, "deliveries", event, "attempts"), a)
}

// Deliveries lists what was sent to a webhook, the newest first: at most so many. more says whether there are others.
func (c *Client) Deliveries(ctx context.Context, id string, most int) (list []wire.Delivery, more bool, err error) {
	return pages[wire.Delivery](ctx, c, most, url.Values{}, "v1", "webhooks", id, "deliveries")
}

// RetryDelivery sends an event to a webhook once more.
func (c *Client) RetryDelivery(ctx context.Context, id, event string) (*wire.Delivery, error) {
	return ask[wire.Delivery](ctx, c, http.MethodPost, c.address("v1", "webhooks", id, "deliveries", event, "retry"), nil)
}
