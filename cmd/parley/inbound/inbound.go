// Package inbound takes incoming telephone calls: it finds the agent of the called number, or asks
// the number's webhook who answers, admits the call, and rings until the agent is ready to speak
// (Answerer).
package inbound

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"parley/api/mediastream"
	"parley/billing"
	"parley/billing/destination"
	"parley/cmd/parley/conversation"
	"parley/cmd/parley/outbound"
	"parley/media"
	"parley/media/isolate"
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/session"
	"parley/pipeline/tool"
	"parley/sip"
	"parley/sip/header"
	"parley/sip/trunk"
	"parley/store"
	"parley/store/ledger"
	"parley/store/numbers"
	"parley/store/webhook"
)

// retryAfter is when a carrier may try again what could not be taken now.
const retryAfter = 5 * time.Second

// Answerer takes incoming calls. All fields are set.
type Answerer struct {
	Store     *store.DB
	Ledger    *ledger.Ledger
	Numbers   *numbers.Store
	Calls     *session.Manager // of this node
	Maker     *conversation.Maker
	Transfers *outbound.Transfers
	Trunks    []trunk.Config
	Webhooks  *webhook.Store // that are asked who answers
	Poster    *tool.Poster   // of the questions
	Log       *slog.Logger
}

// New returns an Answerer with the fields of a, whose questions have the bounds of a call that rings.
func New(a Answerer) *Answerer {
	a.Poster = a.Poster.Within(askTime, maxAnswer)
	return &a
}

// Take takes or rejects one call that comes in over SIP. It returns when the call is over.
func (n *Answerer) Take(ctx context.Context, in *sip.Incoming) { n.receives(ctx, overSIP(in)) }

// TakeStream is Take for one that a carrier brings over a WebSocket.
func (n *Answerer) TakeStream(ctx context.Context, c *mediastream.Call) {
	n.receives(ctx, overStream(c))
}

func (n *Answerer) receives(ctx context.Context, in *arrival) {
	answered, err := n.answer(ctx, in)
	if err != nil && !answered {
		code, retry := refusalCode(err)
		in.Reject(code, "", retry)
	}
	if err != nil {
		n.Log.Info("a call was not taken", "call", in.CallID, "to", in.Called, "err", err)
	}
}

// errNoRoute refuses a call to a number without an agent, errEngines one whose agent cannot begin.
var (
	errNoRoute = errors.New("the number has no agent")
	errEngines = errors.New("the engines of the agent do not begin")
)

// answer takes a call, or says why not. answered says that the caller has a final response.
func (n *Answerer) answer(ctx context.Context, in *arrival) (answered bool, err error) {
	route, err := n.routeOf(ctx, in)
	if err != nil {
		return false, err
	}
	if route.rules != nil {
		return n.byRules(ctx, in, route)
	}
	return n.toOwn(ctx, in, route)
}

// toOwn has the number's own agent, or the one that its webhook names, answer a call.
func (n *Answerer) toOwn(ctx context.Context, in *arrival, route *route) (answered bool, err error) {
	if route.Webhook == nil {
		s, err := n.own(ctx, route)
		if err != nil {
			return false, err
		}
		return n.take(ctx, in, route, &s)
	}
	if err := n.Calls.Room(); err != nil {
		return false, err // another node may take it
	}
	if err := in.Ring(); err != nil {
		return true, err
	}
	s := n.ask(ctx, in, route)
	switch s.asked.Outcome {
	case store.AskedRefused:
		in.Reject(603, "", 0)
	case store.AskedFailed:
		if err := n.instead(context.WithoutCancel(ctx), route, &s); err != nil {
			return false, err
		}
	}
	return n.take(ctx, in, route, &s)
}

