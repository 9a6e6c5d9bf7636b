package outbound

import (
	"context"

	"parley/api"
	"parley/media"
	"parley/pipeline/session"
	"parley/store/ledger"
)

// Forward calls the number that a call without an agent is forwarded to, beside it, on the account's line of the call. Its session is
// charged as that of a transfer's callee. The leg that answers runs until over is called with how it ended. An error says why there is
// none: a *media.Ended of the callee, or the refusal of a session.
func (x *Transfers) Forward(ctx context.Context, session *session.Session, ours Line, number string) (leg media.Leg, over func(media.Ended), err error) {
	c := consultation{transfers: x, session: session, from: ours}
	to, err := c.check(ctx, number)
	if err != nil {
		return nil, nil, err
	}
	return c.call(ctx, to)
}

// Redirect has the caller's side call a number in place of an account, which has no line for the call: ask sends that. Where the trunk
// is the operator's, the other call costs the operator, so it is admitted like a call of ours, and costs the first line minute. On a
// trunk of the account it is between the account and its carrier.
func (x *Transfers) Redirect(ctx context.Context, account string, ours Line, number string, ask func(number string) error) error {
	if ours.Own {
		return ask(number)
	}
	to, err := x.Destinations.check(number)
	if err == nil && !x.Attempts.Take(account) {
		err = api.ErrRateLimited
	}
	if err != nil {
		return err
	}
	s, err := x.Calls.Admit(ctx, session.Admission{Start: ledger.Start{Account: account, From: ours.Number, To: to.E164, Terms: ours.terms(to.Terms()), Brief: true}, LineOnly: true})
	if err != nil {
		return err
	}
	ended := media.Ended{Reason: media.Failed}
	if err = ask(to.E164); err == nil {
		s.Begin()
		ended = media.Ended{Reason: media.Completed, Detail: media.Transferred}
	}
	s.End(ended)
	x.Maker.Metrics.Ended("transfer", s.ID(), ended)
	return err
}
