package sip

import (
	"context"
	"math/rand/v2"
	"net/netip"
	"strings"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media"
	"parley/media/isolate"
	"parley/sip/dialog"
	"parley/sip/sdp"
	"parley/sip/transport"
	"parley/sip/trunk"
)

// attempt is an INVITE of ours until its final response.
type attempt struct {
	ua    *UserAgent
	call  *call
	peer  netip.AddrPort
	req   *gosip.Request
	tx    *gosip.ClientTx
	tried dialog.AuthAttempts
	state clientState
	heard progress
}

// clientState is that of an attempt's transaction.
type clientState uint8

const (
	clientSent       clientState = iota // no response came
	clientProceeding                    // a provisional response came: the callee may be canceled
	clientCanceled                      // it is
)

// progress is what the callee's side has said at most.
type progress uint8

const (
	heardNothing  progress = iota
	heardProgress          // 183: carriers send it before they know whether they can place the call
	heardRinging           // 180: a phone rings
)

// clientInvite is what a call keeps of its INVITE; it belongs to the call's goroutine.
type clientInvite struct {
	seq   uint32           // CSeq of the INVITE
	forks map[string]*fork // its early dialogs, by the far end's tag
}

// attempt builds the call and its INVITE (RFC 3261 section 13.2.1).
func (u *UserAgent) attempt(p placement) (*attempt, error) {
	pair, err := u.cfg.Ports.Open()
	if err != nil {
		return nil, &NotAnswered{Err: err}
	}
	peer := p.at.Addr
	d := dialog.Dialog{Far: u.far(p.trunk, dialog.NewAuthorizer(p.auth)), State: dialog.State{
		CallID: dialog.NewTag(), LocalTag: dialog.NewTag(), Local: dialog.URI{Uri: p.from}, Remote: dialog.URI{Uri: p.to}, Target: dialog.URI{Uri: p.uri},
		Transport: p.at.Transport, Peer: peer, Home: peer.Addr(),
		Self: netip.AddrPortFrom(u.layer.Facing(peer.Addr()), u.layer.Port(p.at.Transport)),
	}}
	if d.Local.Host == "" {
		d.Local.Host = dialog.URIHost(d.Self.Addr())
	}
	c := newCall(u, d, p.trunk)
	c.state, c.pair = calling, pair
	if p.trace != nil {
		c.trace = p.trace
	}
	c.sdp = sdp.New(c.described(rand.Uint64() >> 2))
	offer, err := c.sdp.Offer(sdp.SendRecv)
	if err == nil && !u.register(c) {
		err = ErrClosed
	}
	if err != nil {
		pair.Release()
		return nil, err
	}
	a := &attempt{ua: u, call: c, peer: peer}
	a.req = a.build(p, offer)
	if k := p.trunk; k != nil && k.Has(trunk.LargeTCP) && d.Transport == "UDP" && len(a.req.String()) > mtu {
		c.dialog.Transport = "TCP"
		c.dialog.LocalSeq = 0
		a.req = a.build(p, offer)
	}
	c.client.seq = c.dialog.LocalSeq
	return a, nil
}

// build is the INVITE itself.
func (a *attempt) build(p placement, offer []byte) *gosip.Request {
	c := a.call
	req := c.dialog.Request(gosip.INVITE)
	req.From().DisplayName = strings.Map(printable, p.display)
	req.AppendHeader(c.dialog.Contact())
	req.AppendHeader(dialog.Allow())
	req.AppendHeader(supportedOn(p.trunk))
	for _, h := range c.session.wanted(a.ua, "") {
		req.AppendHeader(h)
	}
	for _, h := range p.headers {
		req.AppendHeader(h)
	}
	describe(req, offer)
	req.SetTransport(c.dialog.Transport)
	req.SetDestination(a.peer.String())
	return req
}

// printable keeps a display name from ending its quotes or its line.
func printable(r rune) rune {
	if r < ' ' || r == '"' || r == '\\' || r == 0x7f {
		return -1
	}
	return r
}

