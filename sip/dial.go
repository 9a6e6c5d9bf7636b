package sip

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"strings"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media"
	"parley/sip/sdp"
)

// Target is whom to call and as whom.
type Target struct {
	URI  string   // sip:user@host[:port][;transport=tcp]
	From Identity // what the callee sees; without Host our own address
	// Ringing, if not nil, is told of 180 and 183 responses, on Dial's goroutine.
	Ringing func(code int)
}

// attempt is an INVITE of ours until its final response.
type attempt struct {
	ua   *UserAgent
	call *call
	peer netip.AddrPort
	req  *gosip.Request
	tx   *gosip.ClientTx
	rang bool
	some bool   // some provisional response came: the callee may be canceled
	body []byte // a description that came early, for a 200 without one
}

// Dial calls and returns the answered leg, whose Run the caller must call. It
// gives up when ctx ends. Every failure is a *NotAnswered, ErrClosed, or a
// mistake in t.
func (u *UserAgent) Dial(ctx context.Context, t Target) (*Leg, error) {
	uri, peer, err := u.resolve(ctx, t.URI)
	if err != nil {
		return nil, err
	}
	select {
	case <-u.udp.ready:
	case <-ctx.Done():
		return nil, &NotAnswered{Err: context.Cause(ctx)}
	}
	if !u.begin() {
		return nil, ErrClosed
	}
	a, err := u.attempt(uri, peer, t.From)
	if err != nil {
		u.work.Done()
		return nil, err
	}
	u.expect(peer.Addr())
	go func() {
		a.call.run()
		u.forget(peer.Addr())
		u.work.Done()
	}()
	a.tx, err = u.txl.Request(ctx, a.req)
	if err != nil {
		a.drop()
		return nil, &NotAnswered{Err: err}
	}
	a.tx.OnRetransmission(u.stray)
	return a.await(ctx, t.Ringing)
}

// resolve reads a URI and finds the address behind it.
func (u *UserAgent) resolve(ctx context.Context, s string) (uri gosip.Uri, peer netip.AddrPort, err error) {
	if err := gosip.ParseUri(s, &uri); err != nil || uri.Scheme != "sip" || uri.Host == "" {
		return uri, peer, fmt.Errorf("sip: %q is no sip: URI", s)
	}
	if tp := strings.ToLower(uri.UriParams.GetOr("transport", "udp")); tp != "udp" && tp != "tcp" {
		return uri, peer, fmt.Errorf("sip: transport %q is not supported", tp)
	}
	port := uri.Port
	if port == 0 {
		port = gosip.DefaultUdpPort
	}
	if port < 0 || port > 65535 {
		return uri, peer, fmt.Errorf("sip: port %d", port)
	}
	host := strings.Trim(uri.Host, "[]")
	addr, err := netip.ParseAddr(host)
	if err != nil {
		network := "ip"
		if u.at.Addr().Is4() {
			network = "ip4"
		}
		found, err := net.DefaultResolver.LookupNetIP(ctx, network, host)
		if err != nil || len(found) == 0 {
			return uri, peer, &NotAnswered{Err: fmt.Errorf("resolve %s: %w", host, err)}
		}
		addr = found[0]
	}
	return uri, netip.AddrPortFrom(addr.Unmap(), uint16(port)), nil
}

