package manage

import (
	"context"
	"net/http"
	"time"

	"parley/api"
	"parley/api/export"
	"parley/store"
)

// doNotCall serves an account's do-not-call list.
type doNotCall struct {
	db    *store.DB
	files *export.Sender
}

var listRoutes = managed("Call center")

func mountDoNotCall(a *api.API, m doNotCall) {
	const path = "/v1/do-not-call"
	api.Register(a, listRoutes.Get(path, "list-do-not-call", "List the do-not-call list",
		"Newest first. An outgoing call to one of them is refused with `callcenter.do_not_call` and costs nothing; calls from them are taken. "+
			"Agents with the function `opt_out` add callers who ask for it."), m.list)
	api.Register(a, listRoutes.Post(path, "add-do-not-call", "Add a number to the do-not-call list",
		"Holds from the next call on. A number that is on the list already stays as it is, and the answer shows that."), m.add)
	api.Register(a, listRoutes.Get(path+"/{number}", "get-do-not-call", "Check the do-not-call list for a number",
		"404: it is not on the list.", http.StatusNotFound), m.get)
	api.Register(a, listRoutes.Delete(path+"/{number}", "remove-do-not-call", "Remove a number from the do-not-call list",
		"Entries that agents or operators made are removed, too. Make sure that the owner of the number agrees.", http.StatusNotFound), m.remove)
	a.Handle(export.Route(listRoutes.Get(path+".csv", "export-do-not-call", "Export the do-not-call list",
		"The numbers of `GET /v1/do-not-call`, newest first, with the columns "+export.Columns(listedHeader)+". A reason that a spreadsheet would "+
			"compute begins with an apostrophe."), nil), http.HandlerFunc(m.exportCSV))
	a.Handle(importRoute(path+".csv"), http.HandlerFunc(m.importCSV))
}

// DoNotCall is an entry of the do-not-call list.
type DoNotCall struct {
	Number string    `json:"number" doc:"In international format." example:"+34612345678"`
	Reason string    `json:"reason" doc:"Why, in somebody's words; may be empty." example:"asked for in a call"`
	Source string    `json:"source" doc:"Who put it on the list: a client of this interface, an agent that was asked to, or the operator." enum:"api,agent,operator" example:"agent"`
	CallID *string   `json:"call_id" doc:"The call in which it was asked for; null when it was in none." example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Since  time.Time `json:"since" doc:"When it was put there."`
}

func viewListed(e *store.DoNotCall) DoNotCall {
	return DoNotCall{Number: e.Number, Reason: e.Reason, Source: string(e.Source), CallID: e.Call, Since: e.Since}
}

type listedOutput struct{ Body DoNotCall }

func (m doNotCall) list(ctx context.Context, in *api.Paging) (*api.Listed[DoNotCall], error) {
	found, err := m.db.DoNotCalls(ctx, api.AccountOf(ctx), in.Page())
	if err != nil {
		return nil, err
	}
	return api.Pages(in.Limit, found, func(e store.DoNotCall) string { return e.ID }, viewListed), nil
}

type newListed struct {
	Number string `json:"number" doc:"In international format; spaces and hyphens are ignored." maxLength:"64" example:"+34612345678"`
	Reason string `json:"reason,omitempty" required:"false" doc:"Why, in one line." maxLength:"200" example:"wrote to us"`
}

func (m doNotCall) add(ctx context.Context, in *struct{ Body newListed }) (*listedOutput, error) {
	e, _, err := m.db.AddDoNotCall(ctx, api.AccountOf(ctx),
		store.DoNotCall{Number: in.Body.Number, Reason: in.Body.Reason, Source: store.ListedByAPI}, m.db.Now())
	if err != nil {
		return nil, err
	}
	return &listedOutput{viewListed(e)}, nil
}

type listedInput struct {
	Number string `path:"number" doc:"In international format, with its +." maxLength:"64" example:"+34612345678"`
}

func (m doNotCall) get(ctx context.Context, in *listedInput) (*listedOutput, error) {
	e, err := m.db.DoNotCall(ctx, api.AccountOf(ctx), in.Number)
	if err != nil {
		return nil, err
	}
	return &listedOutput{viewListed(e)}, nil
}

func (m doNotCall) remove(ctx context.Context, in *listedInput) (*struct{}, error) {
	return nil, m.db.RemoveDoNotCall(ctx, api.AccountOf(ctx), in.Number)
}
