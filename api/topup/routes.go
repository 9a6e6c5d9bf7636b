package topup

import (
	"context"
	"errors"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/wire"
	"parley/billing"
	"parley/billing/payment"
	"parley/store/payments"
)

func view(t *payments.TopUp) wire.TopUp {
	return wire.TopUp{ID: t.ID, Amount: wire.USD(t.Amount), State: string(t.State), URL: t.URL, Paid: wire.USD(t.Paid),
		Refunded: wire.USD(t.Refunded), Automatic: t.Automatic, Demonstration: t.Demonstration(), CreatedAt: t.CreatedAt, SettledAt: t.SettledAt}
}

// dollars is an amount in a request.
type dollars struct {
	billing.Money
	given bool
}

// UnmarshalJSON implements json.Unmarshaler.
func (d *dollars) UnmarshalJSON(b []byte) error {
	d.given = string(b) != "null"
	return d.Money.UnmarshalJSON(b)
}

// Schema implements huma.SchemaProvider.
func (dollars) Schema(huma.Registry) *huma.Schema {
	least, most := 10.0, 2000.0
	return &huma.Schema{Type: huma.TypeNumber, Minimum: &least, Maximum: &most, Examples: []any{25},
		Description: "US dollars, whole cents. The bounds are those of the built-in rate card."}
}

// NewTopUp asks to pay.
type NewTopUp struct {
	Amount dollars `json:"amount"`
}

type createInput struct{ Body NewTopUp }

func (d *Service) create(ctx context.Context, in *createInput) (*api.Reply[wire.TopUp], error) {
	if err := d.check(in.Body.Amount); err != nil {
		return nil, err
	}
	return api.Show(view)(d.begin(ctx, api.AccountOf(ctx), in.Body.Amount.Money))
}

// check says what is wrong with an amount.
func (d *Service) check(amount dollars) error {
	rules := d.Card().Wallet()
	what := ""
	_, err := payment.Cents(amount.Money)
	switch {
	case !amount.given:
		what = "amount: say how much, such as 25"
	case amount.Money < rules.MinTopup || amount.Money > rules.MaxTopup:
		what = fmt.Sprintf("amount: a top-up is from %s to %s US dollars", rules.MinTopup, rules.MaxTopup)
	case err != nil:
		what = "amount: whole cents only"
	default:
		return nil
	}
	return api.Bad("%s", what)
}

func (d *Service) list(ctx context.Context, in *api.Paging) (*api.Listed[wire.TopUp], error) {
	return api.Pages(in.Limit, func(t payments.TopUp) string { return t.ID }, view)(d.Payments.TopUps(ctx, api.AccountOf(ctx), in.Page()))
}

// read looks at the provider when the top-up is open, which makes a lost webhook
// good. A provider that does not answer is no reason not to tell what is known.
func (d *Service) read(ctx context.Context, in *struct {
	ID string `path:"id" doc:"The top-up's identifier." maxLength:"100" example:"top_06er5bt0v9k1o7m2q3s4t5u6v0"`
}) (*api.Reply[wire.TopUp], error) {
	t, err := d.Payments.TopUp(ctx, api.AccountOf(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	if t.State.Open() && t.Checkout != "" && t.Provider == d.Provider.Name() {
		switch fresh, err := d.look(ctx, t.Checkout, payment.Event{}); {
		case err == nil:
			t = fresh
		case errors.Is(err, context.Canceled):
			return nil, err
		default:
			api.LogOf(ctx, d.Log).Warn("a top-up could not be looked up", "topup", t.ID, "err", err)
		}
	}
	return api.Body(view(t)), nil
}
