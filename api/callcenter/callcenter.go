// Package callcenter is telephony as customers use it, under /callcenter: who could
// answer, which numbers are for sale, and numbers as something that is bought, bound
// to an agent, charged by the month and released.
//
// Money and the carrier meet here. The store holds a month before the carrier is
// asked, and learns the outcome of the order from the carrier alone: when a process
// dies in between, another asks by the order's reference. What a carrier has to do
// later, activate, route, take back, is tried until it is done.
package callcenter

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/wire"
	"parley/billing"
	"parley/sip/carrier"
	"parley/store"
	"parley/store/numbers"
)

// Numbers sells numbers. Its fields are not changed after Mount; it is used by several
// goroutines.
type Numbers struct {
	Store *store.DB
	// Carrier is where numbers come from. It may be set after Work, before anything runs;
	// nil where the routes are described and not used.
	Carrier carrier.Carrier
	Card    func() *billing.RateCard // the one in force
	Routing Routing                  // of calls to numbers
	// Texts takes what the carrier's webhook says of text messages; nil: nobody does.
	Texts func(context.Context, carrier.Notice) error
	Log   *slog.Logger

	numbers *numbers.Store
	// recent are orders that may become active within seconds; see Run.
	recent chan numbers.Number
}

// maxRecent bounds the orders that are followed closely; others become active with
// the next look at all of them.
const maxRecent = 64

// New returns a service with the settings in d's exported fields.
func New(d Numbers) *Numbers {
	d.numbers, d.recent = numbers.New(d.Store), make(chan numbers.Number, maxRecent)
	return &d
}

// Mount adds the routes. A server without telephony does not have them.
func Mount(a *api.API, d *Numbers) {
	api.Register(a, callRoutes.Get("/callcenter/status", "get-callcenter-status", "Get telephony status",
		"Whether numbers can be bought and called, through which carrier, and in which countries. A server without telephony answers 404 here and "+
			"on every other route under `/callcenter`."), d.status)
	api.Register(a, numberRoutes.Get("/callcenter/agents", "list-callcenter-agents", "List who can answer",
		"Every agent of the account, newest first."), d.agents)
	search := numberRoutes.Get("/callcenter/numbers/search", "search-numbers", "Search numbers for sale",
		"Local numbers of one country, 15 a page. The costs are the carrier's and only decide whether a number is included: what is charged is "+
			"`phone.number_per_month` of the rate card. One whose monthly cost is above that, or whose up-front cost is above 5, cannot be bought.")
	search.SkipValidateParams = true // refused below, by the codes that belong to it
	api.Register(a, search, d.search)
	api.Register(a, numberRoutes.Get("/callcenter/numbers", "list-numbers", "List the account's numbers",
		"Newest first, each with the agent that answers it. A number that was ordered is `pending` until the carrier has activated it. One whose month "+
			"could not be paid is `past_due`: it works on while the balance allows, and is lost for good at `release_at` unless the month is paid by then, "+
			"which is tried each day and whenever money comes in."), d.list)
	api.Register(a, numberRoutes.Post("/callcenter/numbers", "buy-number", "Buy a number",
		"Buys a number that the search has found, charges its first month at once, and binds it to an agent. 200: it is yours and answers. 202: the carrier "+
			"has not activated it yet; it is charged, is in the list as `pending`, and if it fails after all the month is given back. Numbers are paid from "+
			"what was paid in: the welcome credit does not pay them. With an `Idempotency-Key` the request can be sent again within 24 hours and is answered "+
			"as the first time; one that was refused may be sent again with its key.",
		http.StatusPaymentRequired, http.StatusNotFound, http.StatusConflict).OwnChecks(), d.buy)
	answers := a.Document().Paths["/callcenter/numbers"].Post.Responses
	answers["200"].Description = "The number is yours."
	answers["202"] = &huma.Response{Description: "It is ordered and paid, and not active yet.", Content: answers["200"].Content}
	api.Register(a, numberRoutes.Post("/callcenter/numbers/{id}/assign", "assign-number", "Bind a number to an agent",
		"From now on calls to the number are answered by that agent, or with an empty `agent_id` by nobody. With a `webhook_id` that webhook is asked about "+
			"each call first, for two seconds at most: see `call.incoming`. With `calls_per_hour` no more calls than that begin from the number within an "+
			"hour: single ones are refused with `callcenter.number_paced`, those of batches wait.", http.StatusNotFound).OwnChecks(), d.assign)
	api.Register(a, numberRoutes.Delete("/callcenter/numbers/{id}", "release-number", "Release a number",
		"Gives the number back to the carrier, for good: it cannot be recovered. No month of it is charged any more, and none is given back.",
		http.StatusNotFound), d.release)
	api.Register(a, numberRoutes.Post("/v1/trunks/{id}/numbers", "add-trunk-number", "Put a number of your own on a trunk",
		"A number that your carrier or exchange brings by the trunk. It costs nothing here, is in the list of numbers, and calls from it go out on the trunk. "+
			"Release it to take it off.", http.StatusNotFound).Created().Repeatable(), d.addOwn)
	d.mountRules(a)
	d.mountHook(a)
}

// callRoutes describes the routes of calls and batches, numberRoutes those of numbers and of
// the agents that answer them. Pages of other sites are refused: numbers cost money.
var (
	callRoutes   = api.Group{Tag: "Call center", Access: api.Service, Scope: api.Calls, OwnPagesOnly: true}
	numberRoutes = api.Group{Tag: "Call center", Access: api.Service, Scope: api.Numbers, OwnPagesOnly: true, Missing: api.ErrNoNumber}
)

// countries are those whose numbers are sold, as clients name them, and their ISO
// codes. Britain is GB everywhere but in the search.
var countries = []struct{ code, iso string }{
	{"US", "US"}, {"ES", "ES"}, {"UK", "GB"}, {"DE", "DE"}, {"FR", "FR"}, {"IT", "IT"}, {"PT", "PT"},
}

func (d *Numbers) status(context.Context, *struct{}) (*api.Reply[wire.Status], error) {
	s := wire.Status{Enabled: true, Carrier: d.Carrier.Name()}
	for _, c := range countries {
		s.Countries = append(s.Countries, c.code)
	}
	return api.Body(s), nil
}

type agentsOutput struct {
	Body struct {
		Agents []wire.Agent `json:"agents" doc:"Every agent of the account." nullable:"false"`
	}
}

func (d *Numbers) agents(ctx context.Context, _ *struct{}) (*agentsOutput, error) {
	found, err := d.Store.Agents(ctx, api.AccountOf(ctx), store.Page{})
	if err != nil {
		return nil, err
	}
	out := &agentsOutput{}
	out.Body.Agents = api.Views(found, func(a *store.Agent) wire.Agent {
		return wire.Agent{ID: a.ID, Name: a.Name, Voice: a.Voice, Language: a.Language}
	})
	return out, nil
}
