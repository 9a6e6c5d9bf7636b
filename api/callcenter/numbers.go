package callcenter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/wire"
	"parley/billing"
	"parley/sip/carrier"
	"parley/store"
	"parley/store/numbers"
)

type searchInput struct {
	Country  string `query:"country_code" required:"true" doc:"Where." enum:"US,ES,UK,DE,FR,IT,PT" example:"ES"`
	Region   string `query:"region_code" doc:"Only this region, as the carrier spells it." maxLength:"100" example:"Madrid"`
	Locality string `query:"locality" doc:"Only this town." maxLength:"100" example:"Madrid"`
	Page     int    `query:"page" doc:"15 numbers each." minimum:"1" default:"1"`
}

type searchOutput struct {
	Body struct {
		Numbers  []wire.Offer `json:"numbers" doc:"Those on this page." nullable:"false"`
		Page     int          `json:"page" doc:"As it was asked for." example:"1"`
		PageSize int          `json:"page_size" doc:"How many there are on a page, at most." example:"15"`
		HasMore  bool         `json:"has_more" doc:"Whether there is another page."`
	}
}

func (d *Numbers) search(ctx context.Context, in *searchInput) (*searchOutput, error) {
	at := slices.IndexFunc(countries, func(c struct{ code, iso string }) bool { return c.code == in.Country })
	switch {
	case at < 0:
		return nil, api.ErrCountry
	case in.Page < 1:
		return nil, api.Bad("query.page: expected a number from 1")
	}
	out := &searchOutput{}
	out.Body.Numbers, out.Body.Page, out.Body.PageSize = []wire.Offer{}, in.Page, carrier.PageSize
	if in.Page > carrier.MaxPage {
		return out, nil // no carrier is asked so far; there would be nothing
	}
	found, err := d.Carrier.Search(ctx, carrier.Query{Country: countries[at].iso, Region: in.Region, Locality: in.Locality, Page: in.Page})
	if errors.Is(err, carrier.ErrRefused) {
		return nil, api.Bad("region_code, locality: not the name of a place")
	}
	if err != nil {
		return nil, d.away(ctx, err)
	}
	for _, o := range found.Offers {
		out.Body.Numbers = append(out.Body.Numbers, wire.Offer{PhoneNumber: o.Number, MonthlyCost: wire.USD(o.Monthly), UpfrontCost: wire.USD(o.Upfront), CountryCode: o.Country, Region: o.Region, Locality: o.Locality,
			NumberType: "local", Features: append([]string{}, o.Features...)})
	}
	out.Body.HasMore = found.More
	return out, nil
}

// away is a carrier that did not do what it was asked for, now.
func (d *Numbers) away(ctx context.Context, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	api.LogOf(ctx, d.Log).Error("the carrier does not answer", "carrier", d.Carrier.Name(), "err", err)
	return fmt.Errorf("%w: %w", api.ErrCarrier, err)
}

// What a number's status is called outside.
const (
	active  = "active"
	pending = "pending"
	pastDue = "past_due"
)

func (d *Numbers) view(n *numbers.Number) wire.Number {
	v := wire.Number{ID: n.ID, PhoneNumber: n.E164, CountryCode: n.Country, AgentID: n.AgentID, AgentName: n.AgentName, WebhookID: n.Webhook, CallsPerHour: n.CallsPerHour, TrunkID: n.Trunk, Status: pending,
		PurchasedAt: n.CreatedAt, NextChargeAt: n.NextChargeAt, ReleaseAt: n.GraceUntil}
	switch n.State {
	case numbers.Owned:
		v.Status = active
	case numbers.Grace:
		v.Status = pastDue
	}
	if n.Bought() {
		v.MonthlyPrice = wire.USD(d.Card().NumberPerMonth())
	}
	return v
}

type listOutput struct {
	Body struct {
		Numbers []wire.Number `json:"numbers" doc:"The account's numbers." nullable:"false"`
	}
}

func (d *Numbers) list(ctx context.Context, _ *struct{}) (*listOutput, error) {
	found, err := d.numbers.Numbers(ctx, api.AccountOf(ctx), store.Page{})
	if err != nil {
		return nil, err
	}
	out := &listOutput{}
	out.Body.Numbers = api.Views(found, d.view)
	return out, nil
}

