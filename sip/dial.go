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
	"parley/sip/sdp"
)

// attempt is an INVITE of ours until its final response.
type attempt struct {
	ua      *UserAgent
	call    *call
	peer    netip.AddrPort
	req     *gosip.Request
	tx      *gosip.ClientTx
	met     round // challenges
	rang    bool  // 180 or 183 came
	alerted bool  // 180 came
	some    bool  // some provisional response came: the callee may be canceled
	quits   bool  // it is
}

// attempt builds the call and its INVITE (RFC 3261 section 13.2.1).
func (u *UserAgent) attempt(p placement) (*attempt, error) {
	pair, err := u.cfg.Ports.Open()
	if err != nil {
		return nil, &NotAnswered{Err: err}
	}
	peer := p.at.addr
	d := dialog{
		callID: newTag(), localTag: newTag(), local: p.from, remote: p.to, target: p.uri, transport: p.at.transport,
		peer: peer, home: peer.Addr(), self: u.facing(peer.Addr()), port: u.portOf(p.at.transport), auth: newAuthorizer(p.auth), line: p.line,
	}
	if d.local.Host == "" {
		d.local.Host = uriHost(d.self)
	}
	c := newCall(u, d)
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
	if k := p.line; k != nil && k.trunk.LargeTCP && d.transport == "UDP" && len(a.req.String()) > mtu {
		c.dialog.transport = "TCP"
		c.dialog.localSeq = 0
		a.req = a.build(p, offer)
	}
	c.inviteSeq = c.dialog.localSeq
	return a, nil
}

// build is the INVITE itself.
func (a *attempt) build(p placement, offer []byte) *gosip.Request {
	c := a.call
	req := c.dialog.request(gosip.INVITE, 0)
	req.From().DisplayName = strings.Map(printable, p.display)
	kind := gosip.ContentTypeHeader(sdpType)
	req.AppendHeader(c.dialog.contact())
	req.AppendHeader(allow())
	req.AppendHeader(supportedOn(p.line))
	for _, h := range c.timer.wanted(a.ua, "") {
		req.AppendHeader(h)
	}
	for _, h := range p.headers {
		req.AppendHeader(h)
	}
	req.AppendHeader(&kind)
	req.SetBody(offer)
	a.ua.address(&c.dialog, req)
	req.SetTransport(c.dialog.transport)
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
			if silent = nil; a.some || a.met != (round{}) {
				continue
			}
			isolate.Go("sip/cancel-silent", nil, func() { a.cancel(nil) }, a.quit, a.drop) // should it wake up after all
			return nil, &NotAnswered{Err: errSilent}
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
			if closed(a.tx.Connection()) {
				a.tx.Terminate()
				a.drop()
				return nil, &NotAnswered{Rang: a.rang, Err: errClosed}
			}
		case <-a.ua.kill:
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
	case challenged(res):
		if c.dialog.auth.meet(res, &a.met) != nil {
			return false
		}
	case res.StatusCode != 422:
		return false
	}
	req := a.req
	longer := true
	if !c.do(func() {
		req = c.dialog.again(a.req)
		longer = challenged(res) || c.timer.lengthen(req, res)
		c.inviteSeq, c.forks = req.CSeq().SeqNo, nil
	}) || !longer {
		return false
	}
	tx, err := a.ua.txl.Request(ctx, req)
	if err != nil {
		return false
	}
	tx.OnRetransmission(a.ua.stray)
	a.req, a.tx, a.some = req, tx, false
	return true
}

func (a *attempt) provisional(res *gosip.Response, ringing func(int)) {
	a.some = true
	if res.StatusCode == 100 {
		return
	}
	a.call.do(func() { a.call.ringing(res) })
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
		c.settled(res)
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
		leg, c.channel = c.leg, c.dialog.line
	})
	return leg, err
}

// drop ends a call that never came up.
func (a *attempt) drop() { a.call.do(func() { a.call.state = over }) }

// join completes the dialog of an INVITE of ours with its 2xx (section 12.1.2).
func (d *dialog) join(res *gosip.Response) {
	d.remoteTag = res.To().Params.GetOr("tag", "")
	d.routes = routeSet(res, true)
	d.retarget(res.Contact())
}

// confirmAnswer sends the ACK of a 2xx, which has the INVITE's CSeq and
// credentials and is kept for its repetitions (section 13.2.2.4).
func (c *call) confirmAnswer(invite *gosip.Request) {
	c.ack = c.dialog.request(gosip.ACK, c.inviteSeq)
	for _, names := range authHeaders {
		gosip.CopyHeaders(names.answer, invite, c.ack)
	}
	c.ua.address(&c.dialog, c.ack)
	c.acknowledge(c.dialog)
}

