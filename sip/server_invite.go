package sip

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"sync"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media/isolate"
	"parley/sip/dialog"
	"parley/sip/header"
	"parley/sip/sdp"
	"parley/sip/transport"
	"parley/sip/trunk"
)

// serverInvite is an incoming call's first transaction, and what is ready for its answer.
type serverInvite struct {
	req    *gosip.Request
	tx     *gosip.ServerTx
	ctx    context.Context
	cancel context.CancelCauseFunc
	// decided is called when the call is answered, refused or given up: it rings no more.
	decided func()

	answer []byte // to their offer, nil when they made none
	media  sdp.Media

	reliable *reliable // the latest provisional response that was sent reliably; nil: none
}

// invite handles an INVITE that begins a call; check has passed it.
func (u *UserAgent) invite(req *gosip.Request, tx *gosip.ServerTx) {
	if u.draining.Load() {
		u.reply(req, tx, 503, "", header.RetryAfter(retryDraining))
		return
	}
	l, refusal := u.gate.Admit(req)
	if refusal != nil {
		_ = tx.Respond(response(req, refusal.Code, "", "", refusal.Headers...))
		return
	}
	if u.cfg.OnCall == nil {
		u.reply(req, tx, 603, "")
		return
	}
	key := inviteKey{req.CallID().Value(), req.From().Params.GetOr("tag", ""), req.CSeq().SeqNo}
	if _, twice := u.invites.LoadOrStore(key, struct{}{}); twice { // over another path
		u.reply(req, tx, 482, "")
		return
	}
	defer u.invites.Delete(key)
	decided := sync.OnceFunc(func() { u.ringing.Add(-1) })
	defer decided()
	if u.ringing.Add(1) > int64(u.cfg.MaxRinging) {
		decided() // before the response
		u.overload.Add(1)
		_ = tx.Respond(response(req, 503, "", "", header.RetryAfter(retryOverload)))
		return
	}
	if hs, short := tooShort(req); short {
		u.reply(req, tx, 422, "", hs...)
		return
	}
	c, in, err := u.incoming(req, tx, l)
	if err != nil {
		u.reply(req, tx, 400, "")
		return
	}
	c.server.decided = decided
	defer c.server.cancel(nil)
	if !tx.OnCancel(func(*gosip.Request) { c.server.cancel(errCanceled) }) {
		return // canceled already, and answered with 487
	}
	if !u.register(c) {
		u.reply(req, tx, 503, "", header.RetryAfter(retryDraining))
		return
	}
	_ = tx.Respond(response(req, 100, "", ""))
	if l != nil {
		l.Calls.Add(1) // the carrier knows its own limit: it is not ours to refuse
		c.ends = append(c.ends, l.Release)
	}
	isolate.Go("sip/incoming", c.broke, c.run, c.end)
	defer func() { // also when the handler panics
		in.finish()
		<-c.life.Done()
		if c.leg != nil {
			c.leg.abandon()
		}
	}()
	u.cfg.OnCall(c.server.ctx, in)
}

// incoming builds the call and what its handler sees.
func (u *UserAgent) incoming(req *gosip.Request, tx *gosip.ServerTx, l *trunk.Trunk) (*call, *Incoming, error) {
	from := transport.Source(req)
	d := dialog.Dialog{Far: u.far(l, nil), State: dialog.State{
		CallID: req.CallID().Value(), LocalTag: dialog.NewTag(), RemoteTag: req.From().Params.GetOr("tag", ""),
		Local: dialog.URI{Uri: *req.To().Address.Clone()}, Remote: dialog.URI{Uri: *req.From().Address.Clone()},
		RemoteSeq: req.CSeq().SeqNo, HasRemoteSeq: true, Routes: dialog.RouteSet(req, false),
		Transport: req.Transport(), Peer: from, Self: netip.AddrPortFrom(u.facing(l, from.Addr()), u.layer.PortOf(req)),
		Secure: req.Recipient.Scheme == "sips",
	}}
	if l != nil {
		d.Auth = dialog.NewAuthorizer(l.Auth)
	}
	if !d.Retarget(req.Contact()) {
		return nil, nil, errors.New("no usable Contact")
	}
	c := newCall(u, d, l)
	ctx, cancel := context.WithCancelCause(u.ctx)
	c.server = &serverInvite{req: req, tx: tx, ctx: ctx, cancel: cancel}
	in := &Incoming{
		CallID: d.CallID, User: header.Called(req), Called: header.Called(req), From: header.IdentityOf(req.From().DisplayName, &req.From().Address),
		To: header.IdentityOf(req.To().DisplayName, &req.To().Address), Source: from, Transport: d.Transport, call: c,
	}
	if h := req.GetHeader("p-asserted-identity"); h != nil {
		in.Asserted, _ = header.ParseIdentity(h.Value())
	}
	in.Headers = header.Read(req, headersOn(l), cmp.Or(in.Asserted, in.From))
	if l != nil {
		in.arrivedOn(l)
	}
	return c, in, nil
}

