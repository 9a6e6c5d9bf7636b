package calls

import (
	"context"
	"net/http"

	"parley/api"
	"parley/api/wire"
	"parley/store"
	"parley/store/history"
)

func (m *calls) mountCompletions(a *api.API) {
	owners := routes
	owners.Access = api.Owners
	const all = "/v1/calls/{id}/completions"
	api.Register(a, owners.Get(all, "list-call-completions", "List what the model of a call was asked",
		"Each question to the language model, the first one first, with its answer: those that were asked before the caller had finished, and thrown away, too. "+
			"They are stored as they happen, 1,000 of a call and about 1 MB at most, kept for 30 days, and deleted with the transcript. For owners of the account.", http.StatusNotFound), m.completions)
	api.Register(a, owners.Get(all+"/{no}", "get-call-completion", "Read what the model of a call was asked",
		"With the prompt, the functions and the conversation that the model was given. For owners of the account.", http.StatusNotFound), m.completion)
}

func (m *calls) completions(ctx context.Context, in *callInput) (*api.Reply[wire.CallCompletions], error) {
	list, err := m.history.Completions(ctx, api.AccountOf(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	return api.Body(wire.CallCompletions{Data: api.Views(list, viewCompletion)}), nil
}

func (m *calls) completion(ctx context.Context, in *struct {
	ID string `path:"id" doc:"The call's identifier." maxLength:"100" example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
	No int    `path:"no" doc:"Which of the call's." minimum:"0" example:"3"`
}) (*api.Reply[wire.CallCompletionDetail], error) {
	list, err := m.history.Completions(ctx, api.AccountOf(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].No == in.No {
			return api.Body(viewWholeCompletion(&list[i])), nil
		}
	}
	return nil, store.ErrNotFound
}

const pendingCompletion = "pending"

func viewCompletion(c *history.Completion) wire.CallCompletion {
	v := wire.CallCompletion{No: c.No, At: float64(c.Request.AtMS) / 1000, Messages: len(c.Request.Messages), Outcome: pendingCompletion, Functions: []wire.CompletionFunction{}}
	if a := c.Answer; a != nil {
		v.Outcome, v.Engine, v.FirstMS, v.TookMS = string(a.Outcome), api.Some(a.Engine), a.FirstMS, &a.TookMS
		v.Finish, v.Failure, v.Answer, v.Functions = api.Some(a.Finish), api.Some(a.Failure), a.Text, api.Views(a.Calls, viewWish)
	}
	return v
}

func viewWholeCompletion(c *history.Completion) wire.CallCompletionDetail {
	v := wire.CallCompletionDetail{CallCompletion: viewCompletion(c), Tools: api.Views(c.Request.Tools, viewOffered),
		Messages: api.Views(c.Request.Messages, viewMessage)}
	if c.Request.System != nil {
		v.System = *c.Request.System
	}
	return v
}

func viewWish(c *history.CompletionCall) wire.CompletionFunction {
	return wire.CompletionFunction{ID: c.ID, Name: c.Name, Arguments: c.Arguments}
}

func viewOffered(t *history.CompletionTool) wire.CompletionTool {
	return wire.CompletionTool{Name: t.Name, Description: t.Description, Parameters: t.Parameters}
}

func viewMessage(m *history.CompletionMessage) wire.CompletionMessage {
	v := wire.CompletionMessage{Role: m.Role, Text: m.Text, Interrupted: m.Interrupted, FunctionID: api.Some(m.CallID)}
	if len(m.Calls) > 0 {
		v.Functions = api.Views(m.Calls, viewWish)
	}
	return v
}
