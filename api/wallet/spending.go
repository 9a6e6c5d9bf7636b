package wallet

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/wire"
	"parley/billing"
	"parley/store/ledger"
)

// SpendingLimit is what may be spent in a day by the account, a key or an agent.
type SpendingLimit struct {
	ID         string   `json:"id" doc:"Whose limit it is: the account, a key or an agent." example:"key_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Name       string   `json:"name" doc:"The name of it." example:"website"`
	DailyLimit Limit    `json:"daily_limit" doc:"What may be charged in a day, from midnight to midnight UTC; null: there is no limit."`
	Spent      wire.USD `json:"spent" doc:"What was charged today. Of a key or an agent it is kept while there is a limit."`
	Held       wire.USD `json:"held" doc:"What is set aside for minutes and work about to begin; it counts as spent."`
}

func viewLimit(l *ledger.SpendingLimit) SpendingLimit {
	return SpendingLimit{ID: l.Subject, Name: l.Name, DailyLimit: Limit{Amount: l.Limit}, Spent: wire.USD(l.Spent), Held: wire.USD(l.Held)}
}

// Limit is a number of dollars, or null for none.
type Limit struct {
	Amount *billing.Money
	Given  bool // in a request
}

// MarshalJSON implements json.Marshaler.
func (l Limit) MarshalJSON() ([]byte, error) {
	if l.Amount == nil {
		return []byte("null"), nil
	}
	return l.Amount.MarshalJSON()
}

// UnmarshalJSON implements json.Unmarshaler.
func (l *Limit) UnmarshalJSON(b []byte) error {
	if l.Given = true; string(b) == "null" {
		l.Amount = nil
		return nil
	}
	l.Amount = new(billing.Money)
	return l.Amount.UnmarshalJSON(b)
}

// Schema implements huma.SchemaProvider.
func (Limit) Schema(huma.Registry) *huma.Schema {
	least, most := 0.0, float64(ledger.MaxSpendingLimit/billing.USD)
	return &huma.Schema{Type: huma.TypeNumber, Nullable: true, Minimum: &least, Maximum: &most, Examples: []any{20},
		Description: "US dollars a day (UTC); null: no limit."}
}

func mountSpending(a *api.API, m *wallet) {
	const at = "/v1/spending-limits"
	api.Register(a, routes.Get(at, "list-spending-limits", "List the limits of spending",
		"What may be spent in a day (UTC), and what was: the account's row, which is there without a limit, too, and one for each key and each agent that has one. "+
			"When what was charged and what is held reach a limit, nothing that it binds begins (402 `limit.spending`, on the telephone 480), and conversations end as they do when "+
			"the balance is used up, with `end_detail` `spending_limit`. A key binds what it asks for, and what its tickets do; "+
			"an agent binds all its conversations. Months of numbers do not count. At four fifths and at the limit there is an event `spending.limit`."), m.limits)
	api.Register(a, routes.Patch(at+"/{id}", "set-spending-limit", "Set a limit of spending",
		"`daily_limit` null takes it away; what was charged today counts. This takes an owner's sign-in, or a key with the mark money.", http.StatusNotFound).For(api.Payers).OwnChecks(), m.setLimit)
}

func (m *wallet) limits(ctx context.Context, in *api.Paging) (*api.Listed[SpendingLimit], error) {
	return api.Pages(in.Limit, func(l ledger.SpendingLimit) string { return l.Subject }, viewLimit)(ledger.New(m.db).SpendingLimits(ctx, api.AccountOf(ctx), in.Page(), m.db.Now()))
}

type setLimitInput struct {
	ID   string `path:"id" doc:"The identifier of the account, or of a key or an agent of it; account is short for the account's own." example:"account"`
	Body struct {
		DailyLimit Limit `json:"daily_limit"`
	}
}

func (m *wallet) setLimit(ctx context.Context, in *setLimitInput) (*api.Reply[SpendingLimit], error) {
	if !in.Body.DailyLimit.Given {
		return nil, api.Bad("daily_limit: send a number of US dollars, or null for no limit")
	}
	account, subject := api.AccountOf(ctx), in.ID
	if subject == "account" {
		subject = account
	}
	return api.Show(viewLimit)(ledger.New(m.db).SetSpendingLimit(ctx, account, subject, in.Body.DailyLimit.Amount, m.db.Now()))
}
