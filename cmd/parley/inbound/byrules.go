package inbound

import (
	"context"
	"errors"
	"time"

	"parley/media"
	"parley/media/isolate"
	"parley/pipeline/bridge"
	"parley/pipeline/routing"
	"parley/pipeline/session"
	"parley/store"
)

// longestForward is how long a call without an agent may last: as long as one with an agent.
const longestForward = 2 * time.Hour

// byRules takes a call by the rules of its number. What cannot be taken overflows, where the rules say so.
func (n *Answerer) byRules(ctx context.Context, in *arrival, r *route) (answered bool, err error) {
	c := routing.Circumstances{At: n.Store.Now()}
	d := r.rules.Decide(c)
	n.Log.Info("a call is routed", "call", in.CallID, "number", r.Number, "action", d.Action, "why", d.Why)
	switch d.Action {
	case routing.ToNumber:
		answered, err = n.forward(ctx, in, r, d.Target.Number)
	case routing.Say:
		answered, err = n.say(ctx, in, r, d.Target.Message)
	case routing.Ask:
		answered, err = n.menu(ctx, in, r)
	default:
		answered, err = n.toAgent(ctx, in, r, d.Target.Agent)
	}
	if c.Out = outOf(err); answered || c.Out == "" {
		return answered, err
	}
	d = r.rules.Decide(c)
	n.Log.Info("a call cannot be taken", "call", in.CallID, "number", r.Number, "action", d.Action, "err", err)
	switch {
	case d.Action == routing.ToNumber:
		return n.forward(ctx, in, r, d.Target.Number)
	case d.Action == routing.Redirect && (r.own || in.Redirects()):
		// What it costs the operator is charged; who cannot pay that is refused as before.
		back := r.line
		back.Own = r.own
		if failed := n.Transfers.Redirect(ctx, r.Account, back, d.Target.Number, in.Redirect); failed != nil {
			n.Log.Info("a call does not overflow", "call", in.CallID, "err", failed)
			return false, err
		}
		return true, nil
	}
	return false, err
}

// outOf is what a call found exhausted that was not taken; empty: something that no overflow is for.
func outOf(err error) routing.Out {
	switch {
	case errors.Is(err, store.ErrConcurrency):
		return routing.Lines
	case errors.Is(err, store.ErrInsufficientBalance), errors.Is(err, store.ErrSpending), errors.Is(err, store.ErrTopupRequired):
		return routing.Balance
	case errors.Is(err, errNoRoute), errors.Is(err, errEngines), errors.Is(err, store.ErrNotFound):
		return routing.NoAgent
	}
	return ""
}

// toAgent has an agent of the account answer a call; empty: the number's own.
func (n *Answerer) toAgent(ctx context.Context, in *arrival, r *route, agent string) (answered bool, err error) {
	if agent == "" {
		return n.toOwn(ctx, in, r)
	}
	s, err := n.speaker(ctx, r.Account, agent)
	if err != nil {
		return false, err
	}
	return n.take(ctx, in, r, &s)
}

// forward calls another number while the call rings, and connects the two when it answers. Both lines are charged, and no agent is.
// Where no calls go out the far end calls the number itself, and nothing is charged.
func (n *Answerer) forward(ctx context.Context, in *arrival, r *route, number string) (answered bool, err error) {
	session, err := n.Calls.Admit(ctx, session.Admission{Start: n.start(in, r), LineOnly: true})
	if err != nil {
		return false, err
	}
	defer session.End(*isolate.Internal) // where nothing else has ended it
	if !in.callsOut() {
		return true, n.sentOn(in, session, number)
	}
	w := n.Maker.Wire(session, in.Trace())
	defer w.Keep()
	if err := in.Ring(); err != nil {
		session.End(endedBy(err))
		return true, err
	}
	ringing, stop := session.Until(ctx)
	defer stop()
	callee, over, err := n.Transfers.Forward(ringing, session, r.line, number)
	if err != nil {
		session.End(notForwarded(err))
		if outOf(err) == "" {
			in.Reject(notForwardedCode(err), "", 0)
			return true, err
		}
		return false, err
	}
	leg, err := in.Answer(ringing)
	if err != nil {
		over(bridge.Attend(context.WithoutCancel(ctx), callee).End(endedBy(err)))
		session.End(endedBy(err))
		return true, err
	}
	follow(w, leg)
	session.BeginAt(leg.Answered())
	life, done := session.Until(context.WithoutCancel(ctx))
	defer done()
	ended := join(life, bridge.Attend(context.WithoutCancel(ctx), leg), callee, over)
	session.End(ended)
	n.Maker.Metrics.Ended("telephone", session.ID(), ended)
	n.measure(session.ID(), leg)
	return true, nil
}

// sentOn has the far end of a call that was not answered call another number in place of us.
func (n *Answerer) sentOn(in *arrival, s *session.Session, number string) error {
	ended := media.Ended{Reason: media.Completed, Detail: media.Transferred}
	err := in.Redirect(number)
	if err != nil {
		ended = endedBy(err)
	}
	s.End(ended)
	n.Maker.Metrics.Ended("telephone", s.ID(), ended)
	return err
}

// join connects a caller to a callee until one of them hangs up, or life ends, and says how that was.
func join(life context.Context, caller *bridge.Attendant, callee media.Leg, over func(media.Ended)) media.Ended {
	life, stop := context.WithTimeoutCause(life, longestForward, &media.Ended{Reason: media.MaxDuration})
	defer stop()
	other := bridge.Attend(context.WithoutCancel(life), callee)
	why := media.Ended{Reason: media.Completed, Detail: media.Transferred}
	if err := caller.Join(life, other); err != nil {
		why = *media.EndedBy(err)
	}
	over(other.End(why))
	return caller.End(why)
}

// notForwarded is the end of a call whose callee did not answer.
func notForwarded(err error) media.Ended {
	if e, ok := errors.AsType[*media.Ended](err); ok {
		return *e
	}
	return media.Ended{Reason: media.Failed, Detail: detailForward}
}

// notForwardedCode is the response to its caller.
func notForwardedCode(err error) int {
	if notForwarded(err).Reason == media.Busy {
		return 486
	}
	return 480
}

// detailForward is of failed: the number to which the call was to go cannot be called.
const detailForward media.EndDetail = "forward"
