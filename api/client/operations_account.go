// Code generated from the service's OpenAPI document. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"

	"parley/api/wire"
)

// GetAutoRecharge: Read automatic recharge.
// The settings, those of the rate card where none were made, and how it stands.
func (c *Client) GetAutoRecharge(ctx context.Context) (*wire.AutoRecharge, error) {
	return ask[wire.AutoRecharge](ctx, c, http.MethodGet, c.address("v1", "auto-recharge"), nil)
}

// UpdateAutoRecharge: Change automatic recharge.
// Fields that are not sent, or null, stay as they are. `amount` is within the bounds of a top-up and at most what the
// operator lets one charge be, 500 US dollars where they say nothing; `monthly_cap` is at least `amount`. Enabling it
// charges the card at once when the balance is below `threshold`; it needs a card that has paid a top-up, else the
// answer is 402. The card that paid last is charged, and after each charge not again for ten minutes. This takes an
// owner's sign-in, or a key with the mark money.
func (c *Client) UpdateAutoRecharge(ctx context.Context, body RechargeSettings) (*wire.AutoRecharge, error) {
	return ask[wire.AutoRecharge](ctx, c, http.MethodPatch, c.address("v1", "auto-recharge"), body)
}

// RechargeSettings: An object of the service's HTTP API.
type RechargeSettings struct {
	// US dollars, whole cents. The bounds are those of the built-in rate card.
	Amount float64 `json:"amount,omitempty"`
	// Whether to recharge.
	Enabled bool `json:"enabled,omitempty"`
	// US dollars, whole cents.
	MonthlyCap float64 `json:"monthly_cap,omitempty"`
	// US dollars, whole cents.
	Threshold float64 `json:"threshold,omitempty"`
}

// ReplaceAutoRecharge: Set automatic recharge.
// Fields that are not sent, or null, become those of the rate card, and `enabled` false. `amount` is within the bounds
// of a top-up and at most what the operator lets one charge be, 500 US dollars where they say nothing; `monthly_cap`
// is at least `amount`. Enabling it charges the card at once when the balance is below `threshold`; it needs a card
// that has paid a top-up, else the answer is 402. The card that paid last is charged, and after each charge not again
// for ten minutes. This takes an owner's sign-in, or a key with the mark money.
func (c *Client) ReplaceAutoRecharge(ctx context.Context, body RechargeSettings) (*wire.AutoRecharge, error) {
	return ask[wire.AutoRecharge](ctx, c, http.MethodPut, c.address("v1", "auto-recharge"), body)
}

// GetReceipt: Read the receipt of a session.
// What a call or any other session cost, a line for each component; `total` is their sum and what the ledger charged.
// The identifier is `session_id` of the ledger's entries: recordings, texts and files have one too. Amounts have up to
// nine decimals and are exact; show balances rounded down to the cent.
func (c *Client) GetReceipt(ctx context.Context, id string) (*wire.Receipt, error) {
	return ask[wire.Receipt](ctx, c, http.MethodGet, c.address("v1", "calls", id, "receipt"), nil)
}

// ListEvents: List account events.
// Newest first. An event is entered by what caused it: a balance that fell below the threshold of automatic recharge,
// or the rate card's without one; a number's month that could not be paid, and the number's loss 30 days later; a
// recharge that failed; a payment that is disputed; a limit of spending that is nearly reached, or reached. Each comes
// once: a low balance again only after it was not. What still is so is in `warnings` of `GET /v1/balance` too, and
// accounts with an address get it by mail.
func (c *Client) ListEvents(ctx context.Context) iter.Seq2[wire.AccountEvent, error] {
	return each[wire.AccountEvent](ctx, c, url.Values{}, "v1", "events")
}

// ListLedgerQuery is the query of ListLedger. Empty fields are not sent.
type ListLedgerQuery struct {
	// Not before this: a date, which begins at midnight UTC, or an RFC 3339 time.
	From string
	// Before this, likewise: 2026-04-01 includes all of March.
	To string
	// Only entries of this kind.
	Kind string
}

func (q ListLedgerQuery) values() url.Values {
	return picked(map[string]string{"from": q.From, "to": q.To, "kind": q.Kind})
}

