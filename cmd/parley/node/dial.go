package node

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"parley/api"
	"parley/api/callcenter"
	"parley/api/wire"
	"parley/billing"
	"parley/billing/destination"
	"parley/media"
	"parley/media/isolate"
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/session"
	"parley/sip"
	"parley/sip/transport"
	"parley/sip/trunk"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
)

// ringTimeout is how long a callee may let it ring when nobody says otherwise.
const ringTimeout = 60 * time.Second

// dialler places calls for the call center.
type dialler struct{ *Node }

// classify sorts a destination. The simulated carrier reaches nobody, so there the
// numbers of fiction may be called too.
func (n *Node) classify(to string) (destination.Class, error) {
	sort := destination.Classify
	if n.cfg.Carrier == "simulated" {
		sort = destination.ClassifyFictional
	}
	c, err := sort(to)
	if e, ok := errors.AsType[*destination.Error](err); ok {
		return c, api.Detail(fmt.Errorf("%w: %w", api.ErrDestination, err), e.Reason)
	}
	return c, err
}

// Dial implements callcenter.Calls.
func (d dialler) Dial(ctx context.Context, p api.Principal, o callcenter.Order) (*wire.Placed, error) {
	return d.dial(ctx, p, o, nil, nil)
}

// dial begins a call, or refuses it. A row of a batch is dialled for it, on the place
// that was taken; both nil: it is a single call. The place goes with the call that
// begins.
func (n *Node) dial(ctx context.Context, p api.Principal, o callcenter.Order, row *ledger.RowClaim, place *trunk.Reservation) (*wire.Placed, error) {
	from, err := n.caller(ctx, p.Account, o.From)
	if err != nil {
		return nil, err
	}
	speaker, err := n.speaker(ctx, p.Account, o.Agent)
	if err != nil {
		return nil, err
	}
	plan := planOf(speaker, n.log)
	if err := agent.CheckGiven(&plan.settings, o.Variables); err != nil {
		return nil, api.Detail(api.ErrBadRequest, err.Error())
	}
	to, err := n.callee(o.To)
	if err != nil {
		return nil, err
	}
	admitted, err := n.manager.Admit(ctx, session.Admission{Start: ledger.Start{Account: p.Account, Key: p.Key, Agent: speaker.ID, AgentVersion: speaker.Version, From: from, To: to.E164, Terms: to.Terms(),
		Consent: &ledger.Consent{ToHash: n.hashed(to.E164), Key: p.Key, IP: o.IP}, IdempotencyKey: o.Once, Row: row, Paced: o.Paced}})
	if errors.Is(err, billing.ErrNoPrice) {
		err = api.ErrDestination
	}
	if err != nil {
		return nil, refusal(err)
	}
	begun := false
	defer func() {
		if !begun {
			admitted.End(*isolate.Internal) // a panic
		}
	}()
	fill := plan.begin(agent.Call{Now: n.db.Now(), From: from, To: to.E164, Given: o.Variables})
	order := outgoing{from: from, to: to.E164, place: place, ring: o.RingTimeout, longest: o.MaxDuration, plan: plan, trace: api.TraceParentOf(ctx),
		answering: plan.answering(o, fill)}
	begun = true
	isolate.Go("cmd/parley/node/outbound", nil, func() { n.place(admitted, order) },
		func() { admitted.End(*isolate.Internal) }, // where nothing else has ended it
		order.place.Free, // when it was not used
		n.batches.Wake)   // a line is free
	return &wire.Placed{CallID: admitted.ID(), Status: string(session.CallDialing), From: from, To: to.E164, AgentID: speaker.ID,
		CreatedAt: n.db.Now()}, nil
}

// answering is what a machine gets: as the order says, else as the agent does.
func (p *plan) answering(o callcenter.Order, fill agent.Fill) pipeline.Answering {
	s := &p.settings
	if o.OnMachine != "" || s.OnMachine == nil {
		return pipeline.Answering{OnMachine: agent.OnMachine(o.OnMachine), Message: o.Message}
	}
	a := pipeline.Answering{OnMachine: agent.OnMachine(*s.OnMachine)}
	if a.OnMachine == agent.LeaveMessage && s.MachineMessage != nil {
		a.Message = fill.Text(*s.MachineMessage)
	}
	return a
}

// caller is a number of the account as E.164 has it.
func (n *Node) caller(ctx context.Context, account, from string) (string, error) {
	own, err := ledger.New(n.db).NumberByE164(ctx, account, from)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrInvalid) {
		return "", api.ErrFrom
	}
	if err != nil {
		return "", err
	}
	return own.E164, nil
}

// speaker is an agent of the account.
func (n *Node) speaker(ctx context.Context, account, id string) (*store.Agent, error) {
	agent, err := n.db.Agent(ctx, account, id)
	if errors.Is(err, store.ErrInvalid) {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, notFound(err)
	}
	return agent, nil
}

// callee is a destination that may be called, and has a price.
func (n *Node) callee(number string) (destination.Class, error) {
	to, err := n.classify(number)
	if err != nil {
		return to, err
	}
	if _, err := to.Minute(n.db.RateCard()); err != nil {
		return to, api.Detail(fmt.Errorf("%w: %w", api.ErrDestination, err), "The rate card has no price for this destination.")
	}
	return to, nil
}

// hashed is a telephone number as the evidence of consent keeps it.
func (n *Node) hashed(e164 string) (h [32]byte) {
	mac := hmac.New(sha256.New, []byte(n.consentKey))
	mac.Write([]byte(e164))
	copy(h[:], mac.Sum(nil))
	return h
}

