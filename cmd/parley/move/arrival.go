package move

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"parley/cmd/parley/conversation"
	"parley/cmd/parley/metrics"
	"parley/cmd/parley/outbound"
	"parley/media"
	"parley/media/isolate"
	"parley/pipeline"
	"parley/pipeline/session"
	"parley/pipeline/tool"
	"parley/sip"
	"parley/sip/transport"
)

// readyFor is how long a node that is ready for a call waits for it.
const readyFor = 10 * time.Second

// arrival is a call that this node is ready for, and then has. It belongs to one goroutine, from the offer to the end of the call.
type arrival struct {
	offer
	mover     *Mover
	session   *session.Session
	plan      conversation.Plan
	record    *metrics.Call
	call      *pipeline.Call
	functions *tool.Set

	lost   bool       // the node that had it is dead: see rescue.go
	rested media.Time // of a lost one: how much it had heard when it rested last

	prepared chan error     // one, when it is ready, or why it is not
	given    chan *transfer // one at most
	taken    chan error     // one, after given
}

// Why a call is not taken over, as the node that has it reads it.
var (
	errUnknown  = errors.New("this node is not ready for the call, or has it")
	errLanguage = errors.New("the agent speaks another language now")
	errInternal = errors.New("a fault of this node")
)

func newArrival(m *Mover) *arrival {
	return &arrival{mover: m, prepared: make(chan error, 1), given: make(chan *transfer, 1), taken: make(chan error, 1)}
}

// offered makes ready for a call of another node.
func (m *Mover) offered(ctx context.Context, body []byte) (any, error) {
	a := newArrival(m)
	if err := json.Unmarshal(body, &a.offer); err != nil {
		return nil, err
	}
	m.mu.Lock()
	_, there := m.ready[a.Session]
	if !there {
		m.ready[a.Session] = a
	}
	m.mu.Unlock()
	if there {
		return nil, errUnknown
	}
	isolate.Go("cmd/parley/move/arrival", a.broke, a.run, a.forget, a.leave)
	return nil, a.wait(ctx, a.prepared)
}

// transferred takes a call over that this node is ready for.
func (m *Mover) transferred(ctx context.Context, body []byte) (any, error) {
	var t transfer
	if err := json.Unmarshal(body, &t); err != nil {
		return nil, err
	}
	m.mu.Lock()
	a := m.ready[t.Session]
	delete(m.ready, t.Session)
	m.mu.Unlock()
	if a == nil {
		return nil, errUnknown
	}
	a.given <- &t
	err := a.wait(ctx, a.taken)
	if no, ok := errors.AsType[*sip.NotAdopted](err); ok {
		return taken{no.Error()}, nil
	}
	return taken{}, err
}

// broke ends an arrival that a panic has ended.
func (a *arrival) broke(err error) {
	say(a.prepared, errInternal)
	say(a.taken, errInternal)
	if a.session != nil {
		a.session.Fail(err)
	}
}

// leave ends what a panic has left of the call.
func (a *arrival) leave() {
	if a.session != nil {
		a.session.End(*isolate.Internal)
	}
}

// forget waits for the call no more.
func (a *arrival) forget() {
	a.mover.mu.Lock()
	defer a.mover.mu.Unlock()
	if a.mover.ready[a.Session] == a {
		delete(a.mover.ready, a.Session)
	}
}

// run prepares the call, waits for it, takes it over and conducts it.
func (a *arrival) run() {
	life, over := context.WithCancel(context.Background())
	defer over()
	err := a.prepare(life)
	say(a.prepared, err)
	if err != nil {
		return
	}
	defer a.functions.Close()
	t := a.await()
	if t == nil {
		a.giveUp(nil)
		return
	}
	leg, err := a.take(t)
	say(a.taken, err)
	if err == nil {
		a.conduct(leg)
	}
}

// say sends what is sent once, also where nobody waits for it.
func say(to chan error, err error) {
	select {
	case to <- err:
	default:
	}
}

