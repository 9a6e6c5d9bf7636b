package sip

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"regexp"
	"sync"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media/isolate"
	"parley/sip/dialog"
	"parley/sip/rtpport"
	"parley/sip/sdp"
	"parley/sip/transport"
	"parley/sip/trunk"
)

// mailbox is how much may wait for a call's goroutine. A far end has one or two
// requests under way; beyond the bound the request's own goroutine waits.
const mailbox = 8

// state of a call's dialog.
type state uint8

const (
	early   state = iota // incoming, not decided
	calling              // outgoing, not answered
	up                   // a 2xx was sent or received
	ending               // our BYE is under way
	over                 // nothing more will be sent
)

// call is a dialog and the goroutine that owns it. Everything below the line
// belongs to that goroutine; others reach it through do.
type call struct {
	ua  *UserAgent
	key dialogKey
	log *slog.Logger

	trace     *transport.Trace // of its messages; set before the call is registered
	stopTrace func()

	box      chan task
	order    *order        // of the far end's requests
	gone     chan struct{} // closed when the far end is gone; goneErr says why
	goneErr  error
	life     context.Context // ends when the goroutine has ended, with dialog.ErrOver
	finish   context.CancelCauseFunc
	killed   chan struct{} // closed by shutdown
	killOnce sync.Once

	// ---
	state      state
	invite     *invite // the INVITE that began an incoming call
	dialog     dialog.Dialog
	trunk      *trunk.Trunk  // the one that the call belongs to, nil for none; never changed
	pair       *rtpport.Pair // the leg's, once there is one
	sdp        *sdp.Session
	leg        *Leg           // nil until there is media
	confirm    *confirm       // a 2xx of ours that waits for its ACK
	pendingBye error          // why we hang up, when that waits for the ACK
	byeDone    chan struct{}  // closed when our BYE was answered or given up
	ack        *gosip.Request // of the 2xx to our INVITE, to repeat
	ackLookup  bool           // the name that it is for is looked up
	inviteSeq  uint32         // CSeq of that INVITE
	channel    *trunk.Trunk   // the trunk that the call counts on, nil for none

	owner    bool             // the call is ours: we have chosen its Call-ID
	updates  bool             // the far end takes UPDATE
	timers   timers           // what is to be done later
	timer    sessionTimer     // of the session
	forks    map[string]*fork // early dialogs of our INVITE, by the far end's tag
	rel      *reliable        // a provisional response of ours that was sent reliably
	changes  []*change        // of ours, one after another
	changing bool             // the first of them is under way
	resting  bool             // or waits to be sent again
	referral *referral        // our latest REFER
	heard    *transport.Grant // hosts of the far end besides where it called from
}

func newCall(u *UserAgent, d dialog.Dialog, on *trunk.Trunk) *call {
	c := &call{
		ua: u, key: dialogKey{d.CallID, d.LocalTag}, log: u.log.With("call_id", d.CallID), dialog: d, trunk: on,
		timers: timers{clock: u.cfg.clock}, trace: new(transport.Trace), heard: u.layer.Grant(),
		box: make(chan task, mailbox), order: newOrder(), gone: make(chan struct{}), killed: make(chan struct{}),
	}
	c.life, c.finish = context.WithCancelCause(context.Background())
	return c
}

// far is what a dialog needs of the user agent, and of the trunk it belongs to, if any.
func (u *UserAgent) far(on *trunk.Trunk, auth *dialog.Authorizer) dialog.Far {
	if on != nil {
		return on.Far(auth)
	}
	return dialog.Far{Layer: u.layer, Auth: auth, T1: u.cfg.T1}
}

// mask finds the headers that traces leave out; nil: none.
func (c *call) mask() *regexp.Regexp {
	if c.trunk == nil {
		return nil
	}
	return c.trunk.Mask
}

// first is the message that brought the call; nil: none did.
func (c *call) first() gosip.Message {
	if c.invite == nil {
		return nil
	}
	return c.invite.req
}

// task is what somebody wants of a call's goroutine; done is called when it has ended.
type task struct{ run, done func() }

