package sip

import (
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media"
	"parley/media/srtp"
	"parley/sip/dialog"
	"parley/sip/sdp"
)

// maxRepeat is T2 of RFC 3261 section 13.3.1.4: the longest pause between two
// copies of a 2xx.
const maxRepeat = 4 * time.Second

// unacked is a 2xx response to an INVITE that waits for its ACK. The
// transaction layer leaves its repetition to us, on every transport.
type unacked struct {
	tx    *gosip.ServerTx
	res   *gosip.Response
	seq   uint32
	offer bool // our offer was in it, the answer comes with the ACK

	// Of the call's first alone: what was agreed on, unless the ACK brings it, who waits for the
	// call to be answered, and how to stop waiting for media.
	media    sdp.Media
	answered chan error
	unwatch  func()

	wait      time.Duration
	next, end time.Time
}

// sent notes that a 2xx went out just now.
func (c *call) sent(k *unacked) {
	now := time.Now()
	k.wait = c.ua.cfg.T1
	k.next, k.end = now.Add(k.wait), now.Add(64*c.ua.cfg.T1)
	c.unacked = k
}

// retransmit2xx sends the 2xx once more, or gives up: a call whose far end never
// confirmed it would stay up, and be paid for, for nothing.
func (c *call) retransmit2xx() {
	k := c.unacked
	if k == nil {
		return
	}
	now := time.Now()
	if now.Before(k.next) {
		return
	}
	if !now.Before(k.end) {
		detail := DetailNoACK
		if c.state == securing {
			detail = DetailNoKeys
		}
		c.dropUnacked()
		c.state = up // a BYE waits no longer
		c.fail(&media.Ended{Reason: media.Failed, Detail: detail})
		return
	}
	if c.state != up && k.wait == 2*c.ua.cfg.T1 { // 1.5 s: an ACK takes no longer, also on a busy machine
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

// onACK takes an ACK. Its CSeq is the INVITE's; another one is a
// straggler of an exchange that is over.
func (c *call) onACK(req *gosip.Request) {
	k := c.unacked
	switch {
	case k == nil || req.CSeq().SeqNo != k.seq || c.state == securing:
	case c.state == answered && k.awaitsKeys():
		c.state, k.next = securing, k.end // not sent again
	default:
		c.confirmed(k, req.Body())
	}
}

// awaitsKeys says whether a handshake is to bring keys before there can be media.
func (k *unacked) awaitsKeys() bool { return k.media.DTLS != sdp.DTLS{} && k.media.Keys == srtp.Keys{} }

// confirmed goes on with a call whose far end has our 2xx; body is that of its ACK. The
// first 2xx answers the call now: RFC 3261 section 13.3.1.4 has the session established
// before, but the forger of an INVITE's source never sees the 2xx, and must not
// have us speak to others or charge for it.
func (c *call) confirmed(k *unacked, body []byte) {
	c.dropUnacked()
	first := c.state == answered || c.state == securing
	m, err := k.media, error(nil)
	if k.offer {
		m, err = c.audio.sdp.Accept(body)
	}
	switch {
	case c.state == leaving:
		c.bye(c.ownBye.cause)
		return
	case err == nil && first:
		c.state = up
		if e, ok := c.errand(); ok {
			c.ua.unconfirmed.remove(e)
		}
		if err = c.begin(m); err == nil {
			c.keepReachable()
			k.answered <- nil
		}
	case err == nil && k.offer:
		c.audio.apply(m)
	}
	if err != nil {
		c.state = up
		c.log.Info("sip: no media", "err", err)
		c.fail(&media.Ended{Reason: media.Failed, Detail: DetailNoCodec})
		return
	}
	c.proceed()
}

// dropUnacked stops waiting for an ACK.
func (c *call) dropUnacked() {
	if k := c.unacked; k != nil && k.unwatch != nil {
		k.unwatch()
	}
	c.unacked = nil
}

// success is a 2xx of this dialog that carries a description, or none.
func (c *call) success(req *gosip.Request, body []byte, extra ...gosip.Header) *gosip.Response {
	res := response(req, 200, "", c.dialog.LocalTag, append(extra, c.dialog.Contact(), dialog.Allow(), supported())...)
	if body != nil {
		describe(res, body)
	}
	return res
}