// outgoing is a call on its way.
type outgoing struct {
	from, to      string
	place         *trunk.Reservation // taken beforehand; nil: none
	ring, longest time.Duration      // 0: the usual, and as the agent says
	plan          plan
	answering     pipeline.Answering
	trace         string // traceparent header of the request; empty: none
}

// place dials, and conducts the call when it is answered. Nobody waits for it but the
// manager, which ends it when the node goes.
func (n *Node) place(session *session.Session, o outgoing) {
	if o.ring == 0 {
		o.ring = ringTimeout
	}
	ctx, cancel := context.WithTimeout(context.Background(), o.ring)
	defer cancel()
	ctx, stop := session.Until(ctx)
	defer stop()
	record := n.record("outbound", session, o.plan, o.trace)
	ended := *isolate.Internal
	defer func() {
		session.End(ended) // also when it was never answered; a conducted call has ended already
		record.ended(ended)
		n.ended("outbound", session.ID(), ended)
	}()
	ended = n.reach(ctx, session, o, record)
}

// reach dials and conducts.
func (n *Node) reach(ctx context.Context, session *session.Session, o outgoing, record *record) media.Ended {
	cfg, deaf, err := n.config(o.plan, media.Rate8k)
	if err != nil {
		n.log.Warn("an outbound call could not be prepared", "session", session.ID(), "err", err)
		return media.Ended{Reason: media.Failed, Detail: "engine"}
	}
	if deaf {
		cfg.Turn.Idle = 0
	}
	if o.longest > 0 {
		cfg.MaxDuration = min(cfg.MaxDuration, o.longest)
	}
	cfg.Answering = &o.answering
	functions := n.functionsOf(ctx, session, o.plan, o.to, record.trace.Header())
	defer functions.Close()
	cfg.Functions = functions.Functions
	n.telephoneFunctions(&cfg, o.plan, session, o.from)
	var who verdict
	cfg.Observe = who.follow(record.telephoneObserver(deaf, session))
	session.Bind(&cfg)
	cfg.Recorder, cfg.Journal = n.recorder(session, o.plan), n.journal(session, o.plan)
	call := pipeline.New(cfg)
	life, done := context.WithCancel(context.WithoutCancel(ctx))
	defer done()
	// Engines are opened when a telephone rings somewhere: most numbers that cannot be
	// reached never cost one.
	prepare := sync.OnceValue(func() error { return call.Prepare(life) })
	w := n.wire(session, new(transport.Trace))
	defer w.keep()
	rang := false // on Dial's goroutine, which is this one
	leg, err := n.phone.Dial(ctx, sip.Target{Number: o.to, Reservation: o.place, From: sip.Identity{Number: o.from}, Trace: w.trace, Ringing: func(int) {
		if rang {
			return
		}
		rang = true
		session.Ring()
		isolate.Go("cmd/parley/node/rings", session.Fail, func() { n.rings(session) })
		isolate.Go("cmd/parley/node/prepare", session.Fail, func() { _ = prepare() }) // the answer asks again
	}})
	if err != nil {
		if rang && prepare() == nil {
			call.Close()
		}
		return n.unreached(session, err)
	}
	defer hungUp(leg, isolate.Internal) // where nobody else has
	w.leg = leg
	if err := prepare(); err != nil {
		n.log.Warn("an outbound call could not be prepared", "session", session.ID(), "err", err)
		return hungUp(leg, &media.Ended{Reason: media.Failed, Detail: "engine"})
	}
	session.BeginAt(leg.Answered())
	n.log.Info("outbound call answered", "session", session.ID(), "call", leg.CallID())
	ended := session.Conduct(call, line{leg, n.consultation(session, o.plan, o.from)})
	n.answered(&who)
	n.heard(session.ID(), leg.Stats())
	return ended
}

// hungUp ends an answered call that nobody conducts.
func hungUp(leg *sip.Leg, why *media.Ended) media.Ended {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(why)
	_ = leg.Run(ctx) // its error is why
	return *why
}

// rings notes in the database that the callee is being alerted, for monitors on other
// nodes. What is lost of it they have from the bus.
func (n *Node) rings(session *session.Session) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if err := history.New(n.db).CallRings(ctx, session.Account(), session.ID()); err != nil {
		n.log.Debug("that a callee is alerted was not noted", "session", session.ID(), "err", err)
	}
}

// unreached is the end of a call that was not answered.
func (n *Node) unreached(session *session.Session, err error) media.Ended {
	why := session.Why()
	ended := notReached(why, err)
	if why != nil { // somebody hung up
		return ended
	}
	n.log.Info("an outbound call was not answered", "session", session.ID(), "reason", ended.Error(), "err", err)
	return ended
}

// notReached is why a call was not answered: err says how Dial ended, and why who hung up
// before, nil for nobody. That the callee was faster than the hang-up is told with it.
func notReached(why *media.Ended, err error) media.Ended {
	ended := media.Ended{Reason: media.Failed, Detail: "carrier_unavailable"}
	if e, ok := errors.AsType[*sip.NotAnswered](err); ok {
		ended = *e.Ended()
	}
	switch {
	case why == nil:
		return ended
	case ended.Detail == sip.AnsweredAfterCancel:
		return media.Ended{Reason: why.Reason, Detail: cmp.Or(why.Detail, ended.Detail)}
	}
	return *why
}
