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

// Hold stops hearing the far end, which may still hear us: it is told so, and no
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
	select {
	case err := <-done:
		return err
	case <-l.call.gone:
		select {
		case err := <-done: // that was why
			return err
		default:
			return ErrOver
		}
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// want asks for a change, now or when nothing stands in its way.
func (c *call) want(ch *change) {
	if len(c.changes) >= maxChanges {
		ch.then(ErrBusy)
		return
	}
	c.changes = append(c.changes, ch)
	c.proceed()
}

// proceed sends the next change, unless another is under way, in either
// direction, or the call is not ready for one.
func (c *call) proceed() {
	if len(c.changes) == 0 || c.changing || c.resting || c.state != up || c.leg == nil || c.confirm != nil {
		return
	}
	ch := c.changes[0]
	if ch.method = gosip.INVITE; c.updates && !ch.turn {
		ch.method = gosip.UPDATE // no offer, no ACK: nothing that could go wrong
	}
	req := c.dialog.Request(ch.method)
	if err := c.offer(ch, req); err != nil {
		c.changed(err)
		c.proceed()
		return
	}
	refresher := "uas"
	if c.timer.ours {
		refresher = "uac"
	}
	for _, h := range append(c.timer.wanted(c.ua, refresher), c.dialog.Contact(), dialog.Allow(), supported()) {
		req.AppendHeader(h)
	}
	c.changing = true
	c.request(req, func(req *gosip.Request, res *gosip.Response, err error) { c.answered(ch, req, res, err) })
}

// offer puts a description into a change that needs one.
func (c *call) offer(ch *change, req *gosip.Request) error {
	if ch.offered = ch.method == gosip.INVITE; !ch.offered {
		return nil
	}
	m, _ := c.sdp.Media()
	dir := m.Direction // as it is, so that a refresh changes nothing
	if ch.turn {
		dir = ch.dir
	}
	body, err := c.sdp.Offer(dir)
	if err != nil {
		return err
	}
	kind := gosip.ContentTypeHeader(sdpType)
	req.AppendHeader(&kind)
	req.SetBody(body)
	return nil
}

// answered takes the final response to a change, or that there was none.
func (c *call) answered(ch *change, req *gosip.Request, res *gosip.Response, err error) {
	c.changing = false
	defer c.proceed()
	if res == nil || res.StatusCode == 408 || res.StatusCode == 481 {
		// Section 12.2.1.2: the far end is gone.
		c.sdp.Reject()
		c.changed(errors.Join(ErrOver, err))
		c.fail(&media.Ended{Reason: media.Failed, Detail: "session_expired"})
		return
	}
	if res.IsSuccess() {
		c.agree(ch, req, res)
		return
	}
	if ch.offered {
		c.sdp.Reject()
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
		c.inviteSeq = req.CSeq().SeqNo
		c.confirmAnswer(req)
	}
	if ch.offered {
		m, err := c.sdp.Accept(res.Body())
		if err != nil && !ch.turn {
			// It lives, which was the question, and everything stays as it was.
			c.changed(nil)
			return
		}
		if err != nil {
			c.changed(err)
			c.fail(&media.Ended{Reason: media.Failed, Detail: "no_common_codec"})
			return
		}
		if ch.turn {
			c.sdp.Want(ch.dir)
		}
		c.apply(m)
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
		if least <= c.timer.least {
			return false
		}
		c.timer.least = least
		c.timer.interval = max(c.timer.interval, least)
	case 405, 501:
		if ch.method != gosip.UPDATE {
			return false
		}
		c.updates = false
	case 500, 503:
		after, _, ok := dialog.Seconds(res, "retry-after")
		if !ok || after > maxBusy {
			return false
		}
		wait = after
	default:
		return false
	}
	c.resting = true
	c.timers.after(wait, nil, func() {
		c.resting = false
		c.proceed()
	})
	return true
}

// backOff is how long to wait after both ends have begun a change at once: those
// who began the call longer than the others, so that one comes through (RFC 3261
// section 14.1).
func (c *call) backOff() time.Duration {
	const step = 10 * time.Millisecond
	if c.owner {
		return 2100*time.Millisecond + step*time.Duration(rand.N(191))
	}
	return step * time.Duration(1+rand.N(200))
}

// changed ends the first change of the queue.
func (c *call) changed(err error) {
	ch := c.changes[0]
	c.changes = c.changes[1:]
	ch.then(err)
}

// collides says whether a re-INVITE or UPDATE of the far end's has crossed one
// of ours (RFC 3261 section 14.2, RFC 3311 section 5.2).
func (c *call) collides(req *gosip.Request) bool {
	if !c.changing {
		return false
	}
	ch := c.changes[0]
	offers := req.Method == gosip.INVITE || len(req.Body()) > 0
	return offers && (ch.offered || ch.method == gosip.INVITE)
}

// learn takes from any message of the far end's what it can do.
func (c *call) learn(m dialog.Headers) {
	if m.GetHeader("allow") != nil {
		c.updates = dialog.Listed(m, "UPDATE", "allow")
	}
}
