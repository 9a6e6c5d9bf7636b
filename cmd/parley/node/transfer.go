package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"parley/api"
	"parley/billing"
	"parley/billing/destination"
	"parley/media"
	"parley/media/isolate"
	"parley/pipeline"
	"parley/pipeline/session"
	"parley/sip"
	"parley/sip/transport"
	"parley/store"
	"parley/store/ledger"
)

// telephoneFunctions gives a telephone call the functions that calls have. ours is the
// number of the account's that the call is on: whoever is called for a transfer sees it.
func (n *Node) telephoneFunctions(cfg *pipeline.Config, p plan, session *session.Session, ours string) {
	c := n.consultation(session, p, ours)
	c.tries = new(tries)
	for _, d := range p.settings.TransferTo {
		c.tries.listed = append(c.tries.listed, d.Number)
	}
	cfg.Telephone(&p.settings, &pipeline.Transfer{Check: c.check, Consult: c.call, Listen: n.frontEnd}, n.optOut(session))
}

// What a model is told of a transfer that cannot be.
var (
	errNoPrice  = errors.New("calls to this number are not sold")
	errNotNow   = errors.New("the number cannot be called now")
	errMoney    = errors.New("the account cannot pay for another call now")
	errListed   = errors.New("the number is on the do-not-call list")
	errLines    = errors.New("all lines of the account are busy")
	errCallee   = errors.New("nobody could be reached there")
	errHungUp   = errors.New("the call is over")
	errUnasked  = errors.New("it is not known what came of it: the caller is still here")
	errRefusing = errors.New("the telephone company refused the transfer")
	errTries    = errors.New("no further transfer is tried in this call")
	errOften    = errors.New("too many callers of the account are transferred at the moment")
)

// What an agent that callers talk into transfers can cost is bounded: a caller who has the
// agent try one number after another, and callers who all do. Beyond that a transfer is a
// call as any other: its country, its price, the money there is and the lines of the account.
const (
	maxTries    = 5 // transfers that are tried in a call
	maxUnlisted = 2 // and of these to numbers that are not on the agent's list
	// transfersEach account may try at once on a node, and one more each transferEvery.
	transfersEach = 10
	transferEvery = 6 * time.Second
)

// tries counts those of one call.
type tries struct {
	listed        []string // numbers of the agent's list
	mu            sync.Mutex
	all, unlisted int
}

// take counts one, unless it is too many.
func (t *tries) take(number string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := slices.Contains(t.listed, number)
	if t.all >= maxTries || !known && t.unlisted >= maxUnlisted {
		return false
	}
	t.all++
	if !known {
		t.unlisted++
	}
	return true
}

// check weighs a number as that of a dial is: what it returns is what is called. Whoever
// is not to be called is not called by the far end for us either.
func (c consultation) check(ctx context.Context, number string) (string, error) {
	n := c.node
	if c.tries != nil && !c.tries.take(number) {
		n.counts.Refuse(api.ErrRateLimited)
		return "", errTries
	}
	to, err := n.callee(number)
	if err == nil {
		_, err = n.db.DoNotCall(ctx, c.session.Account(), to.E164)
		switch {
		case err == nil:
			err = store.ErrDoNotCall
		case errors.Is(err, store.ErrNotFound) && n.transfers.Take(c.session.Account()):
			return to.E164, nil
		case errors.Is(err, store.ErrNotFound):
			err = api.ErrRateLimited
		}
	}
	n.counts.Refuse(err)
	n.log.Info("a caller is not transferred", "session", c.session.ID(), "err", err)
	why, special := errors.AsType[*destination.Error](err)
	switch {
	case special:
		return "", why
	case errors.Is(err, api.ErrDestination):
		return "", errNoPrice
	case errors.Is(err, store.ErrDoNotCall):
		return "", errListed
	case errors.Is(err, api.ErrRateLimited):
		return "", errOften
	}
	return "", errNotNow
}

// line is a telephone call as an agent transfers it: what comes of that is told in words.
type line struct {
	*sip.Leg
	by consultation
}

// Transfer implements pipeline.Transferrer, on trunks that are set to it.
func (l line) Transfer(ctx context.Context, number string) error {
	if !l.Refers() {
		return pipeline.ErrNoReferral
	}
	return l.by.refer(ctx, number, l.Leg.Transfer)
}

// refer asks the far end for a transfer. It places a call that the payer of the trunk
// pays for, so it is admitted as if we placed it, and is charged, once it was answered,
// for what we know of it: the first line minute.
func (c consultation) refer(ctx context.Context, number string, ask func(context.Context, string) error) error {
	session, _, err := c.admit(ctx, number)
	if err != nil {
		return err
	}
	err = ask(ctx, number)
	ended := media.Ended{Reason: media.Completed, Detail: "transferred"}
	if err == nil {
		session.Begin()
	} else {
		ended = media.Ended{Reason: media.NoAnswer}
	}
	session.End(ended)
	c.node.ended("transfer", session.ID(), ended)
	return told(err)
}

