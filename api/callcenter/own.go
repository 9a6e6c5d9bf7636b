package callcenter

import (
	"context"

	"parley/api"
	"parley/api/wire"
)

type ownNumberInput struct {
	ID   string `path:"id" doc:"The trunk's identifier." maxLength:"100" example:"trk_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Body wire.NewTrunkNumber
}

// addOwn gives the account a number that reaches it by a trunk of its own.
func (d *Numbers) addOwn(ctx context.Context, in *ownNumberInput) (*api.Reply[wire.Number], error) {
	account := api.AccountOf(ctx)
	if err := d.knows(ctx, account, in.Body.AgentID); err != nil {
		return nil, err
	}
	return api.Show(d.view)(d.numbers.ImportOwn(ctx, account, in.ID, in.Body.PhoneNumber, in.Body.AgentID))
}
