package wallet

import (
	"context"
	"time"

	"parley/api"
	"parley/api/wire"
	"parley/store"
	"parley/store/history"
)

// ViewUse shows what an engine used; what that cost the operator is for operators.
func ViewUse(operator bool) func(*store.EngineUse) wire.EngineUsage {
	return func(u *store.EngineUse) wire.EngineUsage {
		v := wire.EngineUsage{Stage: u.Stage, Engine: u.Engine, Model: api.Some(u.Model), KeyOwner: "operator", Unit: string(u.Unit), Quantity: float64(u.Quantity),
			Source: u.Source, Price: (*wire.USD)(u.Price)}
		if u.Own {
			v.KeyOwner = "account"
		}
		if u.Unit.Seconds() {
			v.Quantity /= 1000
		}
		if operator {
			v.Cost = (*wire.USD)(u.Cost)
		}
		return v
	}
}

// EngineTotals is an answer with sums of what engines used.
type EngineTotals struct {
	From *time.Time         `json:"from" doc:"Null: since the first session."`
	To   *time.Time         `json:"to" doc:"Null: until now."`
	Data []wire.EngineTotal `json:"data" nullable:"false" doc:"By engine and unit; empty: none was used."`
}

// SumEngines answers with what the engines of an account used, of all accounts where it is empty.
func SumEngines(ctx context.Context, calls *history.Store, account string, in *api.Period) (*api.Reply[EngineTotals], error) {
	r, err := in.Bounds()
	if err != nil {
		return nil, err
	}
	sums, err := calls.EngineSums(ctx, account, r)
	if err != nil {
		return nil, err
	}
	view := ViewUse(api.PrincipalOf(ctx).Operator)
	return api.Body(EngineTotals{From: optional(r.From), To: optional(r.To), Data: api.Views(sums, func(s *history.EngineSum) wire.EngineTotal {
		return wire.EngineTotal{EngineUsage: view(&s.EngineUse), Sessions: s.Sessions}
	})}), nil
}

func (m *wallet) engines(ctx context.Context, in *api.Period) (*api.Reply[EngineTotals], error) {
	return SumEngines(ctx, history.New(m.db), api.AccountOf(ctx), in)
}