// do runs f on the call's goroutine and waits for it; false: the call is over
// and f did not run.
func (c *call) do(f func()) bool {
	done := make(chan struct{})
	select {
	case c.box <- task{f, func() { close(done) }}:
	case <-c.life.Done():
		return false
	}
	select {
	case <-done:
		return true
	case <-c.life.Done():
	}
	select {
	case <-done: // f itself ended the call
		return true
	default:
		return false
	}
}

// own runs f with the dialog, as dialog.Owner wants it.
func (c *call) own(f func(*dialog.Dialog)) bool { return c.do(func() { f(&c.dialog) }) }

// request sends a request of the call's dialog, other than ACK and CANCEL, beside the call;
// then runs on the call's goroutine with the request as it was sent last and with what came of
// it, unless the call is over by then.
func (c *call) request(req *gosip.Request, then func(*gosip.Request, *gosip.Response, error)) {
	c.ua.work.Add(1) // the call's goroutine still counts, so Run has not stopped waiting
	isolate.Go("sip/in-dialog", c.lost, func() {
		sent, res, err := dialog.Owner(c.own).Do(c.life, req)
		c.do(func() { then(sent, res, err) })
	}, c.ua.work.Done)
}

// updateAllowedSources has the transport hear the hosts that the far end has named, its own and
// that of the first router: what comes in the call may come from there, and what answers our
// requests does. It ends with the call.
func (c *call) updateAllowedSources() {
	var want []netip.Addr
	if c.state != over {
		want = c.dialog.Hosts()
	}
	if c.state == calling {
		for _, f := range c.forks {
			want = append(want, f.dialog.Hosts()...)
		}
	}
	c.heard.Set(want...)
}

// end is called when the call's goroutine has ended, in whatever way.
func (c *call) end() {
	defer c.finish(dialog.ErrOver)
	defer c.ua.unregister(c)
	c.release()
}

// run is the call's goroutine. Whoever starts it calls end next.
func (c *call) run() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	look := time.NewTicker(c.ua.cfg.T1)
	defer look.Stop()
	c.updateAllowedSources()
	for c.state != over {
		var due <-chan time.Time
		var lost <-chan struct{}
		var looks <-chan time.Time
		if c.state == early && !c.canceled() {
			lost, looks = c.invite.tx.Done(), look.C
		}
		var acks <-chan *gosip.Request
		if c.confirm != nil {
			timer.Reset(time.Until(c.confirm.next))
			due, acks = timer.C, c.confirm.tx.Acks()
		}
		fired, stop := c.timers.wait()
		select {
		case f := <-c.box:
			c.step(f.run, f.done)
		case <-fired:
			c.step(c.timers.fire)
		case req := <-acks:
			// Old clients give the ACK the INVITE's branch, as RFC 2543 had it.
			c.step(func() { c.handle(req, nil) })
		case <-due:
			c.step(c.retransmit2xx)
		case <-lost: // canceled, or the caller's connection is gone
			c.invite.cancel(errCanceled)
		case <-looks:
			if transport.ConnectionClosed(c.invite.tx.Connection()) {
				c.invite.tx.Terminate()
			}
		case <-c.byeDone:
			c.state = over
		case <-c.killed:
			c.killed = nil
			c.step(func() { c.hangup(context.Cause(c.ua.ctx)) })
		case <-c.ua.layer.Closed():
			c.state = over
		}
		stop()
	}
	c.leave(nil)
}

// release gives back ports that no leg took over, and the trunk's channel.
func (c *call) release() {
	c.dropConfirm()
	if c.pair != nil && c.leg == nil {
		c.pair.Release()
	}
	if c.channel != nil {
		c.channel.Release()
	}
	c.state = over
	c.updateAllowedSources()
}

// step runs f; a panic in it ends this call and no other.
func (c *call) step(f func(), after ...func()) {
	isolate.Do("sip/step", c.broke, func() {
		f()
		c.updateAllowedSources()
	}, after...)
}