// ListLedger: List ledger entries.
// Newest first; entries never change. `balance_after` of an entry is that of the one before it plus `amount`. Sessions
// are entered when they end. Amounts have up to nine decimals and are exact; show balances rounded down to the cent.
func (c *Client) ListLedger(ctx context.Context, q ListLedgerQuery) iter.Seq2[wire.Entry, error] {
	return each[wire.Entry](ctx, c, q.values(), "v1", "ledger")
}

// ListSpendingLimits: List the limits of spending.
// What may be spent in a day (UTC), and what was: the account's row, which is there without a limit, too, and one for
// each key and each agent that has one. When what was charged and what is held reach a limit, nothing that it binds
// begins (402 `limit.spending`, on the telephone 480), and conversations end as they do when the balance is used up,
// with `end_detail` `spending_limit`. A key binds what it asks for, and what its tickets do; an agent binds all its
// conversations. Months of numbers do not count. At four fifths and at the limit there is an event `spending.limit`.
func (c *Client) ListSpendingLimits(ctx context.Context) iter.Seq2[wire.SpendingLimit, error] {
	return each[wire.SpendingLimit](ctx, c, url.Values{}, "v1", "spending-limits")
}

// SetSpendingLimit: Set a limit of spending.
// `daily_limit` null takes it away; what was charged today counts. This takes an owner's sign-in, or a key with the
// mark money.
func (c *Client) SetSpendingLimit(ctx context.Context, id string, body SetLimitInputBody) (*wire.SpendingLimit, error) {
	return ask[wire.SpendingLimit](ctx, c, http.MethodPatch, c.address("v1", "spending-limits", id), body)
}

// SetLimitInputBody: An object of the service's HTTP API.
type SetLimitInputBody struct {
	// US dollars a day (UTC); null: no limit.
	DailyLimit *float64 `json:"daily_limit"`
}

// ListTopups: List top-ups.
// Newest first, also those that were never paid.
func (c *Client) ListTopups(ctx context.Context) iter.Seq2[wire.TopUp, error] {
	return each[wire.TopUp](ctx, c, url.Values{}, "v1", "topups")
}

// CreateTopup: Top up the balance.
// Makes a page on which the customer pays `amount` by card: send the customer to `url`. The balance grows when the
// provider says that the payment has succeeded, not when the customer comes back. Amounts are in US dollars, whole
// cents, within the rate card's `wallet.min_topup` and `wallet.max_topup`. Twenty may be begun in an hour. A server
// that takes no payments does not have this.
func (c *Client) CreateTopup(ctx context.Context, body NewTopUp) (*wire.TopUp, error) {
	return ask[wire.TopUp](ctx, c, http.MethodPost, c.address("v1", "topups"), body)
}

// NewTopUp: An object of the service's HTTP API.
type NewTopUp struct {
	// US dollars, whole cents. The bounds are those of the built-in rate card.
	Amount float64 `json:"amount"`
}

// GetTopup: Read a top-up.
// One that is not settled is looked up at the payment provider, so that the answer is what has happened there.
func (c *Client) GetTopup(ctx context.Context, id string) (*wire.TopUp, error) {
	return ask[wire.TopUp](ctx, c, http.MethodGet, c.address("v1", "topups", id), nil)
}

// GetEngineUsageQuery is the query of GetEngineUsage. Empty fields are not sent.
type GetEngineUsageQuery struct {
	// Not before this: a date, which begins at midnight UTC, or an RFC 3339 time.
	From string
	// Before this, likewise: 2026-04-01 includes all of March.
	To string
}

func (q GetEngineUsageQuery) values() url.Values {
	return picked(map[string]string{"from": q.From, "to": q.To})
}

// GetEngineUsage: Sum up what engines used.
// In calls, after them, and in synthesis and recognition without a call, as the vendors of the engines count: of
// sessions that began in the range and have ended. Engines that come along with the server count nothing, but for
// language models. `price` is what you pay beside the price of the sessions, which `GET /v1/usage` has.
func (c *Client) GetEngineUsage(ctx context.Context, q GetEngineUsageQuery) (*EngineTotals, error) {
	return ask[EngineTotals](ctx, c, http.MethodGet, c.query(q.values(), "v1", "usage", "engines"), nil)
}

// EngineTotals: An object of the service's HTTP API.
type EngineTotals struct {
	// By engine and unit; empty: none was used.
	Data []wire.EngineTotal `json:"data"`
	// Null: since the first session.
	From *string `json:"from"`
	// Null: until now.
	To *string `json:"to"`
}
