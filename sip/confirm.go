package sip

import (
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media"
	"parley/sip/dialog"
	"parley/sip/sdp"
)

// maxRepeat is T2 of RFC 3261 section 13.3.1.4: the longest pause between two
// copies of a 2xx.
const maxRepeat = 4 * time.Second

// confirm is a 2xx response to an INVITE that waits for its ACK. The
// transaction layer leaves its repetition to us, on every transport.
type confirm struct {
	tx    *gosip.ServerTx
	res   *gosip.Response
	seq   uint32
	first bool // the call itself is not confirmed yet
	offer bool // our offer was in it, the answer comes with the ACK

	// Of the first alone: what was agreed on, unless the ACK brings it, who waits for the
	// call to be answered, and how to stop waiting for media.
	media    sdp.Media
	answered chan error
	unwatch  func()

	wait      time.Duration
	next, end time.Time
}

// sent notes that a 2xx went out just now.
func (c *call) sent(k *confirm) {
	now := time.Now()
	k.wait = c.ua.cfg.T1
	k.next, k.end = now.Add(k.wait), now.Add(64*c.ua.cfg.T1)
	c.confirm = k
}

// retransmit2xx sends the 2xx once more, or gives up: a call whose far end never
// confirmed it would stay up, and be paid for, for nothing.
func (c *call) retransmit2xx() {
	k := c.confirm
	if k == nil {
		return
	}
	now := time.Now()
	if now.Before(k.next) {
		return
	}
	if !now.Before(k.end) {
		c.dropConfirm()
		c.fail(&media.Ended{Reason: media.Failed, Detail: "no_ack"})
		return
	}
	if k.first && k.wait == 2*c.ua.cfg.T1 { // 1.5 s: an ACK takes no longer, also on a busy machine
		if e, ok := c.errand(); ok {
			c.ua.unconfirmed.add(e, now)
		}
	}
	_ = k.tx.Respond(k.res)
	k.wait = min(2*k.wait, maxRepeat)
	k.next = now.Add(k.wait)
	if k.next.After(k.end) {
		k.next = k.end
	}
}

// acknowledged takes an ACK. Its CSeq is the INVITE's; another one is a
// straggler of an exchange that is over.
func (c *call) acknowledged(req *gosip.Request) {
	if k := c.confirm; k != nil && req.CSeq().SeqNo == k.seq {
		c.confirmed(k, req.Body())
	}
}

// confirmed goes on with a call whose far end has our 2xx; body is that of its ACK. The
// first 2xx answers the call now: RFC 3261 section 13.3.1.4 has the session established
// before, but whoever forges the source of an INVITE never sees the 2xx, and must not
// have us speak to others or charge for it.
func (c *call) confirmed(k *confirm, body []byte) {
	c.dropConfirm()
	m, err := k.media, error(nil)
	if k.offer {
		m, err = c.sdp.Accept(body)
	}
	switch {
	case c.pendingBye != nil:
		c.bye(c.pendingBye)
		return
	case err == nil && k.first:
		if e, ok := c.errand(); ok {
			c.ua.unconfirmed.remove(e)
		}
		if err = c.begin(m); err == nil {
			k.answered <- nil
		}
	case err == nil && k.offer:
		c.apply(m)
	}
	if err != nil {
		c.log.Info("sip: no media", "err", err)
		c.fail(&media.Ended{Reason: media.Failed, Detail: "no_common_codec"})
		return
	}
	c.proceed()
}

// dropConfirm stops waiting for an ACK.
func (c *call) dropConfirm() {
	if k := c.confirm; k != nil && k.unwatch != nil {
		k.unwatch()
	}
	c.confirm = nil
}

// reoffer answers an INVITE or UPDATE inside the call (RFC 3261 section 14.2,
// RFC 3311): hold, resume, another address, or a mere refresh. Refusing it
// leaves everything as it was.
func (c *call) reoffer(req *gosip.Request, tx *gosip.ServerTx) {
	if c.pendingBye != nil || c.confirm != nil && c.confirm.offer || c.leg == nil || c.collides(req) {
		c.refuse(req, tx, 491)
		return
	}
	if hs, short := c.ua.tooShort(req); short {
		c.respond(req, tx, 422, hs...)
		return
	}
	k := &confirm{tx: tx, seq: req.CSeq().SeqNo, first: c.confirm != nil && c.confirm.first}
	var body []byte
	var m sdp.Media
	var err error
	switch {
	case len(req.Body()) > 0:
		if body, m, err = c.sdp.Answer(req.Body()); err != nil {
			c.respond(req, tx, offerCode(err))
			return
		}
	case req.Method == gosip.INVITE:
		if body, err = c.sdp.OfferAll(c.sdp.Wanted()); err != nil {
			c.refuse(req, tx, 500)
			return
		}
		k.offer = true
	}
	c.dialog.Retarget(req.Contact())
	c.learn(req)
	if len(req.Body()) > 0 {
		c.apply(m)
	}
	k.res = c.success(req, body, c.granted(req)...)
	_ = tx.Respond(k.res)
	if req.Method == gosip.INVITE {
		c.sent(k)
	}
}

// success is a 2xx of this dialog that carries a description, or none.
func (c *call) success(req *gosip.Request, body []byte, extra ...gosip.Header) *gosip.Response {
	res := response(req, 200, "", c.dialog.LocalTag, append(extra, c.dialog.Contact(), dialog.Allow(), supported())...)
	if body != nil {
		kind := gosip.ContentTypeHeader(sdpType)
		res.AppendHeader(&kind)
		res.SetBody(body)
	}
	return res
}
