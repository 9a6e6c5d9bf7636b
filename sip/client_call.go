package sip

import (
	"cmp"
	"context"
	"net/netip"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media"
	"parley/media/isolate"
	"parley/sip/dialog"
	"parley/sip/header"
	"parley/sip/sdp"
	"parley/sip/trunk"
)

// outgoing builds a call of ours and its INVITE (RFC 3261 section 13.2.1).
func (u *UserAgent) outgoing(p placement) (*call, *gosip.Request, error) {
	peer := p.at.Addr
	d := dialog.Dialog{Far: u.far(p.trunk, dialog.NewAuthorizer(p.auth)), State: dialog.State{
		CallID: dialog.NewTag(), LocalTag: dialog.NewTag(), Local: dialog.URI{Uri: p.from}, Remote: dialog.URI{Uri: p.to}, Target: dialog.URI{Uri: p.uri},
		Transport: p.at.Transport, Peer: peer, Home: peer.Addr(),
		Self: netip.AddrPortFrom(u.facing(p.trunk, peer.Addr()), u.layer.Port(p.at.Transport)),
	}}
	if p.trunk != nil {
		d.Routes = p.trunk.Routes()
	}
	if d.Local.Host == "" {
		d.Local.Host = dialog.URIHost(d.Self.Addr())
	}
	c := newCall(u, d, p.trunk)
	c.state, c.modify.placed = calling, true
	if p.trace != nil {
		c.trace = p.trace
	}
	if err := c.openAudio(); err != nil {
		return nil, nil, &NotAnswered{Err: err}
	}
	offer, err := c.audio.SDP.Offer()
	if err == nil && !u.register(c) {
		err = ErrClosed
	}
	if err != nil {
		c.audio.Close()
		return nil, nil, err
	}
	req := c.inviteFor(p, offer)
	if k := p.trunk; k != nil && k.Has(trunk.LargeTCP) && d.Transport == "UDP" && len(req.String()) > mtu {
		c.dialog.Transport, c.dialog.LocalSeq = "TCP", 0
		req = c.inviteFor(p, offer)
	}
	c.forks = newForks(req)
	return c, req, nil
}

// inviteFor is the INVITE itself.
func (c *call) inviteFor(p placement, offer []byte) *gosip.Request {
	req := c.dialog.Request(gosip.INVITE)
	req.From().DisplayName = header.DisplayName(p.display)
	req.AppendHeader(c.dialog.Contact())
	req.AppendHeader(dialog.Allow())
	req.AppendHeader(supportedOn(p.trunk))
	for _, h := range append(c.modify.session.wanted(""), p.headers...) {
		req.AppendHeader(h)
	}
	header.Describe(req, offer)
	req.SetTransport(c.dialog.Transport)
	req.SetDestination(p.at.Addr.String())
	return req
}

// The methods that a clientInvite calls follow.

// provisional takes a provisional response other than 100.
func (c *call) provisional(res *gosip.Response) { c.do(func() { c.onProvisional(res) }) }

// again is the INVITE with credentials (401, 407) or with a longer session (422), in the
// next transaction; nil: that would not help, or is not possible.
func (c *call) again(invite *gosip.Request, res *gosip.Response, tried *dialog.AuthAttempts) (next *gosip.Request) {
	challenged := dialog.Challenged(res)
	switch {
	case challenged && c.dialog.Auth.HandleChallenge(res, tried) != nil:
		return nil
	case !challenged && res.StatusCode != 422:
		return nil
	}
	c.do(func() {
		req := c.dialog.Again(invite)
		c.forks = newForks(req)
		if challenged || c.modify.session.lengthen(req, res) {
			next = req
		}
	})
	return next
}

// answer confirms a 2xx and begins the media.
func (c *call) answer(ctx context.Context, invite *gosip.Request, res *gosip.Response, rang bool) (leg *Leg, err error) {
	err = c.undone(ErrClosed)
	var w *awaited
	c.do(func() {
		early := c.chosen(res)
		c.state = up
		c.applySessionExpires(res)
		c.confirmAnswer(invite)
		body := res.Body()
		if len(body) == 0 {
			body = early
		}
		m, agreed := c.audio.SDP.Media() // by a reliable provisional response
		if err = nil; !agreed {
			m, err = c.audio.SDP.Accept(body)
		}
		if err == nil && m.DTLS != (sdp.DTLS{}) {
			w = newAwaited(m)
			c.awaited = w
			c.audio.OpenPath(c.peer(), m)
			c.secure()
			c.awaitMedia()
			return
		}
		if err == nil {
			err = c.begin(m)
		}
		if err != nil {
			c.fail(&media.Ended{Reason: media.Failed, Detail: DetailNoCodec})
			err = &NotAnswered{Code: 488, Rang: rang, Err: err}
			return
		}
		c.keepReachable()
		leg = c.legOfDial()
	})
	if w == nil {
		return leg, err
	}
	err = c.outcome(ctx, w.answered, dialog.ErrOver, func(cause error) error {
		c.do(func() { c.hangup(cause) })
		return errAfterCancel
	})
	c.do(func() {
		if err == nil {
			leg = c.legOfDial()
		}
	})
	if leg == nil {
		return nil, &NotAnswered{Code: 488, Rang: rang, Err: c.undone(cmp.Or(err, error(dialog.ErrOver)))}
	}
	return leg, nil
}

// legOfDial is the leg of a call that we have placed. The channel that Dial has reserved is the call's from now on.
func (c *call) legOfDial() *Leg {
	if c.trunk != nil {
		c.ends = append(c.ends, c.trunk.Release)
	}
	return c.leg
}

// cancel sends a CANCEL, beside the call.
func (c *call) cancel(req *gosip.Request) {
	done := false
	c.ua.work.Add(1) // the call's goroutine still counts, so Run has not stopped waiting
	isolate.Go("sip/cancel-request", nil, func() {
		ctx, cancel := context.WithTimeout(context.Background(), 64*c.ua.cfg.T1)
		defer cancel()
		_, _ = c.ua.layer.Do(ctx, c.dialog.By, 0, req)
		done = true
	}, func() {
		if !done { // after a panic
			c.ua.layer.Write(req)
		}
	}, c.ua.work.Done)
}

// refuseAnswer confirms a 2xx that has crossed the CANCEL, and ends its dialog.
func (c *call) refuseAnswer(res *gosip.Response) {
	var seq uint32
	c.do(func() { seq = c.dialog.LocalSeq })
	c.ua.hangupOn(res, c, seq)
}

// drop ends a call that never came up.
func (c *call) drop() { c.do(func() { c.state = over }) }
