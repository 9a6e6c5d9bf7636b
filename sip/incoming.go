package sip

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media"
	"parley/media/isolate"
	"parley/sip/dialog"
	"parley/sip/sdp"
	"parley/sip/transport"
	"parley/sip/trunk"
)

// Incoming is a call that rings here. Its fields are for reading. Its methods
// belong to the goroutine of Config.OnCall, which decides once: Reject or
// Answer.
type Incoming struct {
	CallID    string
	Called    string         // the number dialled: the Request-URI's user, else To's
	From      Identity       // who the caller says to be
	To        Identity       // whom the caller meant to call; Called decides
	Asserted  Identity       // what P-Asserted-Identity says; zero when there is none
	Trusted   bool           // a trunk vouches for Asserted, and for the verstat of From where that is zero
	Source    netip.AddrPort // where the INVITE came from
	Transport string         // "UDP", "TCP" or "TLS"
	Trunk     string         // the name of the one it came on; empty: its source is allowed without one

	call *call
}

// errCanceled is the cause of an Incoming's context when the caller gave up.
var errCanceled = &media.Ended{Reason: media.UserHangup, Detail: "canceled"}

// ErrDecided is returned when a call was refused, answered or given up before.
var ErrDecided = errors.New("sip: the call is decided")

// Refused says that Ring or Answer could not go on and has refused the call.
type Refused struct {
	Code int // that the caller got
	Err  error
}

func (e *Refused) Error() string { return fmt.Sprintf("sip: refused with %d: %v", e.Code, e.Err) }
func (e *Refused) Unwrap() error { return e.Err }

// invite is an incoming call's first transaction, and what is ready for its answer.
type invite struct {
	req    *gosip.Request
	tx     *gosip.ServerTx
	ctx    context.Context
	cancel context.CancelCauseFunc
	// decided is called when the call is answered, refused or given up: it rings no more.
	decided func()

	answer []byte // to their offer, nil when they made none
	media  sdp.Media
}

// invite handles an INVITE that begins a call; check has passed it.
func (u *UserAgent) invite(req *gosip.Request, tx *gosip.ServerTx) {
	if u.draining.Load() {
		u.reply(req, tx, 503, "", retryAfter(retryDraining))
		return
	}
	from := transport.Source(req).Addr()
	l := u.trunkOfCall(req)
	if l == nil && !u.cfg.Allow(from) {
		u.reply(req, tx, 403, "") // we have called there, but do not take its calls
		return
	}
	if l != nil && !u.authentic(req, tx, l) {
		return
	}
	if u.doubts(req, tx, l) {
		return
	}
	if u.cfg.OnCall == nil {
		u.reply(req, tx, 603, "")
		return
	}
	key := inviteKey{req.CallID().Value(), req.From().Params.GetOr("tag", ""), req.CSeq().SeqNo}
	if !u.once(key) {
		u.reply(req, tx, 482, "")
		return
	}
	defer u.ended(key)
	decided := sync.OnceFunc(func() { u.ringing.Add(-1) })
	defer decided()
	if u.ringing.Add(1) > int64(u.cfg.MaxRinging) {
		u.counters.overload.Add(1)
		_ = tx.Respond(response(req, 503, "", "", retryAfter(retryOverload)))
		return
	}
	if hs, short := u.tooShort(req); short {
		u.reply(req, tx, 422, "", hs...)
		return
	}
	c, in, err := u.incoming(req, tx, l)
	if err != nil {
		u.reply(req, tx, 400, "")
		return
	}
	c.invite.decided = decided
	defer c.invite.cancel(nil)
	if !tx.OnCancel(func(*gosip.Request) { c.invite.cancel(errCanceled) }) {
		return // canceled already, and answered with 487
	}
	if !u.register(c) {
		u.reply(req, tx, 503, "", retryAfter(retryDraining))
		return
	}
	_ = tx.Respond(response(req, 100, "", ""))
	if l != nil {
		c.channel = l
		l.Calls.Add(1) // the carrier knows its own limit: it is not ours to refuse
	}
	isolate.Go("sip/incoming", c.broke, c.run, c.end)
	defer func() { // also when the handler panics
		in.finish()
		<-c.life.Done()
		if c.leg != nil {
			c.leg.abandon()
		}
	}()
	u.cfg.OnCall(c.invite.ctx, in)
}

