package requests

import (
	"context"
	"net/http"

	"parley/api"
	"parley/api/wire"
	"parley/store/requests"
)

// Mount adds the routes.
func Mount(a *api.API, s *requests.Store) {
	m := &reader{s}
	api.Register(a, routes.Get("/v1/requests", "list-requests", "List what was asked with the account's keys",
		"Requests with a key or a ticket of the account, the newest first: those of the last 7 days, 10,000 at most. One is there a second or two after its answer; where "+
			"the server is very busy some may be missing. Requests whose credential was refused belong to nobody, and what people do on the pages is not among them, nor are "+
			"requests with `follow=true`."), m.list)
	api.Register(a, routes.Get("/v1/requests/{id}", "get-request", "Read a request",
		"With its body, if that was JSON, and the command that sends it again.", http.StatusNotFound), m.get)
}

var routes = api.Managed("Requests")

// reader serves the routes.
type reader struct{ store *requests.Store }

type listInput struct {
	Method  string `query:"method" doc:"Only these." enum:"GET,POST,PUT,PATCH,DELETE" example:"POST"`
	Route   string `query:"route" doc:"Only those of this route, as the answer has it." maxLength:"200" example:"/v1/agents/{id}"`
	Outcome string `query:"outcome" doc:"Only those that were done, that were refused (a status from 400 to 499), or that failed (500 and above)." enum:"done,refused,failed" example:"refused"`
	Code    string `query:"code" doc:"Only those that were answered with this error." maxLength:"100" example:"validation.invalid_voice"`
	Key     string `query:"key_id" doc:"Only those with this key, or a ticket made from it." maxLength:"100" example:"key_06er5bt0v9k1o7m2q3s4t5u6v0"`
	api.Period
	api.Paging
	api.Following
}

// outcomes are the bounds of the status.
var outcomes = map[string][2]int{"": {}, "done": {0, 400}, "refused": {400, 500}, "failed": {500, 0}}

func (m *reader) list(ctx context.Context, in *listInput) (*api.Listed[wire.RequestSummary], error) {
	p := requests.Page{Page: in.Page(), Method: in.Method, Route: in.Route, Key: in.Key, Code: in.Code, Least: outcomes[in.Outcome][0], Below: outcomes[in.Outcome][1]}
	var err error
	if p.Range, err = in.Bounds(); err != nil {
		return nil, err
	}
	return api.Pages(in.Limit, func(r requests.Request) string { return r.ID }, summary)(m.store.List(ctx, api.AccountOf(ctx), p))
}

func (m *reader) get(ctx context.Context, in *struct {
	ID string `path:"id" doc:"The request's name, as X-Request-Id has it." maxLength:"100" example:"req_06er5bt0v9k1o7m2q3s4t5u6v0"`
}) (*api.Reply[wire.RequestDetail], error) {
	r, err := m.store.Request(ctx, api.AccountOf(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	return api.Body(wire.RequestDetail{RequestSummary: summary(r), Body: r.Body, BodyCut: r.BodyCut, Curl: curl(r)}), nil
}

func summary(r *requests.Request) wire.RequestSummary {
	return wire.RequestSummary{ID: r.ID, At: r.At, Method: r.Method, Route: r.Route, Target: r.Target, Status: r.Status, Code: r.Code, DurationMS: r.TookMS,
		Key: r.Key, KeyName: r.KeyName, Ticket: r.Ticket, BytesIn: r.BytesIn, BytesOut: r.BytesOut, Client: r.Client}
}

// curl is the command that sends a request again, with the key and the server's address of the reader's shell.
func curl(r *requests.Request) string {
	options := []string{wire.CurlKey}
	if r.Body != nil {
		options = append(options, "-H 'Content-Type: application/json'", "-d "+wire.ShellWord(*r.Body))
	}
	return wire.Curl(r.Method, `"$PARLEY_URL"`+wire.ShellWord(r.Target), options...)
}