// attempt builds the call and its INVITE (RFC 3261 section 13.2.1).
func (u *UserAgent) attempt(uri gosip.Uri, peer netip.AddrPort, from Identity) (*attempt, error) {
	pair, err := u.cfg.Ports.Open()
	if err != nil {
		return nil, &NotAnswered{Err: err}
	}
	d := dialog{
		callID: newTag(), localTag: newTag(), target: *uri.Clone(), remote: *uri.Clone(),
		transport: strings.ToUpper(uri.UriParams.GetOr("transport", "udp")),
		peer:      peer, self: u.facing(peer.Addr()), port: u.at.Port(),
	}
	d.remote.UriParams, d.remote.Headers, d.target.Headers = nil, nil, nil
	d.local = gosip.Uri{Scheme: "sip", User: from.Number, Host: from.Host}
	if d.local.Host == "" {
		d.local.Host = uriHost(d.self)
	}
	c := newCall(u, d)
	c.state, c.pair = calling, pair
	c.sdp = sdp.New(sdp.Local{Addr: d.self, Port: pair.Port, ID: rand.Uint64() >> 2})
	offer, err := c.sdp.Offer(sdp.SendRecv)
	if err == nil && !u.register(c) {
		err = ErrClosed
	}
	if err != nil {
		pair.Release()
		return nil, err
	}
	req := c.dialog.request(gosip.INVITE, 0)
	c.inviteSeq = c.dialog.localSeq
	req.From().DisplayName = strings.Map(printable, from.Display)
	kind := gosip.ContentTypeHeader(sdpType)
	req.AppendHeader(c.dialog.contact())
	req.AppendHeader(allow())
	req.AppendHeader(&kind)
	req.SetBody(offer)
	u.address(&c.dialog, req)
	req.SetDestination(peer.String())
	return &attempt{ua: u, call: c, peer: peer, req: req}, nil
}

// printable keeps a display name from ending its quotes or its line.
func printable(r rune) rune {
	if r < ' ' || r == '"' || r == '\\' || r == 0x7f {
		return -1
	}
	return r
}

// await reads responses until the final one.
func (a *attempt) await(ctx context.Context, ringing func(int)) (*Leg, error) {
	for {
		select {
		case res := <-a.tx.Responses():
			switch {
			case res.IsProvisional():
				a.provisional(res, ringing)
			case res.IsSuccess():
				return a.established(res)
			default:
				a.drop()
				return nil, notAnswered(res, a.rang)
			}
		case <-a.tx.Done():
			a.drop()
			return nil, &NotAnswered{Rang: a.rang, Err: a.tx.Err()}
		case <-a.ua.kill:
			a.drop()
			return nil, ErrClosed
		case <-ctx.Done():
			// Giving up takes a round trip or more; nobody needs to wait for it.
			// The call's goroutine, which Run waits for, lasts until then.
			go a.cancel()
			return nil, &NotAnswered{Rang: a.rang, Err: context.Cause(ctx)}
		}
	}
}

func (a *attempt) provisional(res *gosip.Response, ringing func(int)) {
	a.some = true
	if res.StatusCode == 100 {
		return
	}
	if contentType(res) == sdpType && len(res.Body()) > 0 {
		a.body = res.Body()
	}
	if res.StatusCode == 180 || res.StatusCode == 183 {
		a.rang = true
		if ringing != nil {
			ringing(res.StatusCode)
		}
	}
}

// established confirms a 2xx and begins the media.
func (a *attempt) established(res *gosip.Response) (leg *Leg, err error) {
	c := a.call
	err = ErrClosed
	c.do(func() {
		c.dialog.join(res)
		c.state = up
		c.confirmAnswer()
		body := res.Body()
		if len(body) == 0 {
			body = a.body
		}
		var m sdp.Media
		if m, err = c.sdp.Accept(body); err == nil {
			err = c.begin(m)
		}
		if err != nil {
			c.fail(&media.Ended{Reason: media.Failed, Detail: "no_common_codec"})
			err = &NotAnswered{Code: 488, Rang: a.rang, Err: err}
			return
		}
		leg = c.leg
	})
	return leg, err
}

// drop ends a call that never came up.
func (a *attempt) drop() { a.call.do(func() { a.call.state = over }) }

// cancel gives up (RFC 3261 section 9.1): a CANCEL, but not before the first
// provisional response; and when a 200 has crossed it, ACK and BYE, or the
// callee would hold a call that nobody is on.
func (a *attempt) cancel() {
	defer a.drop()
	timeout := time.NewTimer(64 * a.ua.cfg.T1)
	defer timeout.Stop()
	defer a.tx.Terminate()
	sent := false
	for {
		if a.some && !sent {
			sent = true
			// The call's goroutine still counts, so Run has not stopped waiting.
			a.ua.work.Go(func() { _, _ = a.ua.exchange(a.cancelRequest()) })
		}
		select {
		case res := <-a.tx.Responses():
			switch {
			case res.IsProvisional():
				a.some = true
			case res.IsSuccess():
				a.ua.hangupOn(res)
				return
			default:
				return
			}
		case <-a.tx.Done():
			return
		case <-a.ua.kill:
			return
		case <-timeout.C:
			return
		}
	}
}

