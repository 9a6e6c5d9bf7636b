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

// RemoveCallWindow: Call people at any time.
// Batches that are queued keep what they have.
func (c *Client) RemoveCallWindow(ctx context.Context) error {
	return c.did(ctx, http.MethodDelete, c.address("callcenter", "call-window"), nil)
}

// GetCallWindow: Read when people are called.
// The time of day in which the account calls people. 404: at any time.
func (c *Client) GetCallWindow(ctx context.Context) (*wire.CallWindow, error) {
	return ask[wire.CallWindow](ctx, c, http.MethodGet, c.address("callcenter", "call-window"), nil)
}

// SetCallWindow: Set when people are called.
// A call outside of it is refused with `callcenter.outside_call_window`. Batches that are queued from now on wait for
// it, unless they have a `call_window` of their own. Calls to colleagues to whom callers are transferred are placed at
// any time.
func (c *Client) SetCallWindow(ctx context.Context, body wire.CallWindow) (*wire.CallWindow, error) {
	return ask[wire.CallWindow](ctx, c, http.MethodPut, c.address("callcenter", "call-window"), body)
}

// HangUp: Hang up a call.
// Ends the call at once. One that has ended already answers the same.
func (c *Client) HangUp(ctx context.Context, id string) (*wire.HungUp, error) {
	return ask[wire.HungUp](ctx, c, http.MethodPost, c.address("callcenter", "hangup", id), nil)
}

// GetNumberRules: Read the rules of a number.
// Where its calls go; an empty object where it has no rules.
func (c *Client) GetNumberRules(ctx context.Context, id string) (*wire.NumberRules, error) {
	return ask[wire.NumberRules](ctx, c, http.MethodGet, c.address("callcenter", "numbers", id, "rules"), nil)
}

// ReplaceNumberRules: Replace the rules of a number.
// Sets opening hours, holidays, a menu of keys, who takes calls outside the hours, and where calls go that cannot be
// taken. They count from the next call on. An empty object removes them: then the number's agent, or its webhook,
// decides about all calls. `detail` names every field that is not valid, and what is allowed.
func (c *Client) ReplaceNumberRules(ctx context.Context, id string, body wire.NumberRules) (*wire.NumberRules, error) {
	return ask[wire.NumberRules](ctx, c, http.MethodPut, c.address("callcenter", "numbers", id, "rules"), body)
}

// TryNumber: Say where a call would go.
// Decides about a call as the number's rules would, or others that are sent, and says why. Nothing is called, stored
// or charged.
func (c *Client) TryNumber(ctx context.Context, id string, body wire.RoutingTrial) (*wire.Routed, error) {
	return ask[wire.Routed](ctx, c, http.MethodPost, c.address("callcenter", "numbers", id, "try"), body)
}

// GetRulesSchema: Read the schema of rules.
// JSON Schema 2020-12 of the rules of numbers, for editors and for checks before sending.
func (c *Client) GetRulesSchema(ctx context.Context) (*map[string]any, error) {
	return ask[map[string]any](ctx, c, http.MethodGet, c.address("callcenter", "rules", "schema"), nil)
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