// told says in words what came of a transfer.
func told(err error) error {
	e, ok := errors.AsType[*sip.NotTransferred](err)
	switch {
	case err == nil:
		return nil
	case !ok:
		return errRefusing
	case errors.Is(err, sip.ErrOver):
		return errHungUp
	case errors.Is(err, context.DeadlineExceeded):
		return err
	case e.Code == 0:
		return errUnasked
	case !e.Accepted:
		return fmt.Errorf("%w: %w", pipeline.ErrNoReferral, errRefusing)
	}
	return worded(*(&sip.NotAnswered{Code: e.Code, Rang: true}).Ended())
}

// worded says why somebody did not answer.
func worded(e media.Ended) error {
	switch e.Reason {
	case media.Busy:
		return errors.New("the number is busy")
	case media.NoAnswer:
		return errors.New("nobody answered")
	case media.Rejected:
		return errors.New("the call was declined")
	}
	if e.Detail == "invalid_number" {
		return errors.New("there is no such number")
	}
	return errCallee
}

// consultation calls somebody for a transfer, beside the call that is transferred. It is
// a call of the account like any that is placed, of which the line alone is charged: the
// agent is paid for with the other.
type consultation struct {
	node    *Node
	session *session.Session // of the call that is transferred
	agent   string
	from    string
	tries   *tries // of the call; nil: nobody counts them
}

// consultation is for transfers of a call that is on a number of the account's: whoever
// is called sees it.
func (n *Node) consultation(session *session.Session, p plan, ours string) consultation {
	return consultation{node: n, session: session, agent: p.id, from: ours}
}

// admit begins the session of the call that a transfer places, as that of a dial: its
// error says to a model why there is none.
func (c consultation) admit(ctx context.Context, number string) (*session.Session, destination.Class, error) {
	n := c.node
	to, err := n.classify(number)
	if err != nil {
		return nil, to, errNotNow
	}
	session, err := n.manager.Admit(ctx, session.Admission{Start: ledger.Start{Account: c.session.Account(), Key: c.session.Key(), Agent: c.agent, From: c.from, To: to.E164,
		Terms: to.Terms()}, LineOnly: true})
	if err != nil {
		n.counts.Refuse(refusal(err))
		n.log.Info("nobody was called for a transfer", "session", c.session.ID(), "err", err)
		return nil, to, notAdmitted(err)
	}
	return session, to, nil
}

func (c consultation) call(ctx context.Context, number string) (media.Leg, func(media.Ended), error) {
	n := c.node
	session, to, err := c.admit(ctx, number)
	if err != nil {
		return nil, nil, err
	}
	answered := false
	defer func() {
		if !answered {
			session.End(*isolate.Internal) // where nothing else has ended it
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, ringTimeout)
	defer cancel()
	w := n.wire(session, new(transport.Trace))
	n.log.Info("somebody is called for a transfer", "session", session.ID(), "for", c.session.ID())
	leg, err := n.phone.Dial(ctx, sip.Target{Number: to.E164, From: sip.Identity{Number: c.from}, Trace: w.trace, Ringing: func(int) { session.Ring() }})
	if err != nil {
		ended := n.unreached(session, err)
		session.End(ended)
		w.keep()
		n.ended("transfer", session.ID(), ended)
		return nil, nil, worded(ended)
	}
	w.leg = leg
	session.BeginAt(leg.Answered())
	answered = true
	return consulted{leg, session}, func(ended media.Ended) {
		session.End(ended)
		w.keep()
		n.ended("transfer", session.ID(), ended)
		n.heard(session.ID(), leg.Stats())
	}, nil
}

// notAdmitted says why a call was not.
func notAdmitted(err error) error {
	switch {
	case errors.Is(err, store.ErrDoNotCall):
		return errListed
	case errors.Is(err, store.ErrInsufficientBalance), errors.Is(err, store.ErrSpending), errors.Is(err, store.ErrTopupRequired), errors.Is(err, store.ErrDisputed), errors.Is(err, store.ErrSuspended):
		return errMoney
	case errors.Is(err, store.ErrConcurrency), errors.Is(err, session.ErrFull):
		return errLines
	case errors.Is(err, billing.ErrNoPrice):
		return errNoPrice
	}
	return errNotNow
}

// consulted is the leg of such a call. It ends when its session is to.
type consulted struct {
	*sip.Leg
	session *session.Session
}

// Run implements media.Leg.
func (c consulted) Run(ctx context.Context) error {
	ctx, stop := c.session.Until(ctx)
	defer stop()
	return c.Leg.Run(ctx)
}