// await reads responses until the final one.
func (a *attempt) await(ctx context.Context, p placement) (*Leg, error) {
	var silent <-chan time.Time
	if p.patience > 0 {
		t := time.NewTimer(p.patience)
		defer t.Stop()
		silent = t.C
	}
	look := time.NewTicker(a.ua.cfg.T1)
	defer look.Stop()
	for {
		select {
		case <-silent:
			if silent = nil; a.state != clientSent || a.tried != (dialog.AuthAttempts{}) {
				continue
			}
			isolate.Go("sip/cancel-silent", nil, func() { a.cancel(nil) }, a.quit, a.drop) // should it wake up after all
			return nil, &NotAnswered{Err: transport.ErrSilent}
		case res := <-a.tx.Responses():
			switch {
			case res.IsProvisional():
				a.provisional(res, p.ringing)
			case res.IsSuccess():
				return a.established(res)
			case a.again(ctx, res):
			default:
				a.drop()
				return nil, notAnswered(res, a.heard)
			}
		case <-a.tx.Done():
			a.drop()
			return nil, &NotAnswered{Rang: a.rang(), Err: a.tx.Err()}
		case <-look.C:
			if transport.ConnectionClosed(a.tx.Connection()) {
				a.tx.Terminate()
				a.drop()
				return nil, &NotAnswered{Rang: a.rang(), Err: transport.ErrConnectionClosed}
			}
		case <-a.ua.layer.Closed():
			a.drop()
			return nil, ErrClosed
		case <-a.call.gone: // one of its goroutines panicked
			return nil, a.giveUp(a.call.undone(ErrClosed))
		case <-ctx.Done():
			return nil, a.giveUp(context.Cause(ctx))
		}
	}
}

// again repeats an INVITE that was challenged, with credentials, or one with too
// short a session, with a longer one, in a transaction of its own (RFC 3261
// section 22.2, RFC 4028 section 7.3); false: that would not help, or is not
// possible.
func (a *attempt) again(ctx context.Context, res *gosip.Response) bool {
	c := a.call
	switch {
	case dialog.Challenged(res):
		if c.dialog.Auth.HandleChallenge(res, &a.tried) != nil {
			return false
		}
	case res.StatusCode != 422:
		return false
	}
	req := a.req
	longer := true
	if !c.do(func() {
		req = c.dialog.Again(a.req)
		longer = dialog.Challenged(res) || c.session.lengthen(req, res)
		c.client = clientInvite{seq: req.CSeq().SeqNo}
	}) || !longer {
		return false
	}
	tx, err := a.ua.layer.Begin(ctx, req)
	if err != nil {
		return false
	}
	a.req, a.tx, a.state = req, tx, clientSent
	return true
}

func (a *attempt) provisional(res *gosip.Response, ringing func(int)) {
	a.state = clientProceeding
	if res.StatusCode == 100 {
		return
	}
	a.call.do(func() { a.call.onProvisional(res) })
	switch res.StatusCode {
	case 180:
		a.heard = heardRinging
	case 183:
		a.heard = max(a.heard, heardProgress)
	default:
		return
	}
	if ringing != nil {
		ringing(res.StatusCode)
	}
}

// rang says whether 180 or 183 came.
func (a *attempt) rang() bool { return a.heard >= heardProgress }

// established confirms a 2xx and begins the media.
func (a *attempt) established(res *gosip.Response) (leg *Leg, err error) {
	c := a.call
	err = c.undone(ErrClosed)
	c.do(func() {
		early := c.chosen(res)
		c.state = up
		c.applySessionExpires(res)
		c.confirmAnswer(a.req)
		body := res.Body()
		if len(body) == 0 {
			body = early
		}
		m, agreed := c.sdp.Media() // by a reliable provisional response
		if err = nil; !agreed {
			m, err = c.sdp.Accept(body)
		}
		if err == nil {
			err = c.begin(m)
		}
		if err != nil {
			c.fail(&media.Ended{Reason: media.Failed, Detail: DetailNoCodec})
			err = &NotAnswered{Code: 488, Rang: a.rang(), Err: err}
			return
		}
		leg, c.channel = c.leg, c.trunk
	})
	return leg, err
}

// drop ends a call that never came up.
func (a *attempt) drop() { a.call.do(func() { a.call.state = over }) }
