package manage

import (
	"context"

	"parley/api"
	"parley/api/wire"
	"parley/billing"
	"parley/store"
	"parley/store/ledger"
	"parley/store/people"
)

// own serves the account that a credential belongs to.
type own struct {
	ledger *ledger.Ledger
	people *people.Store
	card   func() *billing.RateCard
	rate   int
}

// MountAccount adds the route that shows an account to its own keys. card is the rate card in
// force, rate the requests per second that a credential may make, 0 when there is no limit.
func MountAccount(a *api.API, db *store.DB, card func() *billing.RateCard, rate int) {
	m := own{ledger.New(db), people.New(db), card, rate}
	api.Register(a, api.Managed("Account").Get("/v1/account", "get-own-account", "Read the account of the key",
		"What the account is called, what it may do at once, how long it keeps transcripts, and which key asks: a program learns whose key it holds. "+
			"The balance counts sessions in progress; `GET /v1/balance` says what it is made of."), m.get)
}

func (m own) get(ctx context.Context, _ *struct{}) (*api.Reply[wire.OwnAccount], error) {
	p := api.PrincipalOf(ctx)
	a, err := m.ledger.Account(ctx, p.Account)
	if err != nil {
		return nil, err
	}
	v := wire.OwnAccount{ID: a.ID, Name: a.Name, CreatedAt: a.CreatedAt, Email: a.Email, Balance: wire.USD(a.Balance()), Suspended: a.Suspended, Disputed: a.OpenDisputes > 0,
		Concurrency: wire.Concurrency{Live: a.Live, Limit: a.Limit(m.card().Wallet())}, RecordingDays: a.RecordingDays, TalkDays: a.ConversationDays}
	if m.rate > 0 {
		v.RequestsPerSecond = &m.rate
	}
	if p.User == "" { // somebody who has signed in has no key
		k, err := m.people.Key(ctx, p.Account, p.Key)
		if err != nil {
			return nil, err
		}
		view := viewKey(k)
		v.Key = &view
	}
	return api.Body(v), nil
}
