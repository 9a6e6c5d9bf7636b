// Code generated from the service's OpenAPI document. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"

	"parley/api/wire"
)

// ListAccounts: List the server's accounts.
// Newest first.
func (c *Client) ListAccounts(ctx context.Context) iter.Seq2[wire.Account, error] {
	return each[wire.Account](ctx, c, url.Values{}, "v1", "operator", "accounts")
}

// CreateAccount: Make an account.
// With its welcome credit. The operator owns it at first; with `create_key` the answer holds an API key of the account
// with the role owner and the mark money, shown this once, with which the owner can be invited.
func (c *Client) CreateAccount(ctx context.Context, body wire.NewAccount) (*wire.CreatedAccount, error) {
	return ask[wire.CreatedAccount](ctx, c, http.MethodPost, c.address("v1", "operator", "accounts"), body)
}

// GetAccount: Read an account.
// With its people.
func (c *Client) GetAccount(ctx context.Context, id string) (*wire.AccountDetail, error) {
	return ask[wire.AccountDetail](ctx, c, http.MethodGet, c.address("v1", "operator", "accounts", id), nil)
}

// UpdateAccount: Suspend an account, change its limits.
// What is not sent stays. Suspended, an account starts nothing new, and its conversations say goodbye and end within
// seconds.
func (c *Client) UpdateAccount(ctx context.Context, id string, body AccountChangeBody) (*wire.AccountDetail, error) {
	return ask[wire.AccountDetail](ctx, c, http.MethodPatch, c.address("v1", "operator", "accounts", id), body)
}

// AccountChangeBody: An object of the service's HTTP API.
type AccountChangeBody struct {
	// Sessions at once; 0: as the rate card says.
	Concurrency int64 `json:"concurrency,omitempty"`
	// How long transcripts of calls are kept, recordings included; it counts for what is there, too. 0: until somebody
	// deletes it.
	ConversationDays int64 `json:"conversation_days,omitempty"`
	// US dollars a day (UTC); null: no limit.
	DailyLimit *float64 `json:"daily_limit,omitempty"`
	// Where warnings are mailed; empty: nowhere.
	Email string `json:"email,omitempty"`
	// How long recordings of calls are kept; it counts for those that are there, too.
	RecordingDays int64 `json:"recording_days,omitempty"`
	// Whether nothing may start, and what is in progress ends.
	Suspended bool `json:"suspended,omitempty"`
}

// ResolveDisputes: Resolve all disputes of an account.
// Calls and jobs may start again. Do this when the payment provider has decided. Without a dispute it changes nothing.
func (c *Client) ResolveDisputes(ctx context.Context, id string) (*wire.AccountDetail, error) {
	return ask[wire.AccountDetail](ctx, c, http.MethodPost, c.address("v1", "operator", "accounts", id, "resolve-disputes"), nil)
}

// CheckSetup: Check what the server needs.
// Ports, engines, the database and what else `parley doctor` looks at, on the server that is asked. It takes seconds;
// within five of the last time its findings are repeated.
func (c *Client) CheckSetup(ctx context.Context) (*CheckList, error) {
	return ask[CheckList](ctx, c, http.MethodGet, c.address("v1", "operator", "checks"), nil)
}

// CheckList: An object of the service's HTTP API.
type CheckList struct {
	// All checks.
	Data []wire.Check `json:"data"`
}

// ListNodes: List the server's nodes.
// The processes that share the database, as it knows them, whichever of them is asked: those that live, and those that
// have been silent for up to a week. One that was stopped in good order is not among them. Times are by the database's
// clock.
func (c *Client) ListNodes(ctx context.Context) (*NodeList, error) {
	return ask[NodeList](ctx, c, http.MethodGet, c.address("v1", "operator", "nodes"), nil)
}

// NodeList: An object of the service's HTTP API.
type NodeList struct {
	// By name.
	Data []wire.Node `json:"data"`
}

// GetEngineUsageOfAllQuery is the query of GetEngineUsageOfAll. Empty fields are not sent.
type GetEngineUsageOfAllQuery struct {
	// Not before this: a date, which begins at midnight UTC, or an RFC 3339 time.
	From string
	// Before this, likewise: 2026-04-01 includes all of March.
	To string
}

func (q GetEngineUsageOfAllQuery) values() url.Values {
	return picked(map[string]string{"from": q.From, "to": q.To})
}

// GetEngineUsageOfAll: Sum up what engines used for all accounts.
// As `GET /v1/usage/engines`, with what vendors charge where the server's settings say that: `cost`, beside the
// `price` that accounts pay.
func (c *Client) GetEngineUsageOfAll(ctx context.Context, q GetEngineUsageOfAllQuery) (*EngineTotals, error) {
	return ask[EngineTotals](ctx, c, http.MethodGet, c.query(q.values(), "v1", "operator", "usage", "engines"), nil)
}

// ListUsers: List who signs in to the server.
// Newest first.
func (c *Client) ListUsers(ctx context.Context) iter.Seq2[wire.User, error] {
	return each[wire.User](ctx, c, url.Values{}, "v1", "operator", "users")
}

// DeleteUserQuery is the query of DeleteUser. Empty fields are not sent.
type DeleteUserQuery struct {
	// What happens to keys of accounts that they made.
	Keys string
}

func (q DeleteUserQuery) values() url.Values {
	return picked(map[string]string{"keys": q.Keys})
}

// DeleteUser: Delete a user.
// With their sign-ins, operator's keys and memberships. The last owner of an account that has other people cannot go.
// The answer is as for somebody who is disabled.
func (c *Client) DeleteUser(ctx context.Context, id string, q DeleteUserQuery) (*wire.Removal, error) {
	return ask[wire.Removal](ctx, c, http.MethodDelete, c.query(q.values(), "v1", "operator", "users", id), nil)
}

// UpdateUserQuery is the query of UpdateUser. Empty fields are not sent.
type UpdateUserQuery struct {
	// What happens to keys of accounts that they made.
	Keys string
}

func (q UpdateUserQuery) values() url.Values {
	return picked(map[string]string{"keys": q.Keys})
}

// UpdateUser: Disable a user, or take an operator's role away.
// A disabled user cannot sign in: their sign-ins, links and invitations end at once, and their operator's keys open
// nothing. Operators are made on the server only (`parley admin user role`). The answer names the keys of accounts
// that somebody who is disabled made, also by a key of theirs, and that were good: with `keys=revoke` these end, else
// they stay good.
func (c *Client) UpdateUser(ctx context.Context, id string, q UpdateUserQuery, body UserChangeBody) (*wire.ChangedUser, error) {
	return ask[wire.ChangedUser](ctx, c, http.MethodPatch, c.query(q.values(), "v1", "operator", "users", id), body)
}

// UserChangeBody: An object of the service's HTTP API.
type UserChangeBody struct {
	// Whether they may not sign in.
	Disabled bool `json:"disabled,omitempty"`
	// member takes an operator's role away.
	Role string `json:"role,omitempty"`
}
