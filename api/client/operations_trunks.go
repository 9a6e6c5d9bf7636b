// Code generated from the service's OpenAPI document. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"

	"parley/api/wire"
)

// ListTrunkPresets: List the presets of trunks.
// Settings for exchanges and carriers that many have, and what to enter on their side. A trunk takes one by its name
// as `preset`.
func (c *Client) ListTrunkPresets(ctx context.Context) iter.Seq2[wire.TrunkPreset, error] {
	return each[wire.TrunkPreset](ctx, c, url.Values{}, "v1", "trunk-presets")
}

// ListTrunks: List the account's trunks.
// The newest first, each with how it does on the node that answers.
func (c *Client) ListTrunks(ctx context.Context) iter.Seq2[wire.Trunk, error] {
	return each[wire.Trunk](ctx, c, url.Values{}, "v1", "trunks")
}

// CreateTrunk: Create a trunk.
// A line to a carrier or an exchange (PBX). It works within seconds, on every node. An account has 20 at most. Calls
// that come on it reach the account's numbers and the trunk's extensions, and nobody else's; calls from numbers that
// are put on it go out on it, at the rate card's `phone.own_trunk_per_minute`.
func (c *Client) CreateTrunk(ctx context.Context, body wire.NewTrunk) (*wire.Trunk, error) {
	return ask[wire.Trunk](ctx, c, http.MethodPost, c.address("v1", "trunks"), body)
}

// DeleteTrunk: Delete a trunk.
// Calls in progress go on. The numbers on it must be released before.
func (c *Client) DeleteTrunk(ctx context.Context, id string) error {
	return c.did(ctx, http.MethodDelete, c.address("v1", "trunks", id), nil)
}

// GetTrunk: Read a trunk.
// By its identifier or its name, without its passwords.
func (c *Client) GetTrunk(ctx context.Context, id string) (*wire.Trunk, error) {
	return ask[wire.Trunk](ctx, c, http.MethodGet, c.address("v1", "trunks", id), nil)
}

// ReplaceTrunk: Replace the settings of a trunk.
// All of them: what is not sent is as in a new trunk, of the same preset if one is sent. A password that is not sent
// stays as long as its user does, a key as long as its certificate. Calls go on as they began; a registration is
// renewed.
func (c *Client) ReplaceTrunk(ctx context.Context, id string, body wire.NewTrunk) (*wire.Trunk, error) {
	return ask[wire.Trunk](ctx, c, http.MethodPut, c.address("v1", "trunks", id), body)
}

// CheckTrunk: Check a trunk.
// Asks each of its servers now, by OPTIONS, and says how they do and how the registration stands. An account may have
// ten checks at once and ten a minute.
func (c *Client) CheckTrunk(ctx context.Context, id string) (*wire.Trunk, error) {
	return ask[wire.Trunk](ctx, c, http.MethodPost, c.address("v1", "trunks", id, "check"), nil)
}
