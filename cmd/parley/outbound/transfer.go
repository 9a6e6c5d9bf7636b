package outbound

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"parley/api"
	"parley/api/mediastream"
	"parley/api/messages"
	"parley/billing"
	"parley/billing/destination"
	"parley/cmd/parley/conversation"
	"parley/media"
	"parley/media/isolate"
	"parley/pipeline"
	"parley/pipeline/bridge"
	"parley/pipeline/listen"
	"parley/pipeline/session"
	"parley/sip"
	"parley/sip/header"
	"parley/sip/transport"
	"parley/store"
	"parley/store/ledger"
	"parley/store/sounds"
)

// Transfers places the calls to which callers are transferred. All fields are set.
type Transfers struct {
	Store        *store.DB
	Calls        *session.Manager // of this node
	Phone        Phone
	Maker        *conversation.Maker
	Destinations Destinations
	Texts        *messages.Desk // sends text messages
	Sounds       *sounds.Store
	Counts       *api.Counts
	// Attempts bounds the transfers of each account; NewAttempts makes it.
	Attempts *api.Buckets
	Log      *slog.Logger
}

// NewAttempts is how often each account may try to transfer callers.
func NewAttempts() *api.Buckets { return api.NewBuckets(transferEvery, transfersEach) }

// Functions returns what gives the agents of a telephone call the functions of telephone calls: keys, transfers, text messages, opting out.
// ours is the account's line of the call, which the callee of a transfer is called on; other is the number at its far end,
// empty where it is withheld.
func (x *Transfers) Functions(session *session.Session, ours Line, other string) func(*pipeline.Config, *conversation.Plan) {
	counted := new(tries)
	return func(cfg *pipeline.Config, p *conversation.Plan) {
		c := x.consultation(session, p, ours)
		c.tries, c.other = counted, other
		for _, d := range p.Settings.TransferTo {
			c.listed = append(c.listed, d.Number)
		}
		listens := func(rate media.Rate) (listen.FrontEnd, error) { return x.Maker.FrontEnd(p, rate) }
		text := &texting{desk: x.Texts, session: session, agent: p.ID, from: ours.Number, to: other, sent: &counted.texts, log: x.Log}
		if p.Settings.SMSFrom != nil {
			text.from = *p.Settings.SMSFrom
		}
		conversation.Telephone(cfg, &p.Settings, &bridge.Transfer{Check: c.check, Consult: c.call, Listen: listens, Hold: x.holds(session.Account(), p.Settings.HoldSound)}, text.send, func(ctx context.Context) error {
			// store.ErrInvalid: the caller withholds their number.
			return x.Store.OptOut(ctx, session.Account(), "", session.ID())
		})
	}
}

// Leg is an answered leg whose far end can be asked to transfer the call.
func (x *Transfers) Leg(leg *sip.Leg, p *conversation.Plan, session *session.Session, ours Line) bridge.Telephone {
	return transferLeg{leg, x.consultation(session, p, ours)}
}

// Stream is a leg whose far end calls numbers in our place, and does not say how that goes (mediastream.Leg).
func (x *Transfers) Stream(leg bridge.Telephone, p *conversation.Plan, session *session.Session, ours Line) bridge.Telephone {
	return streamLeg{leg, x.consultation(session, p, ours)}
}

// streamLeg is such a leg, whose transfers are calls. Errors are texts for the model.
type streamLeg struct {
	bridge.Telephone
	by consultation
}

// Transfer implements bridge.Transferrer.
func (l streamLeg) Transfer(ctx context.Context, number string) error {
	return l.by.refer(ctx, number, l.Telephone.Transfer)
}

// The results of a transfer that the model reads.
var (
	errNoPrice        = errors.New("calls to this number are not sold")
	errNoLine         = errors.New("no trunk of the account leads to this address")
	errNotNow         = errors.New("the number cannot be called now")
	errMoney          = errors.New("the account cannot pay for another call now")
	errListed         = errors.New("the number is on the do-not-call list")
	errLines          = errors.New("all lines of the account are busy")
	errCallee         = errors.New("nobody could be reached there")
	errHungUp         = errors.New("the call is over")
	errOutcomeUnknown = errors.New("the result of the transfer is not known: the caller is still here")
	errRefusing       = errors.New("the telephone company refused the transfer")
	errTries          = errors.New("no further transfer is tried in this call")
	errOften          = errors.New("too many callers of the account are transferred at the moment")
)

