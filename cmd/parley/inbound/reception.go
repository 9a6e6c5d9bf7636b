package inbound

import (
	"cmp"
	"context"

	"parley/cmd/parley/conversation"
	"parley/media"
	"parley/media/isolate"
	"parley/pipeline/bridge"
	"parley/pipeline/playout"
	"parley/pipeline/session"
)

// reception is a call that was answered without an agent.
type reception struct {
	n       *Answerer
	session *session.Session
	wire    *conversation.Wire
	leg     leg
	by      *bridge.Attendant
	said    []*playout.Sentence // the text
	plan    conversation.Plan   // whose voice it has
	sentOn  bool                // the far end has called a number in place of us
}

// receive admits a call, has a text spoken while it rings, and answers. Where there is no error the reception must be closed.
func (n *Answerer) receive(ctx context.Context, in *arrival, r *route, text string) (c *reception, answered bool, err error) {
	c = &reception{n: n}
	if c.plan, err = n.voice(ctx, r); err != nil {
		return nil, false, err
	}
	if c.session, err = n.Calls.Admit(ctx, session.Admission{Start: n.start(in, r)}); err != nil {
		return nil, false, err
	}
	c.wire = n.Maker.Wire(c.session, in.Trace())
	defer func() {
		if c.by == nil { // also after a panic
			c.close(endedBy(cmp.Or(err, error(isolate.Internal))))
			c = nil
		}
	}()
	if err = in.Ring(); err != nil {
		return c, true, err
	}
	ringing, stop := c.session.Until(ctx)
	defer stop()
	if c.said, err = n.Maker.Utter(ringing, c.session, &c.plan, text); err != nil {
		err = &unspoken{err}
		return c, false, err
	}
	if c.leg, err = in.Answer(ringing); err != nil {
		if c.session.Why() != nil {
			in.Reject(480, "", 0)
		}
		return c, true, err
	}
	follow(c.wire, c.leg)
	c.session.BeginAt(c.leg.Answered())
	c.by = bridge.Attend(context.WithoutCancel(ctx), c.leg)
	return c, true, nil
}

// unspoken is why a text could not be spoken: the engines do not begin, and the call ends so.
type unspoken struct{ cause error }

func (u *unspoken) Error() string { return u.cause.Error() }
func (u *unspoken) Unwrap() []error {
	return []error{errEngines, &media.Ended{Reason: media.Failed, Detail: media.EngineFailed}, u.cause}
}

// voice is the plan of the number's own agent, in whose voice texts are spoken; without one that of any.
func (n *Answerer) voice(ctx context.Context, r *route) (conversation.Plan, error) {
	stored := conversation.NewAgent()
	if r.Agent != nil {
		own, err := n.Store.Agent(ctx, r.Account, *r.Agent)
		if err != nil {
			return conversation.Plan{}, err
		}
		stored = *own
	}
	plan := conversation.PlanOf(&stored, n.Log)
	r.speaks(&plan)
	return plan, nil
}

// close ends what is left of the call. Where the leg has ended before, that is how the call ended, unless it was sent on.
func (c *reception) close(ended media.Ended) {
	if c.by != nil {
		if by := c.by.End(ended); !c.sentOn {
			ended = by
		}
	}
	c.session.End(ended)
	c.wire.Keep()
	if c.leg != nil {
		c.n.Maker.Metrics.Ended("telephone", c.session.ID(), ended)
		c.n.measure(c.session.ID(), c.leg)
	}
}

// say answers a call with a text, and ends it.
func (n *Answerer) say(ctx context.Context, in *arrival, r *route, text string) (answered bool, err error) {
	c, answered, err := n.receive(ctx, in, r, text)
	if err != nil {
		return answered, err
	}
	life, stop := c.session.Until(context.WithoutCancel(ctx))
	defer stop()
	ended := *isolate.Internal
	defer func() { c.close(ended) }()
	ended = c.tell(life, c.said)
	return true, nil
}

// tell says a text, and how the call ends after it: by the agent's side, unless it has ended before.
func (c *reception) tell(life context.Context, said []*playout.Sentence) media.Ended {
	if c.by.Say(life, said) != nil && life.Err() != nil {
		return *media.EndedBy(context.Cause(life))
	}
	return media.Ended{Reason: media.AgentHangup}
}

// handOver is the leg for an agent, l with what it may do; nil: it was not received, and l is all there is.
func (c *reception) handOver(l bridge.Telephone) media.Leg {
	if c == nil {
		return l
	}
	return c.by.HandOver(l)
}

// hangUp ends the leg of a call whose agent could not begin, which *failed says.
func (c *reception) hangUp(failed *error) {
	if *failed != nil {
		c.by.End(endedBy(*failed))
	}
}
