// Package outbound places the telephone calls of accounts: single ones (Dialler), those of batches
// (Batches), and those to which a caller is transferred (Transfers). Every call passes the same
// checks: its destination, its price, the do-not-call list, the balance and the lines of the account.
package outbound

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"parley/api"
	"parley/api/callcenter"
	"parley/api/wire"
	"parley/billing"
	"parley/billing/destination"
	"parley/cmd/parley/conversation"
	"parley/cmd/parley/metrics"
	"parley/media"
	"parley/media/isolate"
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/event"
	"parley/pipeline/journal"
	"parley/pipeline/session"
	"parley/sip"
	"parley/sip/header"
	"parley/sip/transport"
	"parley/sip/trunk"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/numbers"
)

// ringTimeout is how long a callee may let it ring when nobody says otherwise.
const ringTimeout = 60 * time.Second

// Phone is the telephone.
type Phone interface {
	Dial(ctx context.Context, t sip.Target) (*sip.Leg, error)
	// Reserve takes a place on the trunk of a caller. nil, and how long to wait for one: 0 when
	// the caller has no trunk.
	Reserve(from trunk.Caller) (*trunk.Reservation, time.Duration)
	// TrunkTo is the trunk of an account that has a server among its targets; not ok: none has.
	TrunkTo(account string, server trunk.Target) (c trunk.Config, ok bool)
}

// Dialler places calls of agents. All fields are set.
type Dialler struct {
	Store        *store.DB
	Numbers      *numbers.Store
	History      *history.Store
	Calls        *session.Manager // of this node
	Phone        Phone
	Maker        *conversation.Maker
	Transfers    *Transfers
	Destinations Destinations
	// ConsentKey hashes the numbers in the evidence of consent.
	ConsentKey string
	// Free is called when a line is free again.
	Free func()
	Log  *slog.Logger
}

// Dial implements callcenter.Calls.
func (d *Dialler) Dial(ctx context.Context, p api.Principal, o callcenter.Order) (*wire.Placed, error) {
	return d.dial(ctx, p, o, nil, nil)
}

// dial begins a call, or refuses it. A row of a batch is dialled for it, on the place
// that was taken; both nil: it is a single call. The place goes with the call that
// begins.
func (d *Dialler) dial(ctx context.Context, p api.Principal, o callcenter.Order, row *ledger.RowClaim, place *trunk.Reservation) (*wire.Placed, error) {
	line, err := d.caller(ctx, p.Account, o.From, o.To)
	if err != nil {
		return nil, err
	}
	speaker, err := d.speaker(ctx, p.Account, o.Agent)
	if err != nil {
		return nil, err
	}
	plan := conversation.PlanOf(speaker, d.Log)
	if err := plan.Check(o.Variables); err != nil {
		return nil, err
	}
	to, err := d.Destinations.check(o.To)
	if err != nil {
		return nil, err
	}
	if row == nil { // those of batches have waited for their own hours
		if err := d.mayCallNow(ctx, p.Account, to.E164); err != nil {
			return nil, err
		}
	}
	admitted, err := d.Calls.Admit(ctx, session.Admission{Start: ledger.Start{Account: p.Account, Key: p.Key, Agent: speaker.ID, AgentVersion: speaker.Version, From: line.Number, To: to.E164, Terms: line.terms(to.Terms()), Metadata: o.Metadata, Headers: o.Headers,
		Consent: &ledger.Consent{ToHash: d.hashed(to.E164), Key: p.Key, IP: o.IP}, IdempotencyKey: o.Once, Row: row, Paced: o.Paced}})
	if errors.Is(err, billing.ErrNoPrice) {
		err = api.ErrDestination
	}
	if paced, ok := errors.AsType[*ledger.Paced](err); ok {
		err = api.Detail(err, "The next may begin at "+paced.Until.UTC().Format(time.RFC3339)+".")
	}
	if err != nil {
		return nil, conversation.Refusal(err)
	}
	begun := false
	defer func() {
		if !begun {
			admitted.End(*isolate.Internal) // a panic
		}
	}()
	fill := plan.Begin(agent.Call{Now: d.Store.Now(), From: line.Number, To: to.E164, Headers: o.Headers, Given: o.Variables})
	order := outgoing{from: line, to: to.E164, place: place, headers: o.Headers, ring: o.RingTimeout, longest: o.MaxDuration, plan: plan, asked: conversation.AskedIn(ctx),
		answering: answering(&plan.Settings, o, fill)}
	begun = true
	isolate.Go("cmd/parley/outbound/outbound", nil, func() { d.place(admitted, order) },
		func() { admitted.End(*isolate.Internal) }, // where nothing else has ended it
		order.place.Free, // when it was not used
		d.Free)
	return &wire.Placed{CallID: admitted.ID(), Status: string(session.CallDialing), From: line.Number, To: to.E164, AgentID: speaker.ID,
		CreatedAt: d.Store.Now()}, nil
}