// Callers may talk an agent into transfers, so what these can cost is bounded, for a caller who
// has the agent try one number after another, and for all callers together. Beyond that a transfer
// is a call as any other: its country, its price, the balance and the lines of the account.
const (
	maxTries    = 5 // transfers that are tried in a call
	maxUnlisted = 2 // and of these to numbers that are not on the agent's list
	// transfersEach account may try at once on a node, and one more each transferEvery.
	transfersEach = 10
	transferEvery = 6 * time.Second
)

// tries counts those of one call.
type tries struct {
	mu            sync.Mutex
	all, unlisted int
	texts         atomic.Int32 // text messages
}

// take counts one, unless it is too many. listed: the number is on the agent's list.
func (t *tries) take(listed bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all >= maxTries || !listed && t.unlisted >= maxUnlisted {
		return false
	}
	t.all++
	if !listed {
		t.unlisted++
	}
	return true
}

// check checks a number as Dial does, and returns the number to call. It holds for transfers that
// the far end makes, too.
func (c consultation) check(ctx context.Context, number string) (string, error) {
	x := c.transfers
	if c.tries != nil && !c.tries.take(slices.Contains(c.listed, number)) {
		x.Counts.Refuse(api.ErrRateLimited)
		return "", errTries
	}
	to, err := c.callee(number, x.Destinations.check)
	if destination.IsAddress(number) && !slices.Contains(c.listed, number) { // who names one on the telephone calls what they like
		_, err = x.Destinations.check(number)
	}
	if err == nil {
		err = c.mayCall(ctx, to)
	}
	if err == nil {
		return to.address, nil
	}
	x.Counts.Refuse(err)
	x.Log.Info("a caller is not transferred", "session", c.session.ID(), "err", err)
	why, special := errors.AsType[*destination.Error](err)
	switch {
	case special:
		return "", why
	case errors.Is(err, errNoLine):
		return "", errNoLine
	case errors.Is(err, api.ErrDestination):
		return "", errNoPrice
	case errors.Is(err, store.ErrDoNotCall):
		return "", errListed
	case errors.Is(err, api.ErrRateLimited):
		return "", errOften
	}
	return "", errNotNow
}

// mayCall says why a callee is not called now: a number is on the account's do-not-call list, or the account tries too often.
func (c consultation) mayCall(ctx context.Context, to callee) error {
	x := c.transfers
	if !destination.IsAddress(to.address) {
		switch _, err := x.Store.DoNotCall(ctx, c.session.Account(), to.address); {
		case err == nil:
			return store.ErrDoNotCall
		case !errors.Is(err, store.ErrNotFound):
			return err
		}
	}
	if !x.Attempts.Take(c.session.Account()) {
		return api.ErrRateLimited
	}
	return nil
}

// transferLeg is a leg that an agent can transfer. Errors are texts for the model.
type transferLeg struct {
	*sip.Leg
	by consultation
}

// Transfer implements bridge.Transferrer, on trunks that are set to it.
func (l transferLeg) Transfer(ctx context.Context, number string) error {
	if !l.Refers() || destination.IsAddress(number) && !l.Leads(number) {
		return bridge.ErrNoReferral
	}
	return l.by.refer(ctx, number, l.Leg.Transfer)
}

// Join implements bridge.Joiner, where the trunk of both is set to it. The call of the person was charged until then; nobody reports how
// long the two talk.
func (l transferLeg) Join(ctx context.Context, other media.Leg) error {
	second, ok := other.(consulted)
	if !ok || !l.Joins(second.Leg) {
		return bridge.ErrNoReferral
	}
	return describeError(l.Leg.Join(ctx, second.Leg))
}

// refer asks the far end for a transfer. The far end places a call on the trunk, which costs the
// operator, so it is admitted like a call of ours, and costs the first line minute once answered:
// that is all we know of it.
func (c consultation) refer(ctx context.Context, number string, ask func(context.Context, string) error) error {
	to, err := c.callee(number, c.transfers.Destinations.Classify)
	if err != nil {
		return errNotNow
	}
	session, err := c.admit(ctx, to)
	if err != nil {
		return err
	}
	err = ask(ctx, number)
	ended := media.Ended{Reason: media.Completed, Detail: media.Transferred}
	if err == nil {
		session.Begin()
	} else {
		ended = media.Ended{Reason: media.NoAnswer}
	}
	session.End(ended)
	c.transfers.Maker.Metrics.Ended("transfer", session.ID(), ended)
	return describeError(err)
}

// describeError says in words why a transfer failed.
func describeError(err error) error {
	e, ok := errors.AsType[*sip.NotTransferred](err)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, mediastream.ErrLeft):
		return errHungUp
	case !ok:
		return errRefusing
	case errors.Is(err, sip.ErrOver):
		return errHungUp
	case errors.Is(err, context.DeadlineExceeded):
		return err
	case e.Code == 0:
		return errOutcomeUnknown
	case !e.Accepted:
		return fmt.Errorf("%w: %w", bridge.ErrNoReferral, errRefusing)
	}
	return describeEnd(*(&sip.NotAnswered{Code: e.Code, Rang: true}).Ended())
}

