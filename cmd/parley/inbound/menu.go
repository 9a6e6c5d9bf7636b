package inbound

import (
	"context"

	"parley/api/mediastream"
	"parley/media"
	"parley/media/isolate"
	"parley/pipeline/bridge"
	"parley/pipeline/routing"
)

// noKey stands for a time without a key among those that were pressed.
const noKey = '-'

// menu answers a call, asks the menu of its number's rules, and goes on as the key says.
func (n *Answerer) menu(ctx context.Context, in *arrival, r *route) (answered bool, err error) {
	c, answered, err := n.receive(ctx, in, r, r.rules.Menu.Prompt)
	if err != nil {
		return answered, err
	}
	handed := false
	ended := *isolate.Internal
	defer func() {
		if handed {
			c.wire.Keep()
		} else {
			c.close(ended)
		}
	}()
	life, stop := c.session.Until(context.WithoutCancel(ctx))
	defer stop()
	keys, err := c.keys(life, r.rules.Menu)
	if err != nil {
		ended = *media.EndedBy(context.Cause(life))
		return true, nil
	}
	d := r.rules.Pressed(keys)
	n.Log.Info("a caller has chosen", "session", c.session.ID(), "action", d.Action, "why", d.Why)
	if d.Action == routing.ToAgent {
		s, err := n.chosenBy(life, c, r, d.Target.Agent)
		if err == nil {
			n.begin(in, r, &s)
			handed = true
			_, err = n.converse(ctx, in, r, c.session, &s, c.wire, c)
			return true, err
		}
		n.Log.Info("the agent of a menu cannot be reached", "session", c.session.ID(), "agent", d.Target.Agent, "err", err)
		d = r.rules.Decide(routing.Circumstances{At: n.Store.Now(), Out: routing.NoAgent})
	}
	switch d.Action {
	case routing.ToNumber:
		ended = c.forward(life, r, d.Target.Number)
	case routing.Say:
		ended = c.says(life, d.Target.Message)
	default:
		ended = media.Ended{Reason: media.Failed, Detail: detailNoAgent}
	}
	return true, nil
}

// keys asks until a key of the menu is pressed, or often enough. An error: the caller or life has ended.
func (c *reception) keys(life context.Context, m *routing.Menu) (keys string, err error) {
	for range m.Tries() {
		key, err := c.by.Ask(life, c.said, m.Patience())
		switch {
		case err != nil:
			return "", err
		case key == 0:
			key = noKey
		}
		if keys += string(rune(key)); m.Option(string(rune(key))) != nil {
			break
		}
	}
	return keys, nil
}

// chosenBy is who a menu leads to; the call is theirs from now on.
func (n *Answerer) chosenBy(ctx context.Context, c *reception, r *route, agent string) (s speaker, err error) {
	if agent == "" {
		s, err = n.own(ctx, r)
	} else {
		s, err = n.speaker(ctx, r.Account, agent)
	}
	if err == nil {
		err = n.Ledger.AnsweredBy(ctx, r.Account, c.session.ID(), s.stored.ID, s.stored.Version)
	}
	return s, err
}

// says has a text spoken, and says how the call ends after it.
func (c *reception) says(life context.Context, text string) media.Ended {
	said, err := c.n.Maker.Utter(life, c.session, &c.plan, text)
	if err != nil {
		return media.Ended{Reason: media.Failed, Detail: media.EngineFailed}
	}
	return c.tell(life, said)
}

// forward calls a number while the caller hears it ring, and connects the two. Where no calls go out the far end calls the number itself,
// which is between the account and its carrier.
func (c *reception) forward(life context.Context, r *route, number string) media.Ended {
	if over, ok := c.leg.(*mediastream.Leg); ok {
		if c.sentOn = over.Transfer(life, number) == nil; !c.sentOn {
			return *media.EndedBy(context.Cause(life))
		}
		return media.Ended{Reason: media.Completed, Detail: media.Transferred}
	}
	var callee media.Leg
	var over func(media.Ended)
	err := error(isolate.Internal)
	answered := make(chan struct{})
	calling, stop := context.WithCancelCause(life)
	isolate.Go("cmd/parley/inbound/forward", nil, func() {
		callee, over, err = c.n.Transfers.Forward(calling, c.session, r.line, number)
	}, func() { close(answered) })
	left := c.by.Ring(life, number, answered)
	if left != nil {
		stop(media.EndedBy(nil))
	}
	<-answered
	defer stop(nil)
	switch {
	case err != nil && left == nil:
		return notForwarded(err)
	case err != nil:
		return *media.EndedBy(context.Cause(life))
	case left != nil:
		over(bridge.Attend(context.WithoutCancel(life), callee).End(*media.EndedBy(nil)))
		return *media.EndedBy(context.Cause(life))
	}
	return join(life, c.by, callee, over)
}