// acknowledge sends the ACK, also again: at once, because no 2xx waits for DNS. It goes
// where the route leads and, if that is elsewhere, to the peer of to as well: a Contact
// behind an address translator reaches nobody, and who gets it twice ignores one.
func (c *call) acknowledge(to dialog) {
	at, err := netip.ParseAddrPort(c.ack.Destination())
	if err == nil && at == to.peer {
		_ = c.ua.tp.WriteMsg(c.ack)
		return
	}
	direct := c.ack.Clone()
	c.ua.back(&to, direct)
	_ = c.ua.tp.WriteMsg(direct)
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
		_ = c.ua.tp.WriteMsg(ack)
		return
	}
	ack = ack.Clone()
	l := c.dialog.line
	c.ua.work.Add(1) // the call's goroutine still counts, so Run has not stopped waiting
	isolate.Go("sip/acknowledge_elsewhere", c.lost, func() {
		ctx, cancel := context.WithTimeout(context.Background(), connectPatience*c.ua.cfg.T1)
		defer cancel()
		if c.ua.connect(ctx, l, ack) == nil {
			_ = c.ua.tp.WriteMsg(ack)
		}
	}, c.ua.work.Done)
}

// acknowledgeByName looks up the name that an ACK is for, beside the call, and sends it
// there, too.
func (c *call) acknowledgeByName(ack *gosip.Request) {
	d, by := c.dialog, ack.Clone()
	if d.named.looking {
		return
	}
	c.dialog.named.looking = true
	c.ua.work.Add(1) // the call's goroutine still counts, so Run has not stopped waiting
	isolate.Go("sip/acknowledge", c.lost, func() {
		found := c.ua.resolve(&d, by)
		c.do(func() {
			c.dialog.named = found
			stream := by.Transport() != "UDP"
			if at := found.at; !at.IsValid() || at == d.peer || stream && at.Addr() == d.peer.Addr() || d.forbids(at.Addr(), by.Transport()) {
				return
			}
			if by.Transport() != "TLS" { // a certificate is for the name
				by.SetDestination(found.at.String())
			}
			if c.ack == ack {
				c.ack = by
			}
			c.acknowledgeElsewhere(by)
		})
	}, c.ua.work.Done)
}

// stray takes 2xx responses to INVITEs whose transaction has had its final
// response: a repetition, because our ACK was lost, or a second phone that
// answered a forked call.
func (u *UserAgent) stray(res *gosip.Response) {
	isolate.Do("sip/stray", nil, func() { u.unmatched(res) })
}

func (u *UserAgent) unmatched(res *gosip.Response) {
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
			seq = max(seq, c.dialog.localSeq)                                                    // PRACKs have used some
			known = c.dialog.remoteTag == res.To().Params.GetOr("tag", "") || c.state == calling // is being taken
			if known && c.ack != nil && c.ack.CSeq().SeqNo == res.CSeq().SeqNo {
				to := c.dialog
				if from := source(res); from.IsValid() && res.Transport() == to.transport {
					to.peer = from
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
	peer := source(res)
	if res.Contact() == nil || res.From() == nil || res.To() == nil || res.CSeq() == nil || !peer.IsValid() {
		return
	}
	d := dialog{
		callID: res.CallID().Value(), localTag: res.From().Params.GetOr("tag", ""), localSeq: res.CSeq().SeqNo,
		local: *res.From().Address.Clone(), remote: *res.To().Address.Clone(),
		transport: res.Transport(), peer: peer, self: u.facing(peer.Addr()), port: u.portOf(res.Transport()),
	}
	if c != nil {
		d.auth, d.line, d.home = c.dialog.auth, c.dialog.line, c.dialog.home // none of them changes
	}
	d.join(res)
	if d.target.Host == "" || c == nil && !hostAddr(d.hop().Host).IsValid() {
		return
	}
	ack := d.request(gosip.ACK, d.localSeq)
	u.address(&d, ack)
	if at, err := netip.ParseAddrPort(ack.Destination()); err == nil {
		_ = u.tp.WriteMsg(ack)
		if at == peer {
			ack = nil
		}
	}
	if ack != nil {
		u.back(&d, ack)
		_ = u.tp.WriteMsg(ack)
	}
	d.localSeq = max(d.localSeq, after)
	bye := d.request(gosip.BYE, 0)
	bye.AppendHeader(gosip.NewHeader("Reason", reasonHeader(errAfterCancel)))
	u.address(&d, bye)
	again := func(detour bool) *gosip.Request {
		next := d.again(bye)
		if detour {
			u.back(&d, next)
		}
		return next
	}
	var r round
	for {
		sent, res, err := u.deliver(&d, nil, bye, again)
		if bye = sent; err != nil || !challenged(res) || !d.vouched(res) || d.auth.meet(res, &r) != nil {
			return
		}
		bye = again(d.detour)
	}
}

// errAfterCancel is the end of a call that was answered after we gave it up.
var errAfterCancel = error(&media.Ended{Reason: media.Failed, Detail: AnsweredAfterCancel})

// AnsweredAfterCancel is the detail of its end: the carrier charges for it, our customer
// does not pay.
const AnsweredAfterCancel = "answered_after_cancel"