// describeEnd says in words why a callee did not answer.
func describeEnd(e media.Ended) error {
	switch e.Reason {
	case media.Busy:
		return errors.New("the number is busy")
	case media.NoAnswer:
		return errors.New("nobody answered")
	case media.Rejected:
		return errors.New("the call was declined")
	}
	if e.Detail == sip.DetailInvalidNumber {
		return errors.New("there is no such number")
	}
	return errCallee
}

// consultation calls the callee of a transfer, beside the call that is transferred. It is a call
// of the account as any other; only the line is charged, because the agent is charged with the
// call that is transferred.
type consultation struct {
	transfers *Transfers
	session   *session.Session // of the call that is transferred
	agent     string
	from      Line
	other     string   // the number of whom is transferred; empty: it is withheld
	tries     *tries   // of the call; nil: they are not counted
	listed    []string // numbers of the agent's list
}

func (x *Transfers) consultation(session *session.Session, p *conversation.Plan, ours Line) consultation {
	return consultation{transfers: x, session: session, agent: p.ID, from: ours}
}

// callee is whom a transfer calls.
type callee struct {
	address string        // in E.164, or a SIP address
	line    Line          // that leads there
	terms   billing.Terms // what the call is priced by
}

// callee is a number or a SIP address as a callee; sort sorts numbers. Its errors are those of package api, and errNoLine.
func (c consultation) callee(number string, sort func(string) (destination.Class, error)) (to callee, err error) {
	if destination.IsAddress(number) {
		a, err := destination.ParseAddress(number)
		if err != nil {
			return to, fmt.Errorf("%w: %w", api.ErrDestination, err)
		}
		line, err := lineTo(c.transfers.Phone, c.session.Account(), a)
		line.Number = c.from.Number
		return callee{a.String(), line, line.terms(billing.Terms{Kind: billing.Outbound})}, err
	}
	class, err := sort(number)
	return callee{class.E164, c.from, c.from.terms(class.Terms())}, err
}

// admit begins the session of the call that a transfer places, as that of a dial: its
// error says to a model why there is none.
func (c consultation) admit(ctx context.Context, to callee) (*session.Session, error) {
	x := c.transfers
	session, err := x.Calls.Admit(ctx, session.Admission{Start: ledger.Start{Account: c.session.Account(), Key: c.session.Key(), Agent: c.agent, From: to.line.Number, To: to.address, Terms: to.terms}, LineOnly: true})
	if err != nil {
		x.Counts.Refuse(conversation.Refusal(err))
		x.Log.Info("the callee of a transfer was not called", "session", c.session.ID(), "err", err)
		return nil, &failed{notAdmitted(err), err}
	}
	return session, nil
}

// failed is why a call was not placed or not answered: a text for the model, and its cause for programs.
type failed struct{ text, cause error }

func (f *failed) Error() string   { return f.text.Error() }
func (f *failed) Unwrap() []error { return []error{f.text, f.cause} }

func (c consultation) call(ctx context.Context, number string) (media.Leg, func(media.Ended), error) {
	x := c.transfers
	to, err := c.callee(number, x.Destinations.Classify)
	if err != nil {
		return nil, nil, errNotNow
	}
	session, err := c.admit(ctx, to)
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
	w := x.Maker.Wire(session, new(transport.Trace))
	x.Log.Info("the callee of a transfer is called", "session", session.ID(), "for", c.session.ID())
	target := sip.Target{Trunk: to.line.Trunk, Number: to.address, From: header.Identity{Number: to.line.Number}, Caller: c.other, Trace: w.Trace, Ringing: func(int) { session.Ring() }}
	if destination.IsAddress(to.address) {
		target.Number, target.URI = "", to.address
	}
	leg, err := x.Phone.Dial(ctx, target)
	if err != nil {
		ended := unreached(session, err, x.Log)
		session.End(ended)
		w.Keep()
		x.Maker.Metrics.Ended("transfer", session.ID(), ended)
		return nil, nil, &failed{describeEnd(ended), &ended}
	}
	w.Answered(leg)
	session.BeginAt(leg.Answered())
	answered = true
	return consulted{leg, session}, func(ended media.Ended) {
		session.End(ended)
		w.Keep()
		x.Maker.Metrics.Ended("transfer", session.ID(), ended)
		x.Maker.Metrics.Telephone(session.ID(), leg.Stats())
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
