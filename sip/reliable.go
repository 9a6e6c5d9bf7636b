package sip

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/sip/header"
)

// reliable is a provisional response of ours that waits for its PRACK.
type reliable struct {
	res     *gosip.Response
	rseq    uint32
	offer   bool          // our offer is in it: the answer comes with the PRACK
	pracked chan struct{} // closed when that has come

	wait   time.Duration
	begun  time.Time
	repeat *timer
}

// ErrUnconfirmed says that the caller wants provisional responses confirmed and has not
// confirmed the last one yet.
var ErrUnconfirmed = errors.New("sip: the last provisional response is not confirmed yet")

// reliably sends a provisional response so that it arrives (RFC 3262 section 3).
// A caller without an offer is due ours in the first of them.
func (c *call) reliably(res *gosip.Response) error {
	rseq := 1 + rand.Uint32N(1<<30)
	if c.server.reliable != nil {
		if !c.server.reliable.confirmed() {
			return ErrUnconfirmed // section 3: no second one before its PRACK
		}
		rseq = c.server.reliable.rseq + 1
	}
	r := &reliable{res: res, rseq: rseq, pracked: make(chan struct{}),
		wait: c.ua.cfg.T1, begun: c.timers.clock.Now()}
	if c.server.answer == nil {
		body, err := c.audio.SDP.Offer()
		if err != nil {
			return err
		}
		header.Describe(res, body)
		r.offer = true
	}
	res.AppendHeader(gosip.NewHeader("Require", "100rel"))
	res.AppendHeader(gosip.NewHeader("RSeq", strconv.Itoa(int(r.rseq))))
	c.server.reliable = r
	r.repeat = c.timers.after(r.wait, nil, c.retransmitProvisional)
	return c.send(res)
}

// retransmitProvisional repeats the reliable response, or gives up: the caller cannot be reached.
func (c *call) retransmitProvisional() {
	r := c.server.reliable
	if c.state != early {
		return
	}
	if c.timers.clock.Now().Sub(r.begun) >= 64*c.ua.cfg.T1 {
		c.decline(504, "")
		return
	}
	_ = c.send(r.res)
	r.wait *= 2
	r.repeat = c.timers.after(r.wait, r.repeat, c.retransmitProvisional)
}

// onPRACK takes a PRACK.
func (c *call) onPRACK(req *gosip.Request, tx *gosip.ServerTx) {
	r := c.server.reliable
	if r == nil || r.confirmed() || !r.names(req, c.server.req) {
		c.refuse(req, tx, 481)
		return
	}
	switch {
	case r.offer:
		m, err := c.audio.SDP.Accept(req.Body())
		if err != nil {
			c.respond(req, tx, offerCode(err))
			c.decline(488, "")
			return
		}
		c.server.media = m
	case len(req.Body()) > 0:
		// Their offer waits for its answer in the 200: no other may be made.
		c.refuse(req, tx, 491)
		return
	}
	c.timers.stop(r.repeat)
	c.respond(req, tx, 200)
	close(r.pracked)
}

// confirmed says whether the PRACK has come.
func (r *reliable) confirmed() bool {
	select {
	case <-r.pracked:
		return true
	default:
		return false
	}
}

// answerNegotiated says whether the media was agreed on before the answer.
func (r *reliable) answerNegotiated() bool { return r != nil && r.offer && r.confirmed() }

// undecided is what an answer has to wait for: an offer of ours that is out
// (RFC 3262 section 5); nil: nothing.
func (c *call) undecided() <-chan struct{} {
	if c.server.reliable == nil || !c.server.reliable.offer || c.server.reliable.confirmed() {
		return nil
	}
	return c.server.reliable.pracked
}

// names says whether a PRACK is for this response to this INVITE.
func (r *reliable) names(req, invite *gosip.Request) bool {
	h := req.GetHeader("rack")
	if h == nil {
		return false
	}
	f := strings.Fields(h.Value())
	return len(f) == 3 && f[0] == strconv.Itoa(int(r.rseq)) &&
		f[1] == strconv.Itoa(int(invite.CSeq().SeqNo)) && f[2] == string(gosip.INVITE)
}
