package sip

import (
	"net/netip"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/sip/dialog"
	"parley/sip/header"
	"parley/sip/mediasession"
	"parley/sip/transport"
)

// handle takes an in-dialog request, which it always answers, except for an ACK,
// whose tx may be nil.
func (c *call) handle(req *gosip.Request, tx *gosip.ServerTx) {
	ours := req.From().Params.GetOr("tag", "") == c.dialog.RemoteTag
	if !c.trusts(transport.Source(req).Addr()) {
		c.ua.layer.Rejections.Add(transport.Rejection{Source: transport.Source(req).Addr(), Code: 481, Cause: transport.CauseForeign}, time.Now())
		if req.Method != gosip.ACK {
			c.refuse(req, tx, 481)
		}
		return
	}
	switch {
	case req.Method == gosip.ACK: // never answered
		if ours {
			c.onACK(req)
		}
		return
	case !ours:
		if !c.handleEarly(req, tx) {
			c.refuse(req, tx, 481)
		}
		return
	}
	// A request that is not newer than the last one is out of order (RFC 3261
	// section 12.2.2); a repetition never comes this far. It must not act: a BYE
	// with an old CSeq would end the billing while the call goes on.
	if seq := req.CSeq().SeqNo; c.dialog.HasRemoteSeq && seq <= c.dialog.RemoteSeq {
		c.refuse(req, tx, 500)
		return
	}
	c.dialog.RemoteSeq, c.dialog.HasRemoteSeq = req.CSeq().SeqNo, true
	if from := transport.Source(req); from.IsValid() && req.Transport() == c.dialog.Transport {
		c.dialog.Peer = from // a translator or a new connection may have moved it
	}
	switch {
	case req.Method == gosip.BYE:
		c.onBye(req, tx)
	case c.state == ending || c.state == over:
		c.refuse(req, tx, 481)
	case req.Method == gosip.PRACK:
		c.onPRACK(req, tx)
	case req.Method == gosip.OPTIONS:
		c.respond(req, tx, 200, dialog.Allow())
	case c.state == early && req.Method == gosip.UPDATE && len(req.Body()) == 0:
		c.dialog.Retarget(req.Contact())
		_ = tx.Respond(c.success(req, nil))
	case c.state == early && req.Method == gosip.UPDATE:
		c.refuse(req, tx, 500) // their offer waits for its answer (RFC 3311 section 5.2)
	case c.state == early:
		c.refuse(req, tx, 491) // nothing else can change before the answer
	case req.Method == gosip.INVITE, req.Method == gosip.UPDATE:
		c.reoffer(req, tx)
	case req.Method == gosip.INFO:
		c.info(req, tx)
	case req.Method == gosip.NOTIFY:
		c.onNotify(req, tx)
	case req.Method == gosip.REFER:
		c.refuse(req, tx, 603) // we place calls for our own accounts only
	default:
		c.respond(req, tx, 405, dialog.Allow())
	}
}

// info takes digits of keypads that do not send them as RFC 4733 events.
func (c *call) info(req *gosip.Request, tx *gosip.ServerTx) {
	digit, ok := mediasession.ParseInfo(header.ContentType(req), req.Body())
	switch {
	case c.leg == nil:
		c.refuse(req, tx, 491) // there is no leg yet
	case ok:
		c.leg.stream.InfoDigit(digit)
		c.respond(req, tx, 200)
	case len(req.Body()) == 0:
		c.respond(req, tx, 200) // some probe with it (RFC 6086 section 2)
	default:
		c.refuse(req, tx, 415)
	}
}

func (c *call) refuse(req *gosip.Request, tx *gosip.ServerTx, code int) {
	if code == 491 || code == 500 {
		c.respond(req, tx, code, header.RetryAfter(retryGlare))
		return
	}
	c.respond(req, tx, code)
}

func (c *call) respond(req *gosip.Request, tx *gosip.ServerTx, code int, extra ...gosip.Header) {
	_ = tx.Respond(response(req, code, "", c.dialog.LocalTag, extra...))
}

// trusts says whether a request of the call may come from an address: where the
// call comes from, where its far end has said to be, or its trunk. A stranger who has
// read Call-ID and tags must not end the call, and with it what
// is paid for it.
func (c *call) trusts(from netip.Addr) bool {
	if from == c.dialog.Peer.Addr() {
		return true
	}
	return c.heard.Holds(from) || c.trunk != nil && c.trunk.Owns(from)
}
