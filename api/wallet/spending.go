package wallet

import (
	"context"
	"net/http"

	"parley/api"
	"parley/api/wire"
	"parley/store/ledger"
)

// ViewLimit is a stored limit as answers show it.
func ViewLimit(l *ledger.SpendingLimit) wire.SpendingLimit {
	return wire.SpendingLimit{ID: l.Subject, Name: l.Name, DailyLimit: wire.Limit{Amount: l.Limit}, Spent: wire.USD(l.Spent), Held: wire.USD(l.Held)}
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

func (m *wallet) limits(ctx context.Context, in *api.Paging) (*api.Listed[wire.SpendingLimit], error) {
	return api.Pages(in.Limit, func(l ledger.SpendingLimit) string { return l.Subject }, ViewLimit)(m.books.SpendingLimits(ctx, api.AccountOf(ctx), in.Page()))
}

type setLimitInput struct {
	ID   string `path:"id" doc:"The identifier of the account, or of a key or an agent of it; account is short for the account's own." example:"account"`
	Body struct {
		DailyLimit wire.Limit `json:"daily_limit"`
	}
}

func (m *wallet) setLimit(ctx context.Context, in *setLimitInput) (*api.Reply[wire.SpendingLimit], error) {
	if !in.Body.DailyLimit.Given {
		return nil, api.Bad("daily_limit: send a number of US dollars, or null for no limit")
	}
	account, subject := api.AccountOf(ctx), in.ID
	if subject == "account" {
		subject = account
	}
	return api.Show(ViewLimit)(m.books.SetSpendingLimit(ctx, account, subject, in.Body.DailyLimit.Amount))
}
