package sip

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media"
	"parley/sip/dialog"
	"parley/sip/sdp"
)

// modification is what becomes different in a call that is up, by re-INVITE and UPDATE.
type modification struct {
	state   modState
	queue   []*change // of ours, one after another
	updates bool      // the far end takes UPDATE
}

// modState is the state of the first change of the queue.
type modState uint8

const (
	modIdle    modState = iota // it was not sent yet
	modSent                    // it waits for its final response
	modBackOff                 // it was refused, and is sent again in a while
)

// A change is a re-INVITE or an UPDATE of ours: to refresh the session, to hold
// the far end or to take it back. One is under way at a time (RFC 3261 section
// 14.1); the others wait.
type change struct {
	// turn says that the direction of the media changes to dir; else what is in
	// force is only confirmed.
	turn bool
	dir  sdp.Direction
	then func(error) // on the call's goroutine, once

	method  gosip.RequestMethod
	offered bool // there is an offer in it
	tries   int
}

const (
	// maxChanges may wait: a hold, a resume and a refresh, and no program needs more.
	maxChanges = 8
	// maxTries bounds how often a change is sent again for glare, another method
	// or another interval.
	maxTries = 6
	// maxBusy bounds what a far end may have us wait by Retry-After.
	maxBusy = 10 * time.Second
)

// ErrBusy says that too many changes of a call wait for the far end already.
var ErrBusy = errors.New("sip: too many changes of the call are waiting")

// ErrOver says that the call was over before what was asked for could be done.
var ErrOver = dialog.ErrOver

// ChangeRefused says that the far end did not go along with Hold or Resume. The
// call goes on as it was.
type ChangeRefused struct {
	Code   int    // its response
	Phrase string // and its text
}

func (e *ChangeRefused) Error() string {
	return fmt.Sprintf("sip: the far end refused the change: %d %s", e.Code, e.Phrase)
}

// Hold stops hearing the far end, which may still hear us: its description changes, and no
// timeout runs. It returns nil when the far end has agreed, *ChangeRefused when
// it has not, ErrBusy, ErrOver, or the cause of ctx, which does not take the
// request back. Run must be running.
func (l *Leg) Hold(ctx context.Context) error { return l.turn(ctx, sdp.SendOnly) }

// Resume ends a Hold. Its errors are Hold's.
func (l *Leg) Resume(ctx context.Context) error { return l.turn(ctx, sdp.SendRecv) }

func (l *Leg) turn(ctx context.Context, dir sdp.Direction) error {
	done := make(chan error, 1)
	if !l.call.do(func() { l.call.want(&change{turn: true, dir: dir, then: func(err error) { done <- err }}) }) {
		return ErrOver
	}
	return l.call.outcome(ctx, done, ErrOver, func(err error) error { return err })
}

// want asks for a change, now or when nothing stands in its way.
func (c *call) want(ch *change) {
	if len(c.modify.queue) >= maxChanges {
		ch.then(ErrBusy)
		return
	}
	c.modify.queue = append(c.modify.queue, ch)
	c.proceed()
}

// proceed sends the next change, unless another is under way, in either
// direction, or the call is not ready for one.
func (c *call) proceed() {
	m := &c.modify
	if len(m.queue) == 0 || m.state != modIdle || c.state != up || c.unacked != nil {
		return
	}
	ch := m.queue[0]
	if ch.method = gosip.INVITE; m.updates && !ch.turn {
		ch.method = gosip.UPDATE // no offer, no ACK: nothing that could go wrong
	}
	req := c.dialog.Request(ch.method)
	if err := c.offer(ch, req); err != nil {
		c.changed(err)
		c.proceed()
		return
	}
	refresher := "uas"
	if c.session.ours {
		refresher = "uac"
	}
	for _, h := range append(c.session.wanted(c.ua, refresher), c.dialog.Contact(), dialog.Allow(), supported()) {
		req.AppendHeader(h)
	}
	m.state = modSent
	c.request(req, func(req *gosip.Request, res *gosip.Response, err error) { c.onChangeResponse(ch, req, res, err) })
}

// offer puts a description into a change that needs one.
func (c *call) offer(ch *change, req *gosip.Request) error {
	if ch.offered = ch.method == gosip.INVITE; !ch.offered {
		return nil
	}
	m, _ := c.audio.sdp.Media()
	dir := m.Direction // as it is, so that a refresh changes nothing
	if ch.turn {
		dir = ch.dir
	}
	body, err := c.audio.sdp.Offer(dir)
	if err != nil {
		return err
	}
	describe(req, body)
	return nil
}

