package topup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/wire"
	"parley/billing"
	"parley/billing/payment"
	"parley/store/ledger"
)

// TopUp is a top-up as its account sees it.
type TopUp struct {
	ID        string   `json:"id" doc:"Names the top-up." example:"top_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Amount    wire.USD `json:"amount" doc:"What was asked for."`
	State     string   `json:"state" doc:"created: there is no page yet. pending: waits for the customer or the bank; a declined card leaves it so. The others are ends." enum:"created,pending,succeeded,failed,canceled" example:"pending"`
	URL       string   `json:"url" doc:"Where the customer pays; empty while there is no page." example:"https://pay.example/c/1"`
	Paid      wire.USD `json:"paid" doc:"What was received and added to the balance."`
	Refunded  wire.USD `json:"refunded" doc:"Of it, what went back to the card."`
	Automatic bool     `json:"automatic" doc:"Whether automatic recharge charged a saved card: there is no page."`
	// Demonstration is absent of top-ups that somebody begins.
	Demonstration bool       `json:"demonstration,omitempty" doc:"It came with the demonstration: nobody paid it, and nothing of it goes back to a card. Absent: it is a payment."`
	CreatedAt     time.Time  `json:"created_at" doc:"When it was begun."`
	SettledAt     *time.Time `json:"settled_at" doc:"When it ended; null before."`
}

func view(t *ledger.TopUp) TopUp {
	return TopUp{ID: t.ID, Amount: wire.USD(t.Amount), State: string(t.State), URL: t.URL, Paid: wire.USD(t.Paid),
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

type output struct{ Body TopUp }

func (d *Service) create(ctx context.Context, in *createInput) (*output, error) {
	if err := d.check(in.Body.Amount); err != nil {
		return nil, err
	}
	t, err := d.begin(ctx, api.AccountOf(ctx), in.Body.Amount.Money)
	if err != nil {
		return nil, err
	}
	return &output{view(t)}, nil
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

func (d *Service) list(ctx context.Context, in *api.Paging) (*api.Listed[TopUp], error) {
	found, err := ledger.New(d.Store).TopUps(ctx, api.AccountOf(ctx), in.Page())
	if err != nil {
		return nil, err
	}
	return api.Pages(in.Limit, found, func(t ledger.TopUp) string { return t.ID }, view), nil
}

// read looks at the provider when the top-up is open, which makes a lost webhook
// good. A provider that does not answer is no reason not to tell what is known.
func (d *Service) read(ctx context.Context, in *struct {
	ID string `path:"id" doc:"The top-up's identifier." maxLength:"100" example:"top_06er5bt0v9k1o7m2q3s4t5u6v0"`
}) (*output, error) {
	t, err := ledger.New(d.Store).TopUp(ctx, api.AccountOf(ctx), in.ID)
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
			d.Log.Warn("a top-up could not be looked up", "topup", t.ID, "err", err)
		}
	}
	return &output{view(t)}, nil
}
