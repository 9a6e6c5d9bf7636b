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
)

// attempt is an INVITE of ours until its final response.
type attempt struct {
	ua      *UserAgent
	call    *call
	peer    netip.AddrPort
	req     *gosip.Request
	tx      *gosip.ClientTx
	tried   dialog.AuthAttempts
	rang    bool // 180 or 183 came
	alerted bool // 180 came
	some    bool // some provisional response came: the callee may be canceled
	quits   bool // it is
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
	c.state, c.pair, c.owner = calling, pair, true
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
	if k := p.trunk; k != nil && k.LargeTCP && d.Transport == "UDP" && len(a.req.String()) > mtu {
		c.dialog.Transport = "TCP"
		c.dialog.LocalSeq = 0
		a.req = a.build(p, offer)
	}
	c.inviteSeq = c.dialog.LocalSeq
	return a, nil
}

// build is the INVITE itself.
func (a *attempt) build(p placement, offer []byte) *gosip.Request {
	c := a.call
	req := c.dialog.Request(gosip.INVITE)
	req.From().DisplayName = strings.Map(printable, p.display)
	kind := gosip.ContentTypeHeader(sdpType)
	req.AppendHeader(c.dialog.Contact())
	req.AppendHeader(dialog.Allow())
	req.AppendHeader(supportedOn(p.trunk))
	for _, h := range c.timer.wanted(a.ua, "") {
		req.AppendHeader(h)
	}
	for _, h := range p.headers {
		req.AppendHeader(h)
	}
	req.AppendHeader(&kind)
	req.SetBody(offer)
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
			if silent = nil; a.some || a.tried != (dialog.AuthAttempts{}) {
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
				return nil, notAnswered(res, a.rang, a.alerted)
			}
		case <-a.tx.Done():
			a.drop()
			return nil, &NotAnswered{Rang: a.rang, Err: a.tx.Err()}
		case <-look.C:
			if transport.ConnectionClosed(a.tx.Connection()) {
				a.tx.Terminate()
				a.drop()
				return nil, &NotAnswered{Rang: a.rang, Err: transport.ErrConnectionClosed}
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
		longer = dialog.Challenged(res) || c.timer.lengthen(req, res)
		c.inviteSeq, c.forks = req.CSeq().SeqNo, nil
	}) || !longer {
		return false
	}
	tx, err := a.ua.layer.Begin(ctx, req)
	if err != nil {
		return false
	}
	a.req, a.tx, a.some = req, tx, false
	return true
}

func (a *attempt) provisional(res *gosip.Response, ringing func(int)) {
	a.some = true
	if res.StatusCode == 100 {
		return
	}
	a.call.do(func() { a.call.onProvisional(res) })
	if res.StatusCode == 180 || res.StatusCode == 183 {
		a.rang, a.alerted = true, a.alerted || res.StatusCode == 180
		if ringing != nil {
			ringing(res.StatusCode)
		}
	}
}

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
			c.fail(&media.Ended{Reason: media.Failed, Detail: "no_common_codec"})
			err = &NotAnswered{Code: 488, Rang: a.rang, Err: err}
			return
		}
		leg, c.channel = c.leg, c.trunk
	})
	return leg, err
}

// drop ends a call that never came up.
func (a *attempt) drop() { a.call.do(func() { a.call.state = over }) }

// confirmAnswer sends the ACK of a 2xx, which is kept for its repetitions (section 13.2.2.4).
func (c *call) confirmAnswer(invite *gosip.Request) {
	c.ack = c.dialog.ACK(invite.CSeq().SeqNo, invite)
	c.acknowledge(c.dialog)
}

// acknowledge sends the ACK, also again: at once, because no 2xx waits for DNS. It goes
// where the route leads and, if that is elsewhere, to the peer of to as well: a Contact
// behind an address translator reaches nobody, and who gets it twice ignores one.
func (c *call) acknowledge(to dialog.Dialog) {
	at, err := netip.ParseAddrPort(c.ack.Destination())
	if err == nil && at == to.Peer {
		c.ua.layer.Write(c.ack)
		return
	}
	direct := c.ack.Clone()
	to.AimAtPeer(direct)
	c.ua.layer.Write(direct)
	if err != nil {
		c.acknowledgeByName(c.ack)
		return
	}
	c.acknowledgeElsewhere(c.ack)
}

// acknowledgeElsewhere sends an ACK to a host with which there may be no connection yet: to
// make one may take long, and the call does not wait for that.
func (c *call) acknowledgeElsewhere(ack *gosip.Request) {
	if ack.Transport() == "UDP" {
		c.ua.layer.Write(ack)
		return
	}
	ack = ack.Clone()
	by := c.dialog.By
	c.ua.work.Add(1) // the call's goroutine still counts, so Run has not stopped waiting
	isolate.Go("sip/acknowledge_elsewhere", c.lost, func() {
		ctx, cancel := context.WithTimeout(context.Background(), transport.ConnectPatience*c.ua.cfg.T1)
		defer cancel()
		if c.ua.layer.Connect(ctx, by, ack) == nil {
			c.ua.layer.Write(ack)
		}
	}, c.ua.work.Done)
}