// answering is what an answering machine gets: as the order says, else as the agent does.
func answering(s *agent.Settings, o callcenter.Order, fill agent.Fill) journal.Answering {
	if o.OnMachine != "" || s.OnMachine == nil {
		return journal.Answering{OnMachine: agent.OnMachine(o.OnMachine), Message: o.Message}
	}
	a := journal.Answering{OnMachine: agent.OnMachine(*s.OnMachine)}
	if a.OnMachine == agent.LeaveMessage && s.MachineMessage != nil {
		a.Message = fill.Text(*s.MachineMessage)
	}
	return a
}

// caller is the line of a number of the account, which an order names.
func (d *Dialler) caller(ctx context.Context, account, from, to string) (Line, error) {
	var own *numbers.Number
	var err error
	if from == callcenter.Nearest {
		var rest map[string]bool
		if rest, err = d.Numbers.Paced(ctx, account); err != nil {
			return Line{}, err
		}
		own, err = d.nearest(ctx, account, rest)(to)
	} else {
		own, err = d.Numbers.ByE164(ctx, account, from)
	}
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrInvalid) {
		return Line{}, api.ErrFrom
	}
	if err != nil {
		return Line{}, err
	}
	return LineOf(own), nil
}

// speaker is an agent of the account.
func (d *Dialler) speaker(ctx context.Context, account, id string) (*store.Agent, error) {
	agent, err := d.Store.Agent(ctx, account, id)
	if errors.Is(err, store.ErrInvalid) {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, conversation.NotFound(err)
	}
	return agent, nil
}

// Destinations are the numbers that may be called.
type Destinations struct {
	Card func() *billing.RateCard // in force
	// Fictional: the numbers of fiction may be called, because the carrier is simulated.
	Fictional bool
}

// Classify sorts a destination; its errors are those of package api.
func (d Destinations) Classify(to string) (destination.Class, error) {
	sort := destination.Classify
	if d.Fictional {
		sort = destination.ClassifyFictional
	}
	c, err := sort(to)
	if errors.Is(err, destination.ErrEmergency) {
		return c, fmt.Errorf("%w: %w", api.ErrEmergency, err)
	}
	if e, ok := errors.AsType[*destination.Error](err); ok {
		return c, api.Detail(fmt.Errorf("%w: %w", api.ErrDestination, err), e.Reason)
	}
	return c, err
}

// check is a destination that may be called, and has a price.
func (d Destinations) check(number string) (destination.Class, error) {
	to, err := d.Classify(number)
	if err != nil {
		return to, err
	}
	if _, err := to.Minute(d.Card()); err != nil {
		return to, api.Detail(fmt.Errorf("%w: %w", api.ErrDestination, err), "The rate card has no price for this destination.")
	}
	return to, nil
}

// hashed is a telephone number as the evidence of consent keeps it.
func (d *Dialler) hashed(e164 string) (h [32]byte) {
	mac := hmac.New(sha256.New, []byte(d.ConsentKey))
	mac.Write([]byte(e164))
	copy(h[:], mac.Sum(nil))
	return h
}

// outgoing is a call on its way.
type outgoing struct {
	from          Line
	to            string
	place         *trunk.Reservation // taken beforehand; nil: none
	headers       map[string]string  // of its INVITE
	ring, longest time.Duration      // 0: the usual, and as the agent says
	plan          conversation.Plan
	answering     journal.Answering
	asked         conversation.Asked
}

// place dials, and conducts the call when it is answered. The manager ends it when the node stops.
func (d *Dialler) place(session *session.Session, o outgoing) {
	ctx, cancel := context.WithTimeout(context.Background(), cmp.Or(o.ring, ringTimeout))
	defer cancel()
	ctx, stop := session.Until(ctx)
	defer stop()
	record := d.Maker.Begin(ctx, "outbound", session, &o.plan, o.asked)
	ended := *isolate.Internal
	defer func() {
		session.End(ended) // also when it was never answered; a conducted call has ended already
		record.End(ended)
		d.Maker.Ended("outbound", session, ended)
	}()
	ended = d.reach(ctx, session, o, record)
}