// ref is an identifier in a request. Null is the empty one.
type ref struct {
	id    string
	given bool
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *ref) UnmarshalJSON(b []byte) error {
	r.given = true
	return json.Unmarshal(b, &r.id)
}

// value is the identifier, or nil where none is given.
func (r *ref) value() *string {
	if !r.given {
		return nil
	}
	return &r.id
}

// agentRef is an agent_id, webhookRef a webhook_id.
type (
	agentRef   struct{ ref }
	webhookRef struct{ ref }
)

// Schema implements huma.SchemaProvider.
func (webhookRef) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Nullable: true, Examples: []any{"wh_06er5bt0v9k1o7m2q3s4t5u6v0"},
		Description: "A webhook of the account that is asked about each call while it rings, with call.incoming; empty or null: none is. Absent: as before."}
}

// Schema implements huma.SchemaProvider.
func (agentRef) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Nullable: true, Examples: []any{"ag_06er5bt0v9k1o7m2q3s4t5u6v0"},
		Description: "An agent of the account; empty or null: nobody answers."}
}

type assignInput struct {
	ID   string `path:"id" doc:"The number's id, not the number." maxLength:"100" example:"num_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Body struct {
		AgentID   agentRef   `json:"agent_id,omitempty"`
		WebhookID webhookRef `json:"webhook_id,omitempty"`
		// CallsPerHour is a pointer because 0 has a meaning: no limit.
		CallsPerHour *int `json:"calls_per_hour,omitempty" doc:"How many calls the account places from it in an hour, in batches and one by one; 0: as many as it likes. Absent: as before." minimum:"0" maximum:"3600" example:"30"`
	}
}

func (d *Numbers) assign(ctx context.Context, in *assignInput) (*api.Reply[wire.Number], error) {
	agent, hook, pace := &in.Body.AgentID, &in.Body.WebhookID, in.Body.CallsPerHour
	if pace != nil && (*pace < 0 || *pace > numbers.MaxCallsPerHour) {
		return nil, api.Bad("body.calls_per_hour: from 1 to %d, or 0 for as many as you like", numbers.MaxCallsPerHour)
	}
	if !agent.given && !hook.given && pace == nil {
		return nil, api.Bad("body.agent_id: say which agent, or \"\" for none")
	}
	account := api.AccountOf(ctx)
	if _, err := d.numbers.Number(ctx, account, in.ID); err != nil {
		return nil, err
	}
	if err := d.knows(ctx, account, agent.id); err != nil {
		return nil, err
	}
	err := d.numbers.Assign(ctx, account, in.ID, numbers.Assignment{Agent: agent.value(), Webhook: hook.value(), CallsPerHour: pace})
	if errors.Is(err, store.ErrNotFound) && hook.id != "" {
		return nil, api.Bad("body.webhook_id: there is no such webhook")
	}
	if err != nil {
		return nil, err
	}
	return api.Show(d.view)(d.numbers.Number(ctx, account, in.ID))
}

// knows says whether the account has an agent; without one there is nothing to have.
func (d *Numbers) knows(ctx context.Context, account, agent string) error {
	if agent == "" {
		return nil
	}
	_, err := d.Store.Agent(ctx, account, agent)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrInvalid) {
		return api.ErrNoAgent
	}
	return err
}

func (d *Numbers) release(ctx context.Context, in *struct {
	ID string `path:"id" doc:"The number's id, not the number." maxLength:"100" example:"num_06er5bt0v9k1o7m2q3s4t5u6v0"`
}) (*api.Reply[wire.Released], error) {
	account := api.AccountOf(ctx)
	n, err := d.numbers.Number(ctx, account, in.ID)
	if err != nil {
		return nil, err
	}
	if err := d.numbers.Release(ctx, account, in.ID); err != nil {
		return nil, err
	}
	if n.Bought() {
		n.State = numbers.Releasing
		d.attempt(ctx, n)
	}
	return api.Body(wire.Released{ID: n.ID, PhoneNumber: n.E164, Released: true}), nil
}

// included says whether a number of the service includes what the carrier asks.
func included(o carrier.Offer, card *billing.RateCard) bool {
	return o.Monthly <= card.NumberPerMonth() && o.Upfront <= maxUpfront
}

// maxUpfront is what a number may cost the operator once.
const maxUpfront = 5 * billing.USD
