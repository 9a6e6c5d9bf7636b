// Code generated from the service's OpenAPI document. DO NOT EDIT.

package client

import (
	"context"
	"net/http"
	"net/url"

	"parley/api/wire"
)

// CheckBatch: Check a batch before it is queued.
// Takes what `POST /callcenter/bulk-dial` takes, and says of every row whether it would be refused and why, when it
// would be called first, and what a minute costs. Nothing is queued and nobody is called, and `consent_confirmed` may
// be left out. What is wrong with the batch as a whole refuses the request, as it would when it is queued.
func (c *Client) CheckBatch(ctx context.Context, body wire.NewBatch) (*wire.BatchCheck, error) {
	return ask[wire.BatchCheck](ctx, c, http.MethodPost, c.address("callcenter", "bulk-dial", "check"), body)
}

// MonitorCallQuery is the query of MonitorCall. Empty fields are not sent.
type MonitorCallQuery struct {
	// The call's identifier, as dial answered.
	CallID string
}

func (q MonitorCallQuery) values() url.Values {
	return picked(map[string]string{"call_id": q.CallID})
}

// MonitorCall: Get call status.
// The state of a call. A call that the account does not have is answered as ended, with an empty transcript.
func (c *Client) MonitorCall(ctx context.Context, q MonitorCallQuery) (*wire.CallState, error) {
	return ask[wire.CallState](ctx, c, http.MethodGet, c.query(q.values(), "callcenter", "call-monitor"), nil)
}

// HangUp: Hang up a call.
// Ends the call at once. One that has ended already answers the same.
func (c *Client) HangUp(ctx context.Context, id string) (*wire.HungUp, error) {
	return ask[wire.HungUp](ctx, c, http.MethodPost, c.address("callcenter", "hangup", id), nil)
}

// GetCallcenterStatus: Get telephony status.
// Whether numbers can be bought and called, through which carrier, and in which countries. A server without telephony
// answers 404 here and on every other route under `/callcenter`.
func (c *Client) GetCallcenterStatus(ctx context.Context) (*wire.Status, error) {
	return ask[wire.Status](ctx, c, http.MethodGet, c.address("callcenter", "status"), nil)
}

// AddTrunkNumber: Put a number of your own on a trunk.
// A number that your carrier or exchange brings by the trunk. It costs nothing here, is in the list of numbers, and
// calls from it go out on the trunk. Release it to take it off.
func (c *Client) AddTrunkNumber(ctx context.Context, id string, body wire.NewTrunkNumber) (*wire.Number, error) {
	return ask[wire.Number](ctx, c, http.MethodPost, c.address("v1", "trunks", id, "numbers"), body)
}
