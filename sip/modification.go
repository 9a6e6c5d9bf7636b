package sip

import (
	"math/rand/v2"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media"
	"parley/sip/dialog"
	"parley/sip/header"
	"parley/sip/sdp"
)

// modification is what is modified in a call that is up, by re-INVITE and UPDATE. The far end
// changes the media; we only refresh the session. It works on the call's dialog, description and
// timers, which each request and response changes, so its steps are methods of the call.
type modification struct {
	state   modState
	updates bool // the far end takes UPDATE
	placed  bool // the call is ours: we have chosen its Call-ID
	session sessionTimer

	method gosip.RequestMethod // of the refresh that was sent last
	tries  int                 // of the one that is under way
}

// modState is that of a refresh of ours. One is under way at a time (RFC 3261 section 14.1).
type modState uint8

const (
	modIdle    modState = iota // there is none
	modDue                     // it waits until the call is ready for it
	modSent                    // it waits for its final response
	modBackOff                 // it was refused, and is sent again in a while
)

const (
	// maxTries bounds how often a refresh is sent again for glare, another method
	// or another interval.
	maxTries = 6
	// maxBusy bounds what a far end may have us wait by Retry-After.
	maxBusy = 10 * time.Second
)

// refreshSession asks the far end to go on. What it refuses is asked again in a
// while: only silence, or not knowing the call, ends one before it expires.
func (c *call) refreshSession() {
	if c.modify.state == modIdle {
		c.modify.state, c.modify.tries = modDue, 0
	}
	c.proceed()
}

// refreshLater asks again after a refusal.
func (c *call) refreshLater() {
	t := &c.modify.session
	t.refresh = c.timers.after(t.interval/8, t.refresh, c.refreshSession)
}

// proceed sends the refresh that is due, unless the call is not ready for it.
func (c *call) proceed() {
	m := &c.modify
	if m.state != modDue || c.state != up || c.unacked != nil {
		return
	}
	if m.method = gosip.INVITE; m.updates {
		m.method = gosip.UPDATE // no offer, no ACK: nothing that could go wrong
	}
	req := c.dialog.Request(m.method)
	if m.method == gosip.INVITE {
		body, err := c.audio.SDP.Offer()
		if err != nil {
			m.state = modIdle
			c.refreshLater()
			return
		}
		header.Describe(req, body)
	}
	c.refreshes(req)
	m.state = modSent
	c.request(req, c.onRefreshed)
}

// refreshes makes a re-INVITE or UPDATE of ours refresh the session, too.
func (c *call) refreshes(req *gosip.Request) {
	refresher := "uas"
	if c.modify.session.ours {
		refresher = "uac"
	}
	for _, h := range append(c.modify.session.wanted(refresher), c.dialog.Contact(), dialog.Allow(), supported()) {
		req.AppendHeader(h)
	}
}

// onRefreshed takes the final response to a refresh, or that there was none.
func (c *call) onRefreshed(req *gosip.Request, res *gosip.Response, _ error) {
	m := &c.modify
	m.state = modIdle
	switch {
	case res == nil || res.StatusCode == 408 || res.StatusCode == 481:
		// Section 12.2.1.2: the far end is gone.
		c.fail(&media.Ended{Reason: media.Failed, Detail: DetailSessionExpired})
	case res.IsSuccess():
		c.dialog.Retarget(res.Contact())
		c.learn(res)
		c.applySessionExpires(res)
		if m.method == gosip.UPDATE {
			return
		}
		c.confirmAnswer(req)
		// It lives, which was the question: after an answer that is of no use everything stays as
		// it was.
		if agreed, err := c.audio.SDP.Accept(res.Body()); err == nil {
			c.audio.Apply(c.peer(), agreed)
		}
	default:
		if m.method == gosip.INVITE {
			c.audio.SDP.Reject()
		}
		if m.tries++; m.tries == maxTries || !c.tryAgain(res) {
			c.refreshLater()
		}
	}
}

// tryAgain says whether a refused refresh will be sent once more, and when.
func (c *call) tryAgain(res *gosip.Response) bool {
	m := &c.modify
	wait := time.Duration(0)
	switch res.StatusCode {
	case 491:
		wait = c.backOff()
	case 422: // section 6 of RFC 4028
		least := header.MinSE(res)
		if least <= m.session.least {
			return false
		}
		m.session.least = least
		m.session.interval = max(m.session.interval, least)
	case 405, 501:
		if m.method != gosip.UPDATE {
			return false
		}
		m.updates = false
	case 500, 503:
		after, _, ok := dialog.Seconds(res, "retry-after")
		if !ok || after > maxBusy {
			return false
		}
		wait = after
	default:
		return false
	}
	m.state = modBackOff
	c.timers.after(wait, nil, func() {
		m.state = modDue
		c.proceed()
	})
	return true
}

// backOff is how long to wait after both ends have begun a change at once: those
// who began the call longer than the others, so that one comes through (RFC 3261
// section 14.1).
func (c *call) backOff() time.Duration {
	const step = 10 * time.Millisecond
	if c.modify.placed {
		return 2100*time.Millisecond + step*time.Duration(rand.N(191))
	}
	return step * time.Duration(1+rand.N(200))
}

// collides says whether a re-INVITE or UPDATE of the far end's has crossed one
// of ours (RFC 3261 section 14.2, RFC 3311 section 5.2).
func (m *modification) collides(req *gosip.Request) bool {
	return m.state == modSent && m.method == gosip.INVITE && (req.Method == gosip.INVITE || len(req.Body()) > 0)
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
	if hs, short := tooShort(req); short {
		c.respond(req, tx, 422, hs...)
		return
	}
	k := &unacked{tx: tx, seq: req.CSeq().SeqNo}
	var body []byte
	var m sdp.Media
	var err error
	switch {
	case len(req.Body()) > 0:
		if body, m, err = c.audio.SDP.Answer(req.Body()); err != nil {
			c.respond(req, tx, offerCode(err))
			return
		}
	case req.Method == gosip.INVITE:
		if body, err = c.audio.SDP.OfferAll(); err != nil {
			c.refuse(req, tx, 500)
			return
		}
		k.offer = true
	}
	c.dialog.Retarget(req.Contact())
	c.learn(req)
	if len(req.Body()) > 0 {
		c.audio.Apply(c.peer(), m)
	}
	k.res = c.success(req, body, c.granted(req)...)
	_ = tx.Respond(k.res)
	if req.Method == gosip.INVITE {
		c.sent(k)
	}
}
