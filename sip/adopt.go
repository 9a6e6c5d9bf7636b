package sip

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media"
	"parley/media/isolate"
	"parley/sip/dialog"
	"parley/sip/header"
	"parley/sip/mediasession"
	"parley/sip/sdp"
	"parley/sip/transport"
	"parley/sip/trunk"
)

// adoptedSeq is added to the CSeq of a call that is adopted: whatever its former end still sends is older than our requests, and
// the far end refuses it (RFC 3261 section 12.2.2).
const adoptedSeq = 1000

// NotAdopted is why a call was not adopted. Its far end goes on with its former end, if it goes on.
type NotAdopted struct {
	Code   int // what the far end answered; 0: nothing
	Phrase string
	Err    error // when Code does not tell
}

func (e *NotAdopted) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("sip: not adopted: %v", e.Err)
	}
	return fmt.Sprintf("sip: not adopted: %d %s", e.Code, e.Phrase)
}

func (e *NotAdopted) Unwrap() error { return e.Err }

// Errors inside of a NotAdopted.
var (
	ErrPassport = errors.New("sip: a passport of another release")
	ErrNoTrunk  = errors.New("sip: the trunk of the call is not here")
)

// adoption is a call that is being adopted.
type adoption struct {
	*call
	answered time.Time
	done     chan struct{} // closed when it is decided
	leg      *Leg          // nil: err says why
	err      error
}

// Adopt carries on a call of another user agent, which has yielded it: a re-INVITE moves its media and requests here. It takes up to
// 64*T1. An error is a *NotAdopted. The leg's Run must be called, or its ports are lost until the call ends. The call's signalling
// is kept in trace; nil: in one of its own.
func (u *UserAgent) Adopt(p Passport, trace *transport.Trace) (*Leg, error) {
	c, err := u.adopted(p, trace)
	if err != nil {
		return nil, &NotAdopted{Err: err}
	}
	a := &adoption{call: c, answered: p.Answered, done: make(chan struct{}), err: dialog.ErrOver}
	isolate.Go("sip/adopted", c.broke, c.run, c.end, u.work.Done)
	c.do(a.ask)
	select {
	case <-a.done:
	case <-c.life.Done():
	}
	switch {
	case a.leg != nil:
		return a.leg, nil
	case errors.As(a.err, new(*NotAdopted)):
		return nil, a.err
	}
	return nil, &NotAdopted{Err: c.undone(a.err)}
}

// adopted is the call of a passport, which is registered and counts as work.
func (u *UserAgent) adopted(p Passport, trace *transport.Trace) (*call, error) {
	if p.Version != p.version() {
		return nil, ErrPassport
	}
	var on *trunk.Trunk
	var auth *dialog.Authorizer
	if p.Trunk != "" {
		if on = u.trunks.Named(p.Trunk); on == nil {
			return nil, ErrNoTrunk
		}
		auth = dialog.NewAuthorizer(on.Auth)
	}
	d := dialog.Dialog{State: p.Dialog, Far: u.far(on, auth)}
	d.Self = netip.AddrPortFrom(u.facing(on, d.Peer.Addr()), u.layer.Port(d.Transport))
	d.LocalSeq += adoptedSeq
	c := newCall(u, d, on)
	c.state = adopting
	if trace != nil {
		c.trace = trace
	}
	t := p.Session
	c.modify = modification{updates: p.Updates, placed: p.Placed,
		session: sessionTimer{interval: t.Interval, least: t.Least, agreed: t.Agreed, ours: t.Ours}}
	cfg := u.audio
	cfg.Log = c.log
	var err error
	if c.audio, err = mediasession.Resume(cfg, c.described(), p.Media, p.Far); err != nil {
		return nil, err
	}
	if !u.begin() {
		c.audio.Close()
		return nil, ErrClosed
	}
	if !u.register(c) {
		c.audio.Close()
		u.work.Done()
		return nil, ErrClosed
	}
	if on != nil {
		on.Calls.Add(1) // the carrier has the call already
		c.ends = append(c.ends, on.Release)
	}
	return c, nil
}

// ask asks the far end to go on with us.
func (a *adoption) ask() {
	body, err := a.audio.SDP.Offer()
	if err != nil {
		a.give(&NotAdopted{Err: err})
		return
	}
	req := a.dialog.Request(gosip.INVITE)
	header.Describe(req, body)
	a.refreshes(req)
	a.request(req, a.onResponse)
}

// onResponse takes the final response to the re-INVITE, or that there was none.
func (a *adoption) onResponse(req *gosip.Request, res *gosip.Response, err error) {
	switch {
	case res == nil:
		a.give(&NotAdopted{Err: err})
	case res.IsSuccess():
		a.take(req, res)
	case res.StatusCode == 491 && a.modify.tries < maxTries: // a change of the far end's, which its former end has refused too
		a.modify.tries++
		a.audio.SDP.Reject()
		a.timers.after(200*time.Millisecond+rand.N(300*time.Millisecond), nil, a.ask)
	default:
		a.give(&NotAdopted{Code: res.StatusCode, Phrase: res.Reason})
	}
}

// take begins the call's life here.
func (a *adoption) take(req *gosip.Request, res *gosip.Response) {
	a.dialog.Retarget(res.Contact())
	a.learn(res)
	a.applySessionExpires(res)
	a.state = up
	a.confirmAnswer(req)
	var m sdp.Media
	if m, a.err = a.audio.SDP.Accept(res.Body()); a.err == nil {
		a.err = a.begin(m)
	}
	if a.err != nil {
		a.err = &NotAdopted{Code: 488, Err: a.err}
		a.fail(&media.Ended{Reason: media.Failed, Detail: DetailNoCodec})
	} else {
		a.call.leg.since = a.answered
		a.leg = a.call.leg
		a.keepReachable()
	}
	close(a.done)
}

// give gives the call up, without a word to the far end.
func (a *adoption) give(err *NotAdopted) {
	a.err, a.state = err, over
	close(a.done)
}
