package sip

import (
	gosip "github.com/emiago/sipgo/sip"

	"parley/media/isolate"
	"parley/sip/dialog"
)

// ownBye is a hang-up of ours.
type ownBye struct {
	cause error         // why, while the BYE waits for the far end's ACK
	done  chan struct{} // closed when the BYE was answered or given up; nil: none was sent
}

// fail ends the call for a reason of its own: BYE, and err for the leg.
func (c *call) fail(err error) {
	c.leave(err)
	c.hangup(err)
}

// hangup ends the call from our side; cause, an *media.Ended or anything else,
// goes into the BYE's Reason. RFC 3261 section 15.1.1: not before the ACK.
func (c *call) hangup(cause error) {
	switch c.state {
	case up, yielded, securing:
		c.bye(cause)
	case adopting: // it is not ours
		c.state = over
	case answered: // the first reason is the true one
		c.state, c.ownBye.cause = leaving, cause
	}
}

func (c *call) bye(cause error) {
	c.dropUnacked()
	c.state = ending
	req := c.dialog.Request(gosip.BYE)
	if r := reasonHeader(cause); r != "" {
		req.AppendHeader(gosip.NewHeader("Reason", r))
	}
	done := make(chan struct{})
	c.ownBye.done = done
	answered := false
	// It ends with the transaction, at most 64*T1; run waits for it.
	isolate.Go("sip/bye", nil, func() {
		_, _, _ = dialog.Owner(c.own).Do(c.life, req)
		answered = true
	}, func() {
		if !answered { // after a panic, once: a carrier charges until it has one
			c.ua.layer.Write(req)
		}
	}, func() { close(done) })
}

// onBye takes the far end's BYE.
func (c *call) onBye(req *gosip.Request, tx *gosip.ServerTx) {
	c.respond(req, tx, 200)
	switch c.state {
	case early:
		// A caller may use BYE to give up (section 15).
		c.decline(487, "")
		c.server.cancel(errCanceled)
	case ending:
		return // both hung up at once: our own BYE is still to be answered
	default:
		c.transfer.onBye()
		c.leave(nil)
		c.dropUnacked()
		c.state = over
	}
}