// take admits a call and has its speaker answer it. Without one it is only noted: there was the call,
// and the webhook was asked.
func (n *Answerer) take(ctx context.Context, in *arrival, r *route, s *speaker) (answered bool, err error) {
	start := n.start(in, r)
	start.Metadata, start.Asked = s.metadata, s.asked
	if s.stored != nil {
		start.Agent, start.AgentVersion = s.stored.ID, s.stored.Version
	}
	admission := ctx
	if s.asked != nil {
		admission = context.WithoutCancel(ctx) // a caller who gave up meanwhile has called all the same
	}
	session, err := n.Calls.Admit(admission, session.Admission{Start: start})
	if err != nil {
		return false, err
	}
	defer session.End(*isolate.Internal) // where nothing else has ended it
	w := n.Maker.Wire(session, in.Trace())
	defer w.Keep()
	switch {
	case s.stored != nil:
		err = in.Ring()
	case s.asked.Outcome == store.AskedRefused:
		err = &media.Ended{Reason: media.Rejected, Detail: detailRefused}
	default:
		in.Reject(404, "", 0)
		err = &media.Ended{Reason: media.Failed, Detail: detailNoAgent}
	}
	if err != nil {
		session.End(endedBy(err))
		return true, err
	}
	n.begin(in, r, s)
	return n.converse(ctx, in, r, session, s, w, nil)
}

// start is what is known of a call that comes in.
func (n *Answerer) start(in *arrival, r *route) ledger.Start {
	caller := callerOf(in)
	return ledger.Start{Account: r.Account, From: caller.Number, To: r.called, Verstat: caller.Verstat, Attestation: attestationOf(in), Headers: in.Headers.Custom, Origin: originOf(in), Terms: r.terms()}
}

// begin makes the speaker's texts those of a call.
func (n *Answerer) begin(in *arrival, r *route, s *speaker) {
	caller, attestation := callerOf(in), attestationOf(in)
	r.speaks(&s.plan)
	s.plan.Begin(agent.Call{Now: n.Store.Now(), From: caller.Number, To: r.called, CallerName: caller.Display, Verified: verified(caller, attestation), Attestation: attestation,
		Headers: in.Headers.Custom, DivertedBy: in.Headers.DivertedBy(in.Called), FirstCalled: in.Headers.FirstCalled(in.Called), Given: s.variables})
}

// Details of calls that nobody answered.
const (
	detailRefused media.EndDetail = "webhook"  // of rejected: the number's webhook refused it
	detailNoAgent media.EndDetail = "no_agent" // of failed: it did not say who answers, and the number has no agent
)

// callerOf is who calls, for everything that depends on it: the books, the agent's
// variables, customer data and the do-not-call list. What a trunk asserts counts before
// what the caller says; where nobody vouches for identities, no check of them counts.
func callerOf(in *arrival) header.Identity {
	caller := in.From
	if !in.Trusted {
		caller.Verstat = ""
		return caller
	}
	if in.Asserted.Number != "" {
		caller.Number, caller.Verstat = in.Asserted.Number, in.Asserted.Verstat
	}
	caller.Display = cmp.Or(in.Asserted.Display, caller.Display)
	return caller
}

// shownNumber is the caller's number for those whom the call is passed on to; empty: it is withheld, or none.
func shownNumber(in *arrival) string {
	if in.Headers.Withheld {
		return ""
	}
	number, err := destination.International(e164(callerOf(in).Number))
	if err != nil {
		return ""
	}
	return number
}

// numberPassed is a carrier's word that a number is its caller's (ATIS-1000074).
const numberPassed = "TN-Validation-Passed"