// prepare admits the call and opens its engines. Where it returns an error nothing is left of it.
func (a *arrival) prepare(life context.Context) (err error) {
	ctx, cancel := context.WithTimeout(life, offerPatience)
	defer cancel()
	c := &a.mover.cfg
	if a.session, err = c.Calls.Expect(ctx, a.Account, a.Session); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = a.session.GiveUp(ctx, nil) // which gives nothing back
		}
	}()
	if a.plan, err = c.Maker.Resumed(ctx, a.Account, &a.Began); err != nil {
		return err
	}
	a.record = c.Maker.Begin(ctx, a.Began.Leg, a.session, &a.plan, conversation.Asked{})
	a.call, a.functions, err = c.Maker.Make(ctx, a.session, &a.plan, conversation.Options{Rate: a.Rate, Other: a.Began.Other, Parent: a.record.Header(),
		Telephone: c.Transfers.Functions(a.session, a.line(), a.Began.Shown), Change: a.complete, Recorded: func() media.Time { return a.At.Heard }})
	if err != nil {
		return err
	}
	if err = a.call.Prepare(life); err != nil {
		a.functions.Close()
	}
	return err
}

// complete has the call go on from where it was. What is left of its longest duration counts from now on.
func (a *arrival) complete(cfg *pipeline.Config, deaf bool) {
	cfg.Resume = a.At
	if a.Began.Longest > 0 {
		cfg.MaxDuration = min(cfg.MaxDuration, a.Began.Longest)
	}
	cfg.MaxDuration = max(time.Millisecond, cfg.MaxDuration-a.At.Heard.Duration())
	conversation.OnTelephone(cfg, deaf, a.session, a.record)
}

// line is the account's of the call.
func (a *arrival) line() outbound.Line {
	return outbound.Line{Caller: a.Began.From, Own: a.Began.Own}
}

// await waits for the call; nil: it does not come.
func (a *arrival) await() *transfer {
	patience := time.NewTimer(readyFor)
	defer patience.Stop()
	select {
	case t := <-a.given:
		return t
	case <-patience.C:
	}
	a.forget()
	select {
	case t := <-a.given: // it came at the last moment
		return t
	default:
		return nil
	}
}

// giveUp gives the call up, which the node that had it has again.
func (a *arrival) giveUp(adopted *session.Moved) {
	a.call.Close()
	ctx, cancel := context.WithTimeout(context.Background(), askPatience)
	defer cancel()
	if err := a.session.GiveUp(ctx, adopted); err != nil {
		a.mover.cfg.Log.Error("a session could not be given back to the node that had it", "session", a.Session, "err", err)
	}
}

// take takes the books and the far end over. Where it returns an error both are the other node's, or the call is over.
func (a *arrival) take(t *transfer) (*sip.Leg, error) {
	if t.At.Language != a.At.Language {
		a.giveUp(nil)
		return nil, errLanguage
	}
	ctx, cancel := context.WithTimeout(context.Background(), askPatience)
	defer cancel()
	adopt := a.session.Adopt
	if a.lost {
		adopt = func(ctx context.Context, _ *session.Moved) error { return a.inherit(ctx, t) }
	}
	if err := adopt(ctx, t.Books); err != nil {
		a.giveUp(nil)
		return nil, err
	}
	a.At = t.At
	a.call.Resume(t.At)
	leg, err := a.mover.cfg.Phone.Adopt(t.Passport, transport.Resume(t.Signalling, t.Forgotten))
	switch {
	case err == nil:
	case a.lost:
		a.end()
		return nil, err
	default:
		a.giveUp(t.Books)
		return nil, err
	}
	a.session.Keep()
	return leg, nil
}

// conduct conducts the call until it ends.
func (a *arrival) conduct(leg *sip.Leg) {
	c := &a.mover.cfg
	w := c.Maker.Wire(a.session, leg.Trace())
	defer w.Keep()
	w.Answered(leg)
	c.Log.Info("a call goes on at this node", "session", a.Session, "call", leg.CallID())
	moving := &conversation.Movable{Began: a.Began, Session: a.session, Call: a.call, Leg: leg}
	ended := c.Maker.Conduct(moving, &a.plan, c.Transfers.Leg(leg, &a.plan, a.session, a.line()))
	a.record.End(ended)
	c.Maker.Ended(a.Began.Leg, a.session, ended)
	c.Maker.Metrics.Telephone(a.Session, leg.Stats())
}
