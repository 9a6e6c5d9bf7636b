package wallet

import (
	"context"

	"parley/api"
	"parley/api/wire"
	"parley/store"
	"parley/store/ledger"
)

// ViewEngines shows which engines served a call; nil: it is not known.
func ViewEngines(by *store.ServedBy) *wire.CallEngines {
	if by == nil {
		return nil
	}
	return &wire.CallEngines{ASR: by.ASR, LLM: by.LLM, TTS: by.TTS}
}

type receiptOutput struct{ Body wire.Receipt }

func (m *wallet) receipt(ctx context.Context, in *struct {
	ID string `path:"id" doc:"The call's or session's identifier." maxLength:"100" example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
}) (*receiptOutput, error) {
	r, err := ledger.New(m.db).Receipt(ctx, api.AccountOf(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	return &receiptOutput{viewReceipt(r)}, nil
}

func viewReceipt(r *ledger.Receipt) wire.Receipt {
	out := wire.Receipt{SessionID: r.Session, Kind: string(r.Kind), PriceVersion: r.PriceVersion, OpenedAt: r.OpenedAt, StartedAt: r.StartedAt,
		EndedAt: r.EndedAt, Lines: make([]wire.Line, len(r.Lines)), Total: wire.USD(r.Total()), Accrued: wire.USD(r.Accrued), Engines: ViewEngines(r.Engines)}
	for i, l := range r.Lines {
		u := units[l.Component]
		out.Lines[i] = wire.Line{Component: l.Component, Quantity: l.Quantity, Unit: u.name, UnitPrice: wire.USD(l.UnitPrice), UnitPricePer: u.per,
			Amount: wire.USD(l.Amount), PriceVersion: r.PriceVersion}
	}
	inOrder(out.Lines, func(l wire.Line) string { return l.Component })
	return out
}
