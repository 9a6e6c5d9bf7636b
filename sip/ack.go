package sip

import (
	"context"
	"net/netip"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media"
	"parley/sip/dialog"
	"parley/sip/transport"
)

// ack is the ACK of a 2xx, which is sent again when the 2xx comes again.
type ack struct {
	req     *gosip.Request // nil: none was sent
	looking bool           // the name that it is for is looked up
}

// confirmAnswer sends the ACK of a 2xx, which is kept for its repetitions (section 13.2.2.4).
func (c *call) confirmAnswer(invite *gosip.Request) {
	c.ack.req = c.dialog.ACK(invite.CSeq().SeqNo, invite)
	c.acknowledge(c.dialog)
}

// acknowledge sends the ACK, also again: at once, because no 2xx waits for DNS. It goes
// where the route leads and, if that is elsewhere, to the peer of to as well: a Contact
// behind an address translator cannot be reached, and a second copy is ignored.
func (c *call) acknowledge(to dialog.Dialog) {
	at, err := netip.ParseAddrPort(c.ack.req.Destination())
	if err == nil && at == to.Peer {
		c.ua.layer.Write(c.ack.req)
		return
	}
	direct := c.ack.req.Clone()
	to.AimAtPeer(direct)
	c.ua.layer.Write(direct)
	if err != nil {
		c.acknowledgeByName(c.ack.req)
		return
	}
	c.acknowledgeElsewhere(c.ack.req)
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
	c.beside("sip/acknowledge_elsewhere", func() {
		ctx, cancel := context.WithTimeout(context.Background(), transport.ConnectPatience*c.ua.cfg.T1)
		defer cancel()
		if c.ua.layer.Connect(ctx, by, ack) == nil {
			c.ua.layer.Write(ack)
		}
	})
}

// acknowledgeByName looks up the name that an ACK is for, beside the call, and sends it
// there, too.
func (c *call) acknowledgeByName(ack *gosip.Request) {
	d, by := c.dialog, ack.Clone()
	if c.ack.looking {
		return
	}
	c.ack.looking = true
	c.beside("sip/acknowledge", func() {
		found := d.Resolve(by)
		c.do(func() {
			c.dialog.Named, c.ack.looking = found, false
			stream := by.Transport() != "UDP"
			if at := found.At; !at.IsValid() || at == d.Peer || stream && at.Addr() == d.Peer.Addr() || d.Forbids(at.Addr(), by.Transport()) {
				return
			}
			if by.Transport() != "TLS" { // a certificate is for the name
				by.SetDestination(found.At.String())
			}
			if c.ack.req == ack {
				c.ack.req = by
			}
			c.acknowledgeElsewhere(by)
		})
	})
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
			if known && c.ack.req != nil && c.ack.req.CSeq().SeqNo == res.CSeq().SeqNo {
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

// hangupOn confirms an unwanted 2xx and ends its call.
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
		d.Far, d.Home, d.Self = c.dialog.Far, c.dialog.Home, c.dialog.Self // none changes
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
