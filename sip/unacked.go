package sip

import (
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media"
	"parley/sip/dialog"
	"parley/sip/header"
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
		c.dropUnacked()
		c.state = up // a BYE waits no longer
		c.fail(&media.Ended{Reason: media.Failed, Detail: DetailNoACK})
		return
	}
	if c.state != up && k.wait == 2*c.ua.cfg.T1 { // 1.5 s: an ACK takes no longer, also on a busy machine
		c.ua.gate.Unconfirmed(c.server.req, c.trunk)
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
	case k == nil || req.CSeq().SeqNo != k.seq:
	case c.state == answered && c.awaited.media.Keyless():
		c.secure()
	default:
		c.confirmed(k, req.Body())
	}
}

// confirmed goes on with a call whose far end has our 2xx; body is that of its ACK. The
// first 2xx answers the call now: RFC 3261 section 13.3.1.4 has the session established
// before, but the forger of an INVITE's source never sees the 2xx, and must not
// have us speak to others or charge for it.
func (c *call) confirmed(k *unacked, body []byte) {
	w, m, err := c.awaited, sdp.Media{}, error(nil)
	c.dropUnacked()
	if w != nil {
		m = w.media
	}
	if k.offer {
		m, err = c.audio.SDP.Accept(body)
	}
	switch {
	case c.state == leaving:
		c.bye(c.ownBye.cause)
	case err != nil:
		c.mediaFailed(err)
	case c.state == answered:
		c.ua.gate.Confirmed(c.server.req, c.trunk)
		c.establish(w, m)
	default:
		if k.offer {
			c.audio.Apply(c.peer(), m)
		}
		c.proceed()
	}
}

// dropUnacked stops waiting for an ACK, for media and for keys.
func (c *call) dropUnacked() {
	if w := c.awaited; w != nil && w.unwatch != nil {
		w.unwatch()
	}
	c.unacked, c.awaited = nil, nil
}

// success is a 2xx of this dialog that carries a description, or none.
func (c *call) success(req *gosip.Request, body []byte, extra ...gosip.Header) *gosip.Response {
	res := response(req, 200, "", c.dialog.LocalTag, append(extra, c.dialog.Contact(), dialog.Allow(), supported())...)
	if body != nil {
		header.Describe(res, body)
	}
	return res
}