// converse rings while the engines open and the first message is made, answers,
// and conducts the call; one that was received does not ring any more.
func (n *Answerer) converse(ctx context.Context, in *arrival, r *route, session *session.Session, s *speaker, w *conversation.Wire, received *reception) (answered bool, err error) {
	p := &s.plan
	ringing, stop := session.Until(ctx)
	defer stop()
	rings := in.patience(p.Settings.Ring()) - s.waited()
	if received != nil {
		rings = 0
		defer received.hangUp(&err)
	}
	rung := time.NewTimer(rings)
	defer rung.Stop()
	record := n.Maker.Begin(ctx, "telephone", session, p, conversation.Asked{})
	end := func(e media.Ended) {
		session.End(e)
		record.End(e)
	}
	rate := in.Rate()
	call, functions, err := n.Maker.Make(ctx, session, p, conversation.Options{Rate: rate, Other: e164(callerOf(in).Number), Parent: record.Header(), Telephone: in.functions(n.Transfers.Functions(session, r.line, shownNumber(in))), Change: func(cfg *pipeline.Config, deaf bool) {
		conversation.OnTelephone(cfg, deaf, session, record)
	}})
	if err != nil {
		end(media.Ended{Reason: media.Failed, Detail: media.EngineFailed})
		return false, fmt.Errorf("%w: %w", errEngines, err)
	}
	defer functions.Close()
	life, done := context.WithCancel(context.WithoutCancel(ctx))
	defer done()
	if err := call.Prepare(life); err != nil {
		end(media.Ended{Reason: media.Failed, Detail: media.EngineFailed})
		return false, fmt.Errorf("%w: %w", errEngines, err)
	}
	select {
	case <-rung.C:
		err = rehearsed(ringing, call)
	case <-ringing.Done():
		err = context.Cause(ringing)
	}
	var leg leg
	switch {
	case err != nil:
	case received != nil:
		leg = received.leg
	default:
		leg, err = in.Answer(ringing)
	}
	if err != nil {
		if session.Why() != nil {
			in.Reject(480, "", 0)
		}
		call.Close()
		end(endedBy(err))
		return true, err
	}
	follow(w, leg)
	if err := n.Maker.Fit(call, p, rate, leg); err != nil {
		call.Close()
		end(media.Ended{Reason: media.Failed, Detail: media.EngineFailed})
		return true, err
	}
	session.BeginAt(leg.Answered())
	n.Log.Info("call answered", "session", session.ID(), "call", in.CallID, "from", in.Source, "to", in.Called)
	began := conversation.Began{Leg: "telephone", From: r.line.Caller, Own: r.line.Own, Other: e164(callerOf(in).Number), Shown: shownNumber(in)}
	ended := n.Maker.Conduct(&conversation.Movable{Began: began, Session: session, Call: call, Leg: movable(leg, received)}, p, received.handOver(n.onTelephone(leg, p, session, r)))
	record.End(ended)
	n.Maker.Ended("telephone", session, ended)
	n.measure(session.ID(), leg)
	return true, nil
}

// rehearsalMax bounds the wait for the first message's audio beyond the ringing.
const rehearsalMax = 3 * time.Second

func rehearsed(ctx context.Context, call *pipeline.Call) error {
	t := time.NewTimer(rehearsalMax)
	defer t.Stop()
	select {
	case <-call.Rehearsed():
	case <-t.C: // the voice is slow: the call is answered all the same
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// refusalCode is the SIP response to a refused call.
func refusalCode(err error) (code int, retry time.Duration) {
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, errNoRoute), errors.Is(err, store.ErrInvalid): // no number at all
		return 404, 0
	case errors.Is(err, store.ErrConcurrency):
		return 486, 0
	case errors.Is(err, store.ErrInsufficientBalance), errors.Is(err, store.ErrDisputed), errors.Is(err, store.ErrSuspended),
		errors.Is(err, store.ErrSpending), errors.Is(err, billing.ErrNoPrice):
		return 480, 0
	}
	return 503, retryAfter // draining, full, the database away, an engine that does not start
}

// endedBy turns the cause of a call that was never answered into its end.
func endedBy(err error) media.Ended {
	if e, ok := errors.AsType[*media.Ended](err); ok {
		return *e
	}
	detail := media.EndDetail("answer")
	if r, ok := errors.AsType[*sip.Refused](err); ok && r.Code == 488 {
		detail = sip.DetailNoCodec
	}
	return media.Ended{Reason: media.Failed, Detail: detail}
}
