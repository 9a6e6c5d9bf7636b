package inbound

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"parley/api"
	"parley/api/callcenter"
	"parley/api/tts"
	"parley/api/wire"
	"parley/pipeline/routing"
)

// Routing is how the API reads and tries the rules of numbers, as calls are routed by them.
func Routing() callcenter.Routing {
	text, _ := json.Marshal(routing.Schema) // a value of ours
	return callcenter.Routing{Schema: text, Read: readRules, Try: tryRules}
}

// rulesOf reads rules. Its errors are of the error table.
func rulesOf(text json.RawMessage) (*routing.Rules, error) {
	r, err := routing.Parse(text, tts.Language)
	if err != nil {
		return nil, api.Bad("%s", err)
	}
	return r, nil
}

func readRules(text json.RawMessage) (kept json.RawMessage, agents []string, err error) {
	r, err := rulesOf(text)
	if err != nil {
		return nil, nil, err
	}
	kept, err = r.JSON()
	return kept, slices.Collect(maps.Values(r.Agents())), err
}

func tryRules(text json.RawMessage, own *string, t wire.RoutingTrial, now time.Time) (wire.Routed, error) {
	r, err := rulesOf(text)
	if err != nil {
		return wire.Routed{}, err
	}
	at := now
	if t.At != "" {
		if at, err = r.Moment(t.At); err != nil {
			return wire.Routed{}, api.Bad("body.at: write it as 2026-12-25T10:00, or with an offset as 2026-12-25T10:00:00+01:00")
		}
	}
	d := r.Decide(routing.Circumstances{At: at, Out: routing.Out(t.Out), Keys: t.Keys})
	out := wire.Routed{At: at.In(r.Zone()), Open: d.Open, Action: string(d.Action), Number: d.Target.Number, Message: d.Target.Message, Reasons: d.Why}
	switch {
	case d.Action == routing.Ask:
		out.Message = r.Menu.Prompt
	case d.Action != routing.ToAgent:
	case d.Target.Agent != "":
		out.AgentID = &d.Target.Agent
	case own != nil:
		out.AgentID = own
	default:
		out.Action, out.Reasons = string(routing.Refuse), append(out.Reasons, "The number has no agent of its own: unless its webhook names one, the call is refused.")
	}
	return out, nil
}
