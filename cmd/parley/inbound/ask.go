package inbound

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"parley/api"
	"parley/api/calls"
	"parley/api/webhook"
	"parley/api/wire"
	"parley/cmd/parley/conversation"
	"parley/pipeline/tool"
	"parley/store"
)

// Bounds of asking a webhook who answers a call.
const (
	askTime   = 2 * time.Second // while the caller hears it ring
	maxAnswer = 64 << 10        // bytes
)

// speaker is who answers a call, and what they are given.
type speaker struct {
	stored    *store.Agent // nil: nobody
	plan      conversation.Plan
	variables map[string]string
	metadata  map[string]string
	asked     *store.Asked // how a webhook was asked; nil: none was
}

// waited is how long the call has rung while a webhook was asked.
func (s *speaker) waited() time.Duration {
	if s.asked == nil {
		return 0
	}
	return time.Duration(s.asked.TookMS) * time.Millisecond
}

// own is the agent of the called number.
func (n *Answerer) own(ctx context.Context, r *route) (speaker, error) {
	if r.Agent == nil {
		return speaker{}, errNoRoute
	}
	return n.speaker(ctx, r.Account, *r.Agent)
}

func (n *Answerer) speaker(ctx context.Context, account, agent string) (speaker, error) {
	stored, err := n.Store.Agent(ctx, account, agent)
	if err != nil {
		return speaker{}, err
	}
	return speaker{stored: stored, plan: conversation.PlanOf(stored, n.Log)}, nil
}

// ask asks the webhook of the called number who answers, while the call rings. Nobody does where it
// has refused the call or failed.
func (n *Answerer) ask(ctx context.Context, in *arrival, r *route) speaker {
	begun := time.Now()
	asked := &store.Asked{Webhook: *r.Webhook, Outcome: store.AskedAnswered}
	posted, err := n.post(ctx, in, r)
	asked.Status, asked.TookMS = posted.Status, time.Since(begun).Milliseconds()
	var answer wire.IncomingAnswer
	if err == nil {
		answer, err = answerOf(&posted)
	}
	var s speaker
	switch {
	case err != nil:
	case answer.Refuse:
		asked.Outcome = store.AskedRefused
	default:
		s, err = n.chosen(ctx, r, &answer)
	}
	if err != nil {
		s = speaker{}
		asked.Outcome, asked.Failure = store.AskedFailed, failure(err)
		n.Log.Info("a webhook did not say who answers a call", "webhook", asked.Webhook, "call", in.CallID, "status", asked.Status, "err", err)
	}
	s.asked = asked
	return s
}

// instead has the number's own agent, if there is one, answer where the webhook has failed.
func (n *Answerer) instead(ctx context.Context, r *route, s *speaker) error {
	own, err := n.own(ctx, r)
	if err != nil && !errors.Is(err, errNoRoute) {
		return err
	}
	own.asked = s.asked
	*s = own
	return nil
}

// post sends the question.
func (n *Answerer) post(ctx context.Context, in *arrival, r *route) (tool.Posted, error) {
	address, secrets, err := n.Webhooks.Asked(ctx, r.Account, *r.Webhook)
	if err != nil {
		return tool.Posted{}, err
	}
	caller, now := callerOf(in), n.Store.Now()
	event := webhook.Event[wire.IncomingCall]{ID: store.NewID(store.EventID, now), Type: store.CallIncoming, Timestamp: now,
		Data: wire.IncomingCall{NumberID: r.Number, From: caller.Number, To: r.called, CallerName: caller.Display, Verstat: api.Some(caller.Verstat),
			Attested: api.Some(attestationOf(in)), Headers: in.Headers.Custom, Origin: calls.Origin(originOf(in)), AgentID: r.Agent}}
	body, err := json.Marshal(event)
	if err != nil {
		return tool.Posted{}, err
	}
	header := http.Header{"User-Agent": {"Parley"}}
	if err := webhook.Sign(header, secrets, event.ID, now, body); err != nil {
		return tool.Posted{}, err
	}
	posted, err := n.Poster.Post(ctx, address, header, body)
	if err != nil {
		err = &unusable{err.Error()}
	}
	return posted, err
}

// unusable says why there is no answer that can be used, in a sentence for the account.
type unusable struct{ text string }

func (e *unusable) Error() string { return e.text }

// answerOf reads what the webhook said; an empty body says nothing.
func answerOf(p *tool.Posted) (a wire.IncomingAnswer, err error) {
	switch {
	case p.Status < 200 || p.Status > 299:
		return a, &unusable{fmt.Sprintf("the webhook answered %d", p.Status)}
	case len(p.Text) >= maxAnswer:
		return a, &unusable{fmt.Sprintf("the answer has %d bytes or more", maxAnswer)}
	}
	d := json.NewDecoder(bytes.NewReader([]byte(p.Text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil && !errors.Is(err, io.EOF) {
		return a, &unusable{"the answer is not as it should be: " + err.Error()}
	}
	if wrong := a.Metadata.Check(); wrong != "" {
		return a, &unusable{wrong}
	}
	return a, nil
}

// chosen is who answers as the webhook said.
func (n *Answerer) chosen(ctx context.Context, r *route, a *wire.IncomingAnswer) (s speaker, err error) {
	if a.AgentID == "" {
		s, err = n.own(ctx, r)
	} else {
		s, err = n.speaker(ctx, r.Account, a.AgentID)
	}
	switch {
	case errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrInvalid):
		return s, &unusable{"agent_id: there is no such agent"}
	case errors.Is(err, errNoRoute):
		return s, &unusable{"agent_id: the number has no agent of its own"}
	case err != nil:
		return s, err
	}
	if err := s.plan.Check(a.Variables); err != nil {
		return s, &unusable{api.ProblemOf(err).Detail}
	}
	s.variables, s.metadata = a.Variables, a.Metadata
	return s, nil
}

// failure is what the account reads about it.
func failure(err error) string {
	if u, ok := errors.AsType[*unusable](err); ok {
		return u.text
	}
	switch {
	case errors.Is(err, store.ErrUnsealed):
		return "the webhook's secret cannot be read; rotate it"
	case errors.Is(err, store.ErrNotFound):
		return "the webhook is switched off"
	}
	return "the server could not ask it"
}
