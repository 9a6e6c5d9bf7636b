package callcenter

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"parley/api"
	"parley/api/wire"
	"parley/store"
	"parley/store/numbers"
)

// Routing judges the rules of numbers, which only who takes calls can.
type Routing struct {
	// Schema is the JSON Schema of rules.
	Schema json.RawMessage
	// Read brings rules into the form in which they are kept, nil where there is none, and lists the agents that they name. Its error
	// is one of the error table, and names every mistake.
	Read func(rules json.RawMessage) (kept json.RawMessage, agents []string, err error)
	// Try says where a call to a number with the rules would go; own is its agent, nil for none. now is the time when the trial does not
	// say another. The error is as Read's.
	Try func(rules json.RawMessage, own *string, t wire.RoutingTrial, now time.Time) (wire.Routed, error)
}

// rulesExample are rules in the OpenAPI document.
const rulesExample = `{"time_zone": "Europe/Madrid", "schedule": {"monday": ["09:00-14:00", "16:00-20:00"], "friday": ["22:00-02:00"]},
	"holidays": [{"date": "2026-12-25", "name": "Christmas"}], "closed": {"message": "We are closed. Please call on Monday."},
	"overflow": {"number": "+34911234568"}}`

// mountRules adds the routes of rules.
func (d *Numbers) mountRules(a *api.API) {
	if d.Routing.Schema != nil {
		s, err := api.SchemaOf(d.Routing.Schema)
		if err == nil {
			s.Examples = make([]any, 1)
			err = json.Unmarshal([]byte(rulesExample), &s.Examples[0])
		}
		if err != nil {
			panic(err) // the schema is the program's own
		}
		a.Document().Components.Schemas.Map()[strings.TrimPrefix(wire.NumberRulesRef, "#/components/schemas/")] = s
	}
	const rules = "/callcenter/numbers/{id}/rules"
	api.Register(a, numberRoutes.Get("/callcenter/rules/schema", "get-rules-schema", "Read the schema of rules",
		"JSON Schema 2020-12 of the rules of numbers, for editors and for checks before sending."), d.rulesSchema)
	api.Register(a, numberRoutes.Get(rules, "get-number-rules", "Read the rules of a number",
		"Where its calls go; an empty object where it has no rules.", http.StatusNotFound), d.rules)
	api.Register(a, numberRoutes.Put(rules, "replace-number-rules", "Replace the rules of a number",
		"Sets opening hours, holidays, a menu of keys, who takes calls outside the hours, and where calls go that cannot be taken. They count from the next call on. "+
			"An empty object removes them: then the number's agent, or its webhook, decides about all calls. `detail` names every field that is not valid, and what is allowed.",
		http.StatusNotFound).OwnChecks(), d.setRules)
	api.Register(a, numberRoutes.Post("/callcenter/numbers/{id}/try", "try-number", "Say where a call would go",
		"Decides about a call as the number's rules would, or others that are sent, and says why. Nothing is called, stored or charged.", http.StatusNotFound).OwnChecks(), d.try)
}

type numberInput struct {
	ID string `path:"id" doc:"The number's id, not the number." maxLength:"100" example:"num_06er5bt0v9k1o7m2q3s4t5u6v0"`
}

type rulesSchemaOutput struct{ Body map[string]any }

func (d *Numbers) rulesSchema(context.Context, *struct{}) (*rulesSchemaOutput, error) {
	out := &rulesSchemaOutput{}
	return out, json.Unmarshal(d.Routing.Schema, &out.Body)
}

// rulesOf shows the rules of a number.
func rulesOf(n *numbers.Number) wire.NumberRules {
	if n.Rules == nil {
		return wire.NumberRules{RawMessage: json.RawMessage("{}")}
	}
	return wire.NumberRules{RawMessage: n.Rules}
}

func (d *Numbers) rules(ctx context.Context, in *numberInput) (*api.Reply[wire.NumberRules], error) {
	return api.Show(rulesOf)(d.numbers.Number(ctx, api.AccountOf(ctx), in.ID))
}

type rulesInput struct {
	ID   string `path:"id" doc:"The number's id, not the number." maxLength:"100" example:"num_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Body wire.NumberRules
}

func (d *Numbers) setRules(ctx context.Context, in *rulesInput) (*api.Reply[wire.NumberRules], error) {
	account := api.AccountOf(ctx)
	if _, err := d.numbers.Number(ctx, account, in.ID); err != nil {
		return nil, err
	}
	kept, agents, err := d.Routing.Read(in.Body.RawMessage)
	if err != nil {
		return nil, err
	}
	err = d.numbers.SetRules(ctx, account, in.ID, kept, agents)
	if errors.Is(err, store.ErrNotFound) {
		return nil, api.ErrNoAgent
	}
	if err != nil {
		return nil, err
	}
	return d.rules(ctx, &numberInput{in.ID})
}

// exhausted is what a call may find so.
var exhausted = []string{"lines", "balance", "agent"}

type tryInput struct {
	ID   string `path:"id" doc:"The number's id, not the number." maxLength:"100" example:"num_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Body wire.RoutingTrial
}

func (d *Numbers) try(ctx context.Context, in *tryInput) (*api.Reply[wire.Routed], error) {
	n, err := d.numbers.Number(ctx, api.AccountOf(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	if out := in.Body.Out; out != "" && !slices.Contains(exhausted, out) {
		return nil, api.Bad("body.out: must be one of %s", strings.Join(exhausted, ", "))
	}
	rules := rulesOf(n).RawMessage
	if in.Body.Rules != nil {
		rules = in.Body.Rules.RawMessage
	}
	routed, err := d.Routing.Try(rules, n.AgentID, in.Body, d.Store.Now())
	if err != nil {
		return nil, err
	}
	routed.NumberID, routed.PhoneNumber = n.ID, n.E164
	return api.Body(routed), nil
}
