package inbound

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"parley/billing"
	"parley/cmd/parley/conversation"
	"parley/cmd/parley/outbound"
	"parley/pipeline/routing"
	"parley/sip/trunk"
	"parley/store"
	"parley/store/numbers"
)

// route is where a call goes, and what it came on.
type route struct {
	numbers.Route
	called string         // the number, in E.164, or the extension
	line   outbound.Line  // that calls of the conversation go out on
	own    bool           // it came on a trunk of the account
	rules  *routing.Rules // of the number; nil: it has none
}

// terms are what the call is priced by.
func (r *route) terms() billing.Terms {
	return billing.Terms{Kind: billing.Inbound, Country: r.Country, OwnTrunk: r.own}
}

// routeOf finds where a call goes: to the agent of the called number, else to that of the trunk's extension. A trunk of an
// account brings calls to its own numbers and extensions, and nobody else's; the operator's lines bring them to the
// numbers that are on these.
func (n *Answerer) routeOf(ctx context.Context, in *arrival) (*route, error) {
	r := &route{called: e164(in.Called), own: in.Account != ""}
	found, err := n.numberOf(ctx, in, r.called)
	if in.Extension != "" && errors.Is(err, store.ErrNotFound) {
		r.called = in.User
		r.line = outbound.Line{Caller: trunk.Caller{Trunk: in.Trunk, Number: r.called}, Own: r.own}
		found, err = n.extension(ctx, in)
	}
	if err != nil {
		return nil, err
	}
	r.Route = *found
	if r.Rules != nil {
		if r.rules, err = routing.Parse(r.Rules, nil); err != nil { // a newer version wrote them
			n.Log.Warn("the rules of a number cannot be read", "number", r.Number, "err", err)
		}
	}
	if r.Number != "" {
		r.line = outbound.LineOf(&numbers.Number{E164: r.called, Trunk: r.Trunk})
	}
	return r, nil
}

// speaks has an agent speak as the number's rules say.
func (r *route) speaks(p *conversation.Plan) {
	if r.rules == nil {
		return
	}
	if l := r.rules.Language; l != "" && l != p.Agent.Language {
		own := p.Agent
		p.Agent.Speak(l, &own)
	}
	p.Agent.FirstMessage = cmp.Or(r.rules.FirstMessage, p.Agent.FirstMessage)
}

// numberOf finds whose a called number is.
func (n *Answerer) numberOf(ctx context.Context, in *arrival, number string) (*numbers.Route, error) {
	if !strings.HasPrefix(number, "+") {
		return nil, store.ErrNotFound
	}
	if in.Account != "" {
		return n.Numbers.RouteOwn(ctx, in.Account, number)
	}
	found, err := n.Numbers.Route(ctx, number)
	if err == nil && n.misrouted(in.Trunk, number) {
		err = errNoRoute
	}
	return found, err
}

// extension finds whose agent answers an extension of a trunk.
func (n *Answerer) extension(ctx context.Context, in *arrival) (*numbers.Route, error) {
	if in.Account != "" {
		return &numbers.Route{Account: in.Account, Agent: &in.Extension}, nil
	}
	found, err := n.Numbers.RouteExtension(ctx, in.Extension)
	if err == nil {
		found.Country = n.trunk(in.Trunk).Plan.Country
	}
	return found, err
}

// trunk is one of the operator's; the zero Config: it is none of these.
func (n *Answerer) trunk(name string) (t trunk.Config) {
	if i := slices.IndexFunc(n.Trunks, func(t trunk.Config) bool { return t.Name == name }); i >= 0 {
		t = n.Trunks[i]
	}
	return t
}

// misrouted says whether a call came on a trunk that lists numbers, for a number that only
// another trunk lists: carriers of one customer must not reach the numbers of another.
func (n *Answerer) misrouted(name, number string) bool {
	lists := func(t trunk.Config) bool { return slices.Contains(t.Numbers, number) }
	t := n.trunk(name)
	return len(t.Numbers) > 0 && !lists(t) && slices.ContainsFunc(n.Trunks, lists)
}

// leastDigits are those of the shortest telephone numbers in international format; fewer are an extension.
const leastDigits = 7

// e164 is a called number as numbers are stored: with its plus.
func e164(called string) string {
	called = strings.Map(func(r rune) rune {
		if strings.ContainsRune(" -.()", r) {
			return -1
		}
		return r
	}, called)
	if !strings.HasPrefix(called, "+") && len(called) >= leastDigits {
		called = "+" + strings.TrimPrefix(called, "00")
	}
	return called
}