// incoming builds the call and what its handler sees.
func (u *UserAgent) incoming(req *gosip.Request, tx *gosip.ServerTx, l *trunk.Trunk) (*call, *Incoming, error) {
	from := transport.Source(req)
	d := dialog.Dialog{Far: u.far(l, nil), State: dialog.State{
		CallID: req.CallID().Value(), LocalTag: dialog.NewTag(), RemoteTag: req.From().Params.GetOr("tag", ""),
		Local: dialog.URI{Uri: *req.To().Address.Clone()}, Remote: dialog.URI{Uri: *req.From().Address.Clone()},
		RemoteSeq: req.CSeq().SeqNo, HasRemoteSeq: true, Routes: dialog.RouteSet(req, false),
		Transport: req.Transport(), Peer: from, Self: netip.AddrPortFrom(u.layer.Facing(from.Addr()), u.layer.Port(req.Transport())),
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
	c.invite = &invite{req: req, tx: tx, ctx: ctx, cancel: cancel}
	in := &Incoming{
		CallID: d.CallID, Called: called(req), From: identity(req.From().DisplayName, &req.From().Address),
		To: identity(req.To().DisplayName, &req.To().Address), Source: from, Transport: d.Transport, call: c,
	}
	if l != nil {
		in.Trunk, in.Called, in.Trusted = l.Name, calledOn(l, in), !l.DistrustIdentity
	}
	if h := req.GetHeader("p-asserted-identity"); h != nil {
		in.Asserted, _ = parseIdentity(h.Value())
	}
	return c, in, nil
}

// once notes an INVITE while its call lasts; false: it is here already, over
// another path.
func (u *UserAgent) once(k inviteKey) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, ok := u.invites[k]; ok {
		return false
	}
	u.invites[k] = struct{}{}
	return true
}

func (u *UserAgent) ended(k inviteKey) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.invites, k)
}

// Reject refuses the call. An empty phrase takes the code's usual one; retry,
// when above 0, tells the carrier when to come again, in whole seconds. It does
// nothing once the call is decided.
func (in *Incoming) Reject(code int, phrase string, retry time.Duration) {
	in.call.do(func() {
		var extra []gosip.Header
		if retry > 0 {
			extra = append(extra, retryAfter(int((retry+time.Second-1)/time.Second)))
		}
		in.call.decline(code, phrase, extra...)
	})
}

// Ring tells the caller that it rings here (180). It reserves all that Answer
// needs first, so that what rings can also be answered: a *Refused says that
// it cannot be, and that the caller has been told (488 without a common codec,
// 503 without a free port).
func (in *Incoming) Ring() error {
	err := error(ErrDecided)
	in.call.do(func() { err = in.call.ring() })
	if errors.Is(err, ErrDecided) {
		err = in.call.undone(err)
	}
	return err
}

// Answer answers the call and returns its leg, whose Run the caller must call. It
// waits, until ctx ends or 64*T1, for the far end to confirm the answer: by its ACK or,
// where that was lost, by media (see rtp.Proof). That is when the call is answered, and
// when what it costs begins. One that is never confirmed ends as *media.Ended with the
// detail no_ack. A *Refused is as in Ring.
func (in *Incoming) Answer(ctx context.Context) (*Leg, error) {
	err := error(ErrDecided)
	var answered <-chan error
	var unready <-chan struct{}
	in.call.do(func() { unready = in.call.undecided() })
	if unready != nil {
		select {
		case <-unready:
		case <-in.call.gone: // then accept knows
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	in.call.do(func() { answered, err = in.call.accept() })
	if err != nil {
		return nil, in.call.undone(err)
	}
	if err := in.await(ctx, answered); err != nil {
		return nil, err
	}
	return in.call.leg, nil
}

// await waits for the far end to confirm our 200.
func (in *Incoming) await(ctx context.Context, answered <-chan error) error {
	c := in.call
	select {
	case err := <-answered:
		return err
	case <-c.gone:
		select {
		case err := <-answered: // that came first
			return err
		default:
			return cmp.Or(c.goneErr, error(errCanceled))
		}
	case <-ctx.Done():
		err := context.Cause(ctx)
		c.do(func() { c.hangup(err) })
		return err
	}
}

// Trace is the signalling of the call so far, also after its end.
func (in *Incoming) Trace() *transport.Trace { return in.call.trace }

// finish is called when the handler is done: nothing of the call may be left.
func (in *Incoming) finish() {
	c := in.call
	c.do(func() {
		if c.invite.ctx.Err() != nil {
			c.decline(503, "", retryAfter(retryDraining))
		} else {
			c.decline(500, "") // a handler that does not decide is at fault
		}
		c.hangup(context.Cause(c.invite.ctx))
	})
}