// headersOn are those that we send on a trunk; nil: there is none.
func headersOn(l *trunk.Trunk) map[string]string {
	if l == nil {
		return nil
	}
	return l.Headers
}

// The methods of this file run on the call's goroutine and answer the INVITE
// that began it.

// setState leaves the undecided state.
func (c *call) setState(s state) {
	if c.state == early {
		c.server.decided()
	}
	c.state = s
}

// canceled says whether the caller has given up.
func (c *call) canceled() bool {
	return errors.Is(context.Cause(c.server.ctx), errCanceled)
}

// send sends a response to the INVITE. A CANCEL may be faster: the transaction
// has then sent 487 by itself, and must be given one again, because it keeps
// the last response it saw for repetitions.
func (c *call) send(res *gosip.Response) error {
	if c.canceled() {
		return errCanceled
	}
	err := c.server.tx.Respond(res)
	if errors.Is(err, gosip.ErrTransactionCanceled) {
		_ = c.server.tx.Respond(response(c.server.req, 487, "", c.dialog.LocalTag))
		c.server.cancel(errCanceled)
		return errCanceled
	}
	return err
}

// decline refuses the call with a final response, once.
func (c *call) decline(code int, phrase string, extra ...gosip.Header) {
	if c.state != early {
		return
	}
	_ = c.send(response(c.server.req, code, phrase, c.dialog.LocalTag, extra...))
	c.ua.gate.Record(c.server.req, code)
	c.setState(over)
}

// prepare reserves what an answer needs: ports and an answer to their offer.
func (c *call) prepare() error {
	if c.state != early {
		return ErrDecided
	}
	if err := context.Cause(c.server.ctx); err != nil {
		return err
	}
	if c.audio != nil {
		return nil
	}
	if err := c.openAudio(); err != nil {
		c.decline(503, "", header.RetryAfter(retryOverload))
		return &Refused{Code: 503, Err: err}
	}
	body := c.server.req.Body()
	if len(body) == 0 {
		return nil
	}
	var err error
	c.server.answer, c.server.media, err = c.audio.SDP.Answer(body)
	if err != nil {
		code := offerCode(err)
		c.decline(code, "")
		return &Refused{Code: code, Err: err}
	}
	c.audio.OpenPath(c.peer(), c.server.media)
	return nil
}

// offerCode is how an offer that cannot be answered is refused.
func offerCode(err error) int {
	switch {
	case errors.Is(err, sdp.ErrNotAcceptable):
		return 488
	case errors.Is(err, sdp.ErrMalformed):
		return 400
	}
	return 500
}

// ring sends 180.
func (c *call) ring() error {
	if err := c.prepare(); err != nil {
		return err
	}
	if c.server.reliable != nil {
		return nil // it rings, reliably
	}
	return c.sendProvisional(180, nil)
}

// progress sends 183, and returns what plays to the caller.
func (c *call) progress() (*Early, error) {
	if err := c.prepare(); err != nil {
		return nil, err
	}
	if c.server.answer == nil || c.audio.HasPath() { // it is reached, and decrypts, only after the answer
		return nil, ErrNoOffer
	}
	early, err := c.audio.Early(c.peer(), c.server.media)
	if err != nil {
		return nil, err
	}
	if err := c.sendProvisional(183, c.server.answer); err != nil {
		return nil, err
	}
	return early, nil
}

// sendProvisional sends a response that decides nothing, with a description if there is one.
func (c *call) sendProvisional(code int, body []byte) error {
	res := response(c.server.req, code, "", c.dialog.LocalTag, c.dialog.Contact(), dialog.Allow())
	if body != nil {
		header.Describe(res, body)
	}
	if dialog.Listed(c.server.req, "100rel", "require") {
		return c.reliably(res)
	}
	return c.send(res)
}

// accept sends 200. Its result arrives on the channel: nil when the far end
// has confirmed it and there is a leg.
func (c *call) accept() (<-chan error, error) {
	if err := c.prepare(); err != nil {
		return nil, err
	}
	k := &unacked{tx: c.server.tx, seq: c.server.req.CSeq().SeqNo}
	body := c.server.answer
	if body == nil && !c.server.reliable.answerNegotiated() {
		var err error
		if body, err = c.audio.SDP.Offer(); err != nil {
			c.decline(500, "")
			return nil, err
		}
		k.offer = true
	}
	c.learn(c.server.req)
	c.audio.Discard()
	k.res = c.success(c.server.req, body, c.granted(c.server.req)...)
	if err := c.send(k.res); err != nil {
		c.setState(over)
		return nil, err
	}
	c.setState(answered)
	c.sent(k)
	w := newAwaited(c.server.media)
	if c.awaited = w; !k.offer {
		c.awaitMedia()
	}
	return w.answered, nil
}
