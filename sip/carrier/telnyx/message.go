package telnyx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"parley/sip/carrier"
)

// message is a message in both directions, of POST and GET /v2/messages and of webhooks.
type message struct {
	ID        string `json:"id"`
	Direction string `json:"direction"` // outbound, inbound
	From      struct {
		PhoneNumber string `json:"phone_number"`
	} `json:"from"`
	To []struct {
		PhoneNumber string `json:"phone_number"`
		Status      string `json:"status"`
	} `json:"to"`
	Text       string    `json:"text"`
	Tags       []string  `json:"tags"`
	ReceivedAt time.Time `json:"received_at"`
	Errors     []struct {
		Title  string `json:"title"`
		Detail string `json:"detail"`
	} `json:"errors"`
}

const outbound = "outbound"

// messageID is how ids look; nothing else gets into a path.
var messageID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// tag begins the tag that holds our reference of a message.
const tag = "parley:"

// delivery is a message that was sent, whose state is that of its one recipient. One that
// is delivery_unconfirmed stays Sent: its network never tells.
func (m *message) delivery() carrier.Delivery {
	d := carrier.Delivery{ID: m.ID, State: carrier.Sent}
	for _, t := range m.Tags {
		if reference, ok := strings.CutPrefix(t, tag); ok && carrier.ValidReference(reference) {
			d.Reference = reference
		}
	}
	if len(m.To) == 0 {
		return d
	}
	switch m.To[0].Status {
	case "delivered":
		d.State = carrier.Delivered
	case "delivery_failed", "sending_failed", "expired":
		d.State, d.Reason = carrier.Undelivered, "The message could not be delivered."
		if len(m.Errors) > 0 {
			d.Reason = cmp.Or(oneLine(m.Errors[0].Title+": "+m.Errors[0].Detail), d.Reason)
		}
	}
	return d
}

// received is a message that came in, to the one number that it was for; nil: to none.
func (m *message) received() *carrier.Received {
	if len(m.To) == 0 {
		return nil
	}
	return &carrier.Received{ID: m.ID, From: m.From.PhoneNumber, To: m.To[0].PhoneNumber, Text: m.Text, At: m.ReceivedAt}
}

// Send implements carrier.Messenger.
func (c *Carrier) Send(ctx context.Context, m carrier.Message) (carrier.Delivery, error) {
	if err := m.Check(); err != nil {
		return carrier.Delivery{}, err
	}
	if c.profile == "" {
		return carrier.Delivery{}, carrier.Refused("messages are not set up with the carrier")
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var answer struct{ Data message }
	err := c.call(ctx, request{method: http.MethodPost, path: "/messages", once: true, body: struct {
		From    string   `json:"from"`
		To      string   `json:"to"`
		Text    string   `json:"text"`
		Type    string   `json:"type"`
		Profile string   `json:"messaging_profile_id"`
		Webhook string   `json:"webhook_url,omitempty"`
		Tags    []string `json:"tags"`
	}{m.From, m.To, m.Text, "SMS", c.profile, c.webhook, []string{tag + m.Reference}}}, &answer)
	switch {
	case errors.Is(err, carrier.ErrNotFound): // the route is there, so something the message names is not
		return carrier.Delivery{}, carrier.Refused("The carrier does not know the sender.")
	case err != nil:
		return carrier.Delivery{}, err
	case !messageID.MatchString(answer.Data.ID):
		return carrier.Delivery{}, fmt.Errorf("%w: telnyx: the answer names no message: %w", carrier.ErrUnavailable, carrier.ErrUnclear)
	}
	d := answer.Data.delivery()
	d.Reference = m.Reference
	return d, nil
}

// Delivery implements carrier.Messenger.
func (c *Carrier) Delivery(ctx context.Context, id string) (carrier.Delivery, error) {
	if !messageID.MatchString(id) {
		return carrier.Delivery{}, carrier.ErrNotFound
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var answer struct{ Data message }
	if err := c.call(ctx, request{method: http.MethodGet, path: "/messages/" + id}, &answer); err != nil {
		return carrier.Delivery{}, err
	}
	if answer.Data.ID != id {
		return carrier.Delivery{}, carrier.ErrNotFound
	}
	return answer.Data.delivery(), nil
}
