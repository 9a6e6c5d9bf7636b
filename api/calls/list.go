package calls

import (
	"parley/store/history"

	"context"

	"parley/api"
	"parley/api/wire"
	"parley/billing"
	"parley/billing/destination"
)

type listInput struct {
	Direction string `query:"direction" doc:"Only these." enum:"web,inbound,outbound" example:"outbound"`
	AgentID   string `query:"agent_id" doc:"Only calls of this agent, also one that was deleted." maxLength:"100" example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Number    string `query:"number" doc:"Only calls from or to this number, in international format; a + is %2B in an address, and may be left out." maxLength:"40" example:"+34612345678"`
	EndReason string `query:"end_reason" doc:"Only calls that ended so." enum:"completed,user_hangup,agent_hangup,api_hangup,no_answer,busy,rejected,failed,voicemail,balance_exhausted,max_duration,unknown" example:"no_answer"`
	State     string `query:"state" doc:"Only calls in progress, or only those that are over." enum:"live,ended" example:"live"`
	api.Period
	api.Paging
}

// page is what the query asks for.
func (in *listInput) page() (p history.CallPage, err error) {
	p = history.CallPage{Page: in.Page(),
		Direction: billing.Kind(in.Direction), Agent: in.AgentID, EndReason: in.EndReason, State: history.CallState(in.State)}
	if p.Range, err = in.Bounds(); err != nil || in.Number == "" {
		return p, err
	}
	p.Number, err = number(in.Number)
	return p, err
}

// number reads a number of a query, where a + that was not escaped has become a space.
func number(text string) (string, error) {
	for _, s := range []string{text, "+" + text} {
		if e164, err := destination.International(s); err == nil {
			return e164, nil
		}
	}
	return "", api.Bad("number: a telephone number in international format, such as +34612345678")
}

func (m *calls) list(ctx context.Context, in *listInput) (*api.Listed[wire.CallSummary], error) {
	p, err := in.page()
	if err != nil {
		return nil, err
	}
	found, err := m.history.Calls(ctx, api.AccountOf(ctx), p)
	if err != nil {
		return nil, err
	}
	now := m.db.Now()
	return api.Pages(in.Limit, found, func(c history.Call) string { return c.ID }, func(c *history.Call) wire.CallSummary { return summary(c, now) }), nil
}