// broke ends a call after a panic on its goroutine.
func (c *call) broke(cause error) {
	c.leave(cause)
	if c.invite != nil { // not before: the leg's Run may end with this context, and then asks why
		c.invite.cancel(cause)
	}
	c.decline(500, "")
	c.hangup(cause)
}

// lost ends a call after a panic on another goroutine of it.
func (c *call) lost(cause error) { c.do(func() { c.broke(cause) }) }

// undone is the error of what could not be done because the call is decided: a panic that
// ended it, or err.
func (c *call) undone(err error) error {
	select {
	case <-c.gone:
		return cmp.Or(c.goneErr, err)
	default:
		return err
	}
}

// shutdown makes the call hang up, from any goroutine.
func (c *call) shutdown() { c.killOnce.Do(func() { close(c.killed) }) }

// leave tells the leg that the far end is gone: err is nil when it hung up.
func (c *call) leave(err error) {
	select {
	case <-c.gone:
	default:
		c.goneErr = err
		close(c.gone)
	}
}

// fail ends the call for a reason of its own: BYE, and err for the leg.
func (c *call) fail(err error) {
	c.leave(err)
	c.hangup(err)
}

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
			c.acknowledged(req)
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
		c.pracked(req, tx)
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
		c.notified(req, tx)
	case req.Method == gosip.REFER:
		c.refuse(req, tx, 603) // we place calls for our own accounts only
	default:
		c.respond(req, tx, 405, dialog.Allow())
	}
}

// onBye takes the far end's BYE.
func (c *call) onBye(req *gosip.Request, tx *gosip.ServerTx) {
	c.respond(req, tx, 200)
	switch c.state {
	case early:
		// A caller may use BYE to give up (section 15).
		c.decline(487, "")
		c.invite.cancel(errCanceled)
	case ending:
		return // both hung up at once: our own BYE is still to be answered
	default:
		if r := c.referral; r != nil && r.accepted {
			c.referred(r, nil) // it has left for the other call
		}
		c.leave(nil)
		c.dropConfirm()
		c.state = over
	}
}

// info takes digits of keypads that do not send them as RFC 4733 events.
func (c *call) info(req *gosip.Request, tx *gosip.ServerTx) {
	digit, ok := infoDigit(contentType(req), req.Body())
	switch {
	case c.leg == nil:
		c.refuse(req, tx, 491) // nobody to hear it yet
	case ok:
		c.leg.infoDigit(digit)
		c.respond(req, tx, 200)
	case len(req.Body()) == 0:
		c.respond(req, tx, 200) // some probe with it (RFC 6086 section 2)
	default:
		c.refuse(req, tx, 415)
	}
}

func (c *call) refuse(req *gosip.Request, tx *gosip.ServerTx, code int) {
	if code == 491 || code == 500 {
		c.respond(req, tx, code, retryAfter(retryGlare))
		return
	}
	c.respond(req, tx, code)
}

func (c *call) respond(req *gosip.Request, tx *gosip.ServerTx, code int, extra ...gosip.Header) {
	_ = tx.Respond(response(req, code, "", c.dialog.LocalTag, extra...))
}

// hangup ends the call from our side; cause, an *media.Ended or anything else,
// goes into the BYE's Reason. RFC 3261 section 15.1.1: not before the ACK.
func (c *call) hangup(cause error) {
	if c.state != up {
		return
	}
	if c.confirm == nil || !c.confirm.first {
		c.bye(cause)
	} else if c.pendingBye == nil { // the first reason is the true one
		c.pendingBye = cmp.Or(cause, errHangup)
	}
}

// errHangup stands for a goodbye without a reason.
var errHangup = errors.New("sip: hung up")

func (c *call) bye(cause error) {
	c.dropConfirm()
	c.state, c.pendingBye = ending, nil
	req := c.dialog.Request(gosip.BYE)
	if r := reasonHeader(cause); r != "" {
		req.AppendHeader(gosip.NewHeader("Reason", r))
	}
	done := make(chan struct{})
	c.byeDone = done
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
