package calls

import (
	"context"
	"errors"

	"parley/api"
	"parley/api/manage"
	"parley/api/wallet"
	"parley/billing"
	"parley/billing/destination"
	"parley/store"
)

type listInput struct {
	Direction string `query:"direction" doc:"Only these." enum:"web,inbound,outbound" example:"outbound"`
	AgentID   string `query:"agent_id" doc:"Only calls of this agent, also one that was deleted." maxLength:"100" example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Number    string `query:"number" doc:"Only calls from or to this number, in international format; a + is %2B in an address, and may be left out." maxLength:"40" example:"+34612345678"`
	EndReason string `query:"end_reason" doc:"Only calls that ended so." enum:"completed,user_hangup,agent_hangup,api_hangup,no_answer,busy,rejected,failed,voicemail,balance_exhausted,max_duration,unknown" example:"no_answer"`
	State     string `query:"state" doc:"Only calls in progress, or only those that are over." enum:"live,ended" example:"live"`
	wallet.Period
	wallet.Paging
}

// page is what the query asks for.
func (in *listInput) page() (p store.CallPage, err error) {
	p = store.CallPage{Page: store.Page{After: in.Cursor, Limit: in.Limit + 1}, // whether there is one more decides has_more
		Direction: billing.Kind(in.Direction), Agent: in.AgentID, EndReason: in.EndReason, State: store.CallState(in.State)}
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
	return "", api.Detail(api.ErrBadRequest, "number: a telephone number in international format, such as +34612345678")
}

type callList struct {
	Data []CallSummary `json:"data" doc:"The calls, the newest first." nullable:"false"`
	manage.More
}

type listOutput struct{ Body callList }

func (m *calls) list(ctx context.Context, in *listInput) (*listOutput, error) {
	p, err := in.page()
	if err != nil {
		return nil, err
	}
	found, err := m.db.Calls(ctx, api.PrincipalOf(ctx).Account, p)
	if errors.Is(err, store.ErrInvalid) { // text that nothing can be called
		return nil, api.ErrBadRequest
	}
	if err != nil {
		return nil, err
	}
	out := &listOutput{callList{Data: []CallSummary{}}}
	if len(found) > in.Limit {
		found = found[:in.Limit]
		out.Body.More = manage.More{HasMore: true, NextCursor: &found[in.Limit-1].ID}
	}
	now := m.db.Now()
	for i := range found {
		out.Body.Data = append(out.Body.Data, summary(&found[i], now))
	}
	return out, nil
}