// cancelRequest is the CANCEL of the INVITE: the same branch, so that the far
// end finds what it is to cancel.
func (a *attempt) cancelRequest() *gosip.Request {
	req := gosip.NewRequest(gosip.CANCEL, *a.req.Recipient.Clone())
	req.AppendHeader(a.req.Via().Clone())
	for _, name := range []string{"Route", "From", "To", "Call-ID"} {
		gosip.CopyHeaders(name, a.req, req)
	}
	forwards := gosip.MaxForwardsHeader(70)
	req.AppendHeader(&gosip.CSeqHeader{SeqNo: a.req.CSeq().SeqNo, MethodName: gosip.CANCEL})
	req.AppendHeader(&forwards)
	req.SetBody(nil)
	req.SetTransport(a.req.Transport())
	req.SetDestination(a.req.Destination())
	req.Laddr = a.req.Laddr
	return req
}

// join completes the dialog of an INVITE of ours with its 2xx (section 12.1.2).
func (d *dialog) join(res *gosip.Response) {
	d.remoteTag = res.To().Params.GetOr("tag", "")
	d.routes = routeSet(res, true)
	d.retarget(res.Contact())
}

// confirmAnswer sends the ACK of a 2xx, which has the INVITE's CSeq and is kept
// for its repetitions (section 13.2.2.4).
func (c *call) confirmAnswer() {
	c.ack = c.dialog.request(gosip.ACK, c.inviteSeq)
	c.ua.address(&c.dialog, c.ack)
	_ = c.ua.tp.WriteMsg(c.ack)
}

// stray takes 2xx responses to INVITEs whose transaction has had its final
// response: a repetition, because our ACK was lost, or a second phone that
// answered a forked call.
func (u *UserAgent) stray(res *gosip.Response) {
	if !res.IsSuccess() || res.CSeq() == nil || res.CSeq().MethodName != gosip.INVITE ||
		res.From() == nil || res.To() == nil || res.CallID() == nil || !u.begin() {
		return
	}
	defer u.work.Done()
	known := false
	if c := u.find(dialogKey{res.CallID().Value(), res.From().Params.GetOr("tag", "")}); c != nil {
		c.do(func() {
			if known = c.ack != nil && c.dialog.remoteTag == res.To().Params.GetOr("tag", ""); known {
				_ = u.tp.WriteMsg(c.ack)
			}
		})
	}
	if !known {
		u.hangupOn(res)
	}
}

// hangupOn confirms a 2xx that nobody wants and ends its call.
func (u *UserAgent) hangupOn(res *gosip.Response) {
	peer := source(res)
	if res.Contact() == nil || res.From() == nil || res.To() == nil || res.CSeq() == nil || !peer.IsValid() {
		return
	}
	d := dialog{
		callID: res.CallID().Value(), localTag: res.From().Params.GetOr("tag", ""), localSeq: res.CSeq().SeqNo,
		local: *res.From().Address.Clone(), remote: *res.To().Address.Clone(),
		transport: res.Transport(), peer: peer, self: u.facing(peer.Addr()), port: u.at.Port(),
	}
	d.join(res)
	if d.target.Host == "" {
		return
	}
	ack := d.request(gosip.ACK, d.localSeq)
	u.address(&d, ack)
	if err := u.tp.WriteMsg(ack); err != nil {
		return
	}
	bye := d.request(gosip.BYE, 0)
	bye.AppendHeader(gosip.NewHeader("Reason", reasonHeader(errAfterCancel)))
	u.address(&d, bye)
	_, _ = u.exchange(bye)
}

// errAfterCancel is the end of a call that was answered after we gave it up.
var errAfterCancel = error(&media.Ended{Reason: media.NoAnswer, Detail: "answered_after_cancel"})