// reach dials and conducts.
func (d *Dialler) reach(ctx context.Context, session *session.Session, o outgoing, record *metrics.Call) media.Ended {
	var who verdict
	call, functions, err := d.Maker.Make(ctx, session, &o.plan, conversation.Options{Rate: likely, Other: o.to, Parent: record.Header(), Telephone: d.Transfers.Functions(session, o.from, o.to), Change: func(cfg *pipeline.Config, deaf bool) {
		if o.longest > 0 {
			cfg.MaxDuration = min(cfg.MaxDuration, o.longest)
		}
		cfg.Answering = &o.answering
		conversation.OnTelephone(cfg, deaf, session, record)
		cfg.Observe = who.follow(cfg.Observe)
	}})
	if err != nil {
		d.Log.Warn("an outbound call could not be prepared", "session", session.ID(), "err", err)
		return media.Ended{Reason: media.Failed, Detail: media.EngineFailed}
	}
	defer functions.Close()
	life, done := context.WithCancel(context.WithoutCancel(ctx))
	defer done()
	// Engines are opened when a telephone rings somewhere: most numbers that cannot be
	// reached never cost one.
	prepare := sync.OnceValue(func() error { return call.Prepare(life) })
	w := d.Maker.Wire(session, new(transport.Trace))
	defer w.Keep()
	rang := false // on Dial's goroutine, which is this one
	leg, err := d.Phone.Dial(ctx, sip.Target{Trunk: o.from.Trunk, Number: o.to, Reservation: o.place, Headers: o.headers, From: header.Identity{Number: o.from.Number}, Trace: w.Trace, Ringing: func(int) {
		if rang {
			return
		}
		rang = true
		session.Ring()
		isolate.Go("cmd/parley/outbound/rings", session.Fail, func() { d.rings(session) })
		isolate.Go("cmd/parley/outbound/prepare", session.Fail, func() { _ = prepare() }) // the answer asks again
	}})
	if err != nil {
		if rang && prepare() == nil {
			call.Close()
		}
		return unreached(session, err, d.Log)
	}
	defer hungUp(leg, isolate.Internal) // where nothing else has ended it
	w.Answered(leg)
	err = prepare()
	if err == nil {
		err = d.Maker.Fit(call, &o.plan, likely, leg)
	}
	if err != nil {
		d.Log.Warn("an outbound call could not be prepared", "session", session.ID(), "err", err)
		return hungUp(leg, &media.Ended{Reason: media.Failed, Detail: media.EngineFailed})
	}
	session.BeginAt(leg.Answered())
	d.Log.Info("outbound call answered", "session", session.ID(), "call", leg.CallID())
	began := conversation.Began{Leg: "outbound", From: o.from.Caller, Own: o.from.Own, Other: o.to, Shown: o.to, Longest: o.longest}
	ended := d.Maker.Conduct(&conversation.Movable{Began: began, Session: session, Call: call, Leg: leg}, &o.plan, d.Transfers.Leg(leg, &o.plan, session, o.from))
	if session.Released() {
		return ended
	}
	d.Maker.Metrics.AnsweredBy(who.who)
	d.Maker.Metrics.Telephone(session.ID(), leg.Stats())
	return ended
}

// likely is the rate at which most who are called are heard.
const likely = media.Rate8k

// hungUp ends an answered call that is not conducted.
func hungUp(leg *sip.Leg, why *media.Ended) media.Ended {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(why)
	_ = leg.Run(ctx) // its error is why
	return *why
}

// rings stores that the callee is alerted, for followers on other nodes, which also hear it on
// the bus.
func (d *Dialler) rings(session *session.Session) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if err := d.History.CallRings(ctx, session.Account(), session.ID()); err != nil {
		d.Log.Debug("that a callee is alerted was not stored", "session", session.ID(), "err", err)
	}
}

// unreached is the end of a call that was not answered.
func unreached(session *session.Session, err error, log *slog.Logger) media.Ended {
	why := session.Why()
	ended := notReached(why, err)
	if why != nil { // it was hung up
		return ended
	}
	log.Info("an outbound call was not answered", "session", session.ID(), "reason", ended.Error(), "err", err)
	return ended
}

// notReached is why a call was not answered. err says how Dial ended; why is the hang-up before,
// nil for none. When the callee answered before the hang-up arrived, the detail says so.
func notReached(why *media.Ended, err error) media.Ended {
	ended := media.Ended{Reason: media.Failed, Detail: sip.DetailUnavailable}
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

// verdict is the last finding of who answered a call. It is for one goroutine at a time: the
// conductor's, then the one that waited for it.
type verdict struct{ who string }

// follow notes the verdict on the way to next.
func (v *verdict) follow(next func(event.Event)) func(event.Event) {
	return func(e event.Event) {
		if e.Kind == event.Answered {
			v.who = e.Text
		}
		next(e)
	}
}
