package money

import (
	"context"

	"parley/api"
	"parley/billing"
	"parley/cmd/parley/conversation"
	"parley/pipeline/agent"
	"parley/pipeline/session"
	"parley/store"
	"parley/store/ledger"
)

// Work charges for what is no call, such as synthesis of a text.
type Work struct {
	Calls  *session.Manager
	Ledger *ledger.Ledger
	Card   func() *billing.RateCard // in force
	// Engines says where to learn of the engines that serve an account which named one, or none.
	Engines func(ctx context.Context, account, named string) func(stage agent.Stage, name string) session.Engine
}

// Begin implements api.Books.
func (w Work) Begin(ctx context.Context, p api.Principal, j api.Job) (api.Work, error) {
	begun, err := w.Calls.Work(ctx, session.Order{Account: p.Account, Key: p.Key, Kind: j.Kind, Expected: j.Expected,
		Engines: w.Engines(ctx, p.Account, j.Engine)})
	if err != nil {
		return nil, conversation.Refusal(err)
	}
	return begun, nil
}

// MayBegin says whether an account may start work now, before it asks for any.
// Whether it may at once with what it does already shows when it asks.
func (w Work) MayBegin(ctx context.Context, p api.Principal) error {
	a, err := w.Ledger.Account(ctx, p.Account)
	switch {
	case err != nil:
		return err
	case a.Suspended:
		return store.ErrSuspended
	case a.OpenDisputes > 0:
		return store.ErrDisputed
	case a.Pots.Spendable(false) < w.Card().Wallet().MinSessionStart:
		return store.ErrInsufficientBalance
	}
	return w.Ledger.MaySpend(ctx, p.Account, p.Key)
}
