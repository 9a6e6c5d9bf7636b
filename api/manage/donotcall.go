package manage

import (
	"context"
	"net/http"
	"time"

	"parley/api"
	"parley/api/export"
	"parley/store"
)

// doNotCall serves the numbers that an account does not call.
type doNotCall struct {
	db    *store.DB
	files *export.Desk
}

func mountDoNotCall(a *api.API, m doNotCall) {
	const tag, path = "Call center", "/v1/do-not-call"
	api.Register(a, route(http.MethodGet, path, "list-do-not-call", tag, "List the numbers that are not called",
		"Newest first. An outgoing call to one of them is refused with `callcenter.do_not_call` and costs nothing; calls from them are taken. "+
			"Agents with the function `opt_out` add whoever asks for it.", http.StatusBadRequest), m.list)
	api.Register(a, route(http.MethodPost, path, "add-do-not-call", tag, "Do not call a number",
		"Holds from the next call on. A number that is on the list already stays as it is, and the answer shows that.", http.StatusBadRequest), m.add)
	api.Register(a, route(http.MethodGet, path+"/{number}", "get-do-not-call", tag, "Look whether a number is not called",
		"404: it is not on the list.", notFound), m.get)
	remove := route(http.MethodDelete, path+"/{number}", "remove-do-not-call", tag, "Call a number again",
		"Takes it off the list, whoever put it there: be sure that its owner wants that.", notFound)
	remove.DefaultStatus = http.StatusNoContent
	api.Register(a, remove, m.remove)
	a.Handle(export.Route(route(http.MethodGet, path+".csv", "export-do-not-call", tag, "Export the numbers that are not called",
		"The numbers of `GET /v1/do-not-call`, newest first, with the columns "+export.Columns(listedHeader)+". A reason that a spreadsheet would "+
			"compute begins with an apostrophe."), nil), http.HandlerFunc(m.exportCSV))
	a.Handle(importRoute(path+".csv", tag), http.HandlerFunc(m.importCSV))
}

// DoNotCall is a number that is not called.
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

type listedList struct {
	Data []DoNotCall `json:"data" doc:"The numbers, the newest first." nullable:"false"`
	More
}

type listedListOutput struct{ Body listedList }

func (m doNotCall) list(ctx context.Context, in *pageInput) (*listedListOutput, error) {
	found, err := m.db.DoNotCalls(ctx, api.PrincipalOf(ctx).Account, in.page())
	if err != nil {
		return nil, Explained(err)
	}
	found, rest := cut(*in, found, func(e store.DoNotCall) string { return e.ID })
	out := &listedListOutput{listedList{make([]DoNotCall, len(found)), rest}}
	for i := range found {
		out.Body.Data[i] = viewListed(&found[i])
	}
	return out, nil
}

type newListed struct {
	Number string `json:"number" doc:"In international format; spaces and hyphens are ignored." maxLength:"64" example:"+34612345678"`
	Reason string `json:"reason,omitempty" required:"false" doc:"Why, in one line." maxLength:"200" example:"wrote to us"`
}

func (m doNotCall) add(ctx context.Context, in *struct{ Body newListed }) (*listedOutput, error) {
	e, _, err := m.db.AddDoNotCall(ctx, api.PrincipalOf(ctx).Account,
		store.DoNotCall{Number: in.Body.Number, Reason: in.Body.Reason, Source: store.ListedByAPI}, m.db.Now())
	if err != nil {
		return nil, Explained(err)
	}
	return &listedOutput{viewListed(e)}, nil
}

type listedInput struct {
	Number string `path:"number" doc:"In international format, with its +." maxLength:"64" example:"+34612345678"`
}

func (m doNotCall) get(ctx context.Context, in *listedInput) (*listedOutput, error) {
	e, err := m.db.DoNotCall(ctx, api.PrincipalOf(ctx).Account, in.Number)
	if err != nil {
		return nil, Unknown(err)
	}
	return &listedOutput{viewListed(e)}, nil
}

func (m doNotCall) remove(ctx context.Context, in *listedInput) (*struct{}, error) {
	return nil, Unknown(m.db.RemoveDoNotCall(ctx, api.PrincipalOf(ctx).Account, in.Number))
}