// acknowledgeByName looks up the name that an ACK is for, beside the call, and sends it
// there, too.
func (c *call) acknowledgeByName(ack *gosip.Request) {
	d, by := c.dialog, ack.Clone()
	if c.ackLookup {
		return
	}
	c.ackLookup = true
	c.ua.work.Add(1) // the call's goroutine still counts, so Run has not stopped waiting
	isolate.Go("sip/acknowledge", c.lost, func() {
		found := d.Resolve(by)
		c.do(func() {
			c.dialog.Named, c.ackLookup = found, false
			stream := by.Transport() != "UDP"
			if at := found.At; !at.IsValid() || at == d.Peer || stream && at.Addr() == d.Peer.Addr() || d.Forbids(at.Addr(), by.Transport()) {
				return
			}
			if by.Transport() != "TLS" { // a certificate is for the name
				by.SetDestination(found.At.String())
			}
			if c.ack == ack {
				c.ack = by
			}
			c.acknowledgeElsewhere(by)
		})
	}, c.ua.work.Done)
}

// onUnmatched2xx takes 2xx responses to INVITEs whose transaction has had its final
// response: a repetition, because our ACK was lost, or a second phone that
// answered a forked call.
func (u *UserAgent) onUnmatched2xx(res *gosip.Response) {
	if !res.IsSuccess() || res.CSeq() == nil || res.CSeq().MethodName != gosip.INVITE ||
		res.From() == nil || res.To() == nil || res.CallID() == nil || !u.begin() {
		return
	}
	defer u.work.Done()
	known := false
	seq := res.CSeq().SeqNo
	c := u.find(dialogKey{res.CallID().Value(), res.From().Params.GetOr("tag", "")})
	if c != nil {
		c.do(func() {
			seq = max(seq, c.dialog.LocalSeq)                                                    // PRACKs have used some
			known = c.dialog.RemoteTag == res.To().Params.GetOr("tag", "") || c.state == calling // is being taken
			if known && c.ack != nil && c.ack.CSeq().SeqNo == res.CSeq().SeqNo {
				to := c.dialog
				if from := transport.Source(res); from.IsValid() && res.Transport() == to.Transport {
					to.Peer = from
				}
				c.acknowledge(to)
			}
		})
	}
	if !known {
		u.hangupOn(res, c, seq)
	}
}

// hangupOn confirms a 2xx that nobody wants and ends its call.
// Its BYE counts on from after, or from the INVITE. c is the call of ours that it answers,
// nil for none: then no name is looked up.
func (u *UserAgent) hangupOn(res *gosip.Response, c *call, after uint32) {
	peer := transport.Source(res)
	if res.Contact() == nil || res.From() == nil || res.To() == nil || res.CSeq() == nil || !peer.IsValid() {
		return
	}
	d := dialog.Dialog{Far: u.far(nil, nil), State: dialog.State{
		CallID: res.CallID().Value(), LocalTag: res.From().Params.GetOr("tag", ""), LocalSeq: res.CSeq().SeqNo,
		Local: dialog.URI{Uri: *res.From().Address.Clone()}, Remote: dialog.URI{Uri: *res.To().Address.Clone()},
		Transport: res.Transport(), Peer: peer, Self: netip.AddrPortFrom(u.layer.Facing(peer.Addr()), u.layer.Port(res.Transport())),
	}}
	if c != nil {
		d.Far, d.Home = c.dialog.Far, c.dialog.Home // neither changes
	}
	d.Join(res)
	if d.Target.Host == "" || c == nil && !dialog.HostAddr(d.Hop().Host).IsValid() {
		return
	}
	ack := d.ACK(d.LocalSeq, nil)
	if at, err := netip.ParseAddrPort(ack.Destination()); err == nil {
		u.layer.Write(ack)
		if at == peer {
			ack = nil
		}
	}
	if ack != nil {
		d.AimAtPeer(ack)
		u.layer.Write(ack)
	}
	d.LocalSeq = max(d.LocalSeq, after)
	bye := d.Request(gosip.BYE, gosip.NewHeader("Reason", reasonHeader(errAfterCancel)))
	_, _, _ = d.Own().Do(context.Background(), bye)
}

// errAfterCancel is the end of a call that was answered after we gave it up.
var errAfterCancel = error(&media.Ended{Reason: media.Failed, Detail: AnsweredAfterCancel})

// AnsweredAfterCancel is the detail of its end: the carrier charges for it, our customer
// does not pay.
const AnsweredAfterCancel = "answered_after_cancel"