// onChangeResponse takes the final response to a change, or that there was none.
func (c *call) onChangeResponse(ch *change, req *gosip.Request, res *gosip.Response, err error) {
	c.modify.state = modIdle
	defer c.proceed()
	if res == nil || res.StatusCode == 408 || res.StatusCode == 481 {
		// Section 12.2.1.2: the far end is gone.
		c.audio.sdp.Reject()
		c.changed(errors.Join(ErrOver, err))
		c.fail(&media.Ended{Reason: media.Failed, Detail: DetailSessionExpired})
		return
	}
	if res.IsSuccess() {
		c.agree(ch, req, res)
		return
	}
	if ch.offered {
		c.audio.sdp.Reject()
	}
	if ch.tries++; ch.tries < maxTries && c.tryAgain(ch, res) {
		return
	}
	c.changed(&ChangeRefused{res.StatusCode, res.Reason})
}

// agree takes a 2xx to a change.
func (c *call) agree(ch *change, req *gosip.Request, res *gosip.Response) {
	c.dialog.Retarget(res.Contact())
	c.learn(res)
	c.applySessionExpires(res)
	if ch.method == gosip.INVITE {
		c.confirmAnswer(req)
	}
	if ch.offered {
		m, err := c.audio.sdp.Accept(res.Body())
		if err != nil && !ch.turn {
			// It lives, which was the question, and everything stays as it was.
			c.changed(nil)
			return
		}
		if err != nil {
			c.changed(err)
			c.fail(&media.Ended{Reason: media.Failed, Detail: DetailNoCodec})
			return
		}
		if ch.turn {
			c.audio.sdp.Want(ch.dir)
		}
		c.audio.apply(m)
	}
	c.changed(nil)
}

// tryAgain says whether a refused change will be sent once more, and when.
func (c *call) tryAgain(ch *change, res *gosip.Response) bool {
	wait := time.Duration(0)
	switch res.StatusCode {
	case 491:
		wait = c.backOff()
	case 422: // section 6 of RFC 4028
		least := minSE(res)
		if least <= c.session.least {
			return false
		}
		c.session.least = least
		c.session.interval = max(c.session.interval, least)
	case 405, 501:
		if ch.method != gosip.UPDATE {
			return false
		}
		c.modify.updates = false
	case 500, 503:
		after, _, ok := dialog.Seconds(res, "retry-after")
		if !ok || after > maxBusy {
			return false
		}
		wait = after
	default:
		return false
	}
	c.modify.state = modBackOff
	c.timers.after(wait, nil, func() {
		c.modify.state = modIdle
		c.proceed()
	})
	return true
}

// backOff is how long to wait after both ends have begun a change at once: those
// who began the call longer than the others, so that one comes through (RFC 3261
// section 14.1).
func (c *call) backOff() time.Duration {
	const step = 10 * time.Millisecond
	if c.server == nil { // the call is ours: we have chosen its Call-ID
		return 2100*time.Millisecond + step*time.Duration(rand.N(191))
	}
	return step * time.Duration(1+rand.N(200))
}

// changed ends the first change of the queue.
func (c *call) changed(err error) {
	ch := c.modify.queue[0]
	c.modify.queue = c.modify.queue[1:]
	ch.then(err)
}

// collides says whether a re-INVITE or UPDATE of the far end's has crossed one
// of ours (RFC 3261 section 14.2, RFC 3311 section 5.2).
func (m *modification) collides(req *gosip.Request) bool {
	if m.state != modSent {
		return false
	}
	ch := m.queue[0]
	offers := req.Method == gosip.INVITE || len(req.Body()) > 0
	return offers && (ch.offered || ch.method == gosip.INVITE)
}

// learn takes from any message of the far end's what it can do.
func (c *call) learn(m dialog.Headers) {
	if m.GetHeader("allow") != nil {
		c.modify.updates = dialog.Listed(m, "UPDATE", "allow")
	}
}

// reoffer answers an INVITE or UPDATE inside the call (RFC 3261 section 14.2,
// RFC 3311): hold, resume, another address, or a mere refresh. Refusing it
// leaves everything as it was.
func (c *call) reoffer(req *gosip.Request, tx *gosip.ServerTx) {
	if c.state != up || c.unacked != nil && c.unacked.offer || c.modify.collides(req) {
		c.refuse(req, tx, 491)
		return
	}
	if hs, short := c.ua.tooShort(req); short {
		c.respond(req, tx, 422, hs...)
		return
	}
	k := &unacked{tx: tx, seq: req.CSeq().SeqNo}
	var body []byte
	var m sdp.Media
	var err error
	switch {
	case len(req.Body()) > 0:
		if body, m, err = c.audio.sdp.Answer(req.Body()); err != nil {
			c.respond(req, tx, offerCode(err))
			return
		}
	case req.Method == gosip.INVITE:
		if body, err = c.audio.sdp.OfferAll(c.audio.sdp.Wanted()); err != nil {
			c.refuse(req, tx, 500)
			return
		}
		k.offer = true
	}
	c.dialog.Retarget(req.Contact())
	c.learn(req)
	if len(req.Body()) > 0 {
		c.audio.apply(m)
	}
	k.res = c.success(req, body, c.granted(req)...)
	_ = tx.Respond(k.res)
	if req.Method == gosip.INVITE {
		c.sent(k)
	}
}
