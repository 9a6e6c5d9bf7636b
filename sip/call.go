package sip

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media/isolate"
	"parley/sip/rtpport"
	"parley/sip/sdp"
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

	trace *Trace // of its messages; set before the call is registered

	box      chan task
	order    *order        // of the far end's requests
	gone     chan struct{} // closed when the far end is gone; goneErr says why
	goneErr  error
	over     chan struct{} // closed when the goroutine has ended
	killed   chan struct{} // closed by shutdown
	killOnce sync.Once

	// ---
	state     state
	invite    *invite // the INVITE that began an incoming call
	dialog    dialog
	pair      *rtpport.Pair // the leg's, once there is one
	sdp       *sdp.Session
	leg       *Leg           // nil until there is media
	confirm   *confirm       // a 2xx of ours that waits for its ACK
	goodbye   error          // why we hang up, when that waits for the ACK
	byeDone   chan struct{}  // closed when our BYE was answered or given up
	ack       *gosip.Request // of the 2xx to our INVITE, to repeat
	inviteSeq uint32         // CSeq of that INVITE
	channel   *line          // the trunk that the call counts on, nil for none

	owner    bool             // the call is ours: we have chosen its Call-ID
	updates  bool             // the far end takes UPDATE
	alarms   alarms           // what is to be done later
	timer    sessionTimer     // of the session
	forks    map[string]*fork // early dialogs of our INVITE, by the far end's tag
	rel      *reliable        // a provisional response of ours that was sent reliably
	changes  []*change        // of ours, one after another
	changing bool             // the first of them is under way
	resting  bool             // or waits to be sent again
	referral *referral        // our latest REFER
	heard    []netip.Addr     // hosts of the far end besides where it called from, see listen
}

func newCall(u *UserAgent, d dialog) *call {
	return &call{
		ua: u, key: dialogKey{d.callID, d.localTag}, log: u.log.With("call_id", d.callID), dialog: d,
		alarms: alarms{clock: u.cfg.clock}, trace: new(Trace),
		box: make(chan task, mailbox), order: newOrder(), gone: make(chan struct{}), over: make(chan struct{}), killed: make(chan struct{}),
	}
}

// task is what somebody wants of a call's goroutine; done is called when it has ended.
type task struct{ run, done func() }

// do runs f on the call's goroutine and waits for it; false: the call is over
// and f did not run.
func (c *call) do(f func()) bool {
	done := make(chan struct{})
	select {
	case c.box <- task{f, func() { close(done) }}:
	case <-c.over:
		return false
	}
	select {
	case <-done:
		return true
	case <-c.over:
	}
	select {
	case <-done: // f itself ended the call
		return true
	default:
		return false
	}
}

// end is called when the call's goroutine has ended, in whatever way.
func (c *call) end() {
	defer close(c.over)
	defer c.ua.unregister(c)
	c.release()
}

// run is the call's goroutine. Whoever starts it calls end next.
func (c *call) run() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	look := time.NewTicker(c.ua.cfg.T1)
	defer look.Stop()
	c.listen()
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
		alarm, stop := c.alarms.wait()
		select {
		case f := <-c.box:
			c.step(f.run, f.done)
		case <-alarm:
			c.step(c.alarms.ring)
		case req := <-acks:
			// Old clients give the ACK the INVITE's branch, as RFC 2543 had it.
			c.step(func() { c.handle(req, nil) })
		case <-due:
			c.step(c.repeat)
		case <-lost: // canceled, or the caller's connection is gone
			c.invite.cancel(errCanceled)
		case <-looks:
			if closed(c.invite.tx.Connection()) {
				c.invite.tx.Terminate()
			}
		case <-c.byeDone:
			c.state = over
		case <-c.killed:
			c.killed = nil
			c.step(func() { c.hangup(context.Cause(c.ua.ctx)) })
		case <-c.ua.kill:
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
		c.channel.release()
	}
	c.state = over
	c.listen()
}

// step runs f; a panic in it ends this call and no other.
func (c *call) step(f func(), after ...func()) {
	isolate.Do("sip/step", c.broke, func() {
		f()
		c.listen()
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
	ours := req.From().Params.GetOr("tag", "") == c.dialog.remoteTag
	if !c.trusts(source(req).Addr()) {
		c.ua.rejections.add(Rejection{Source: source(req).Addr(), Code: 481, Cause: CauseForeign}, time.Now())
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
	if seq := req.CSeq().SeqNo; c.dialog.hasRemoteSeq && seq <= c.dialog.remoteSeq {
		c.refuse(req, tx, 500)
		return
	}
	c.dialog.remoteSeq, c.dialog.hasRemoteSeq = req.CSeq().SeqNo, true
	if from := source(req); from.IsValid() && req.Transport() == c.dialog.transport {
		c.dialog.peer = from // a translator or a new connection may have moved it
	}
	switch {
	case req.Method == gosip.BYE:
		c.farewell(req, tx)
	case c.state == ending || c.state == over:
		c.refuse(req, tx, 481)
	case req.Method == gosip.PRACK:
		c.pracked(req, tx)
	case req.Method == gosip.OPTIONS:
		c.respond(req, tx, 200, allow())
	case c.state == early && req.Method == gosip.UPDATE && len(req.Body()) == 0:
		c.dialog.retarget(req.Contact())
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
		c.respond(req, tx, 405, allow())
	}
}

// farewell takes the far end's BYE.
func (c *call) farewell(req *gosip.Request, tx *gosip.ServerTx) {
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
	_ = tx.Respond(response(req, code, "", c.dialog.localTag, extra...))
}

// hangup ends the call from our side; cause, an *media.Ended or anything else,
// goes into the BYE's Reason. RFC 3261 section 15.1.1: not before the ACK.
func (c *call) hangup(cause error) {
	if c.state != up {
		return
	}
	if c.confirm == nil || !c.confirm.first {
		c.bye(cause)
	} else if c.goodbye == nil { // the first reason is the true one
		c.goodbye = cmp.Or(cause, errHangup)
	}
}

// errHangup stands for a goodbye without a reason.
var errHangup = errors.New("sip: hung up")

func (c *call) bye(cause error) {
	c.dropConfirm()
	c.state, c.goodbye = ending, nil
	req := c.dialog.request(gosip.BYE, 0)
	if r := reasonHeader(cause); r != "" {
		req.AppendHeader(gosip.NewHeader("Reason", r))
	}
	c.ua.address(&c.dialog, req)
	done := make(chan struct{})
	c.byeDone = done
	answered := false
	// It ends with the transaction, at most 64*T1; run waits for it.
	isolate.Go("sip/bye", nil, func() {
		_, _, _ = c.ask(req)
		answered = true
	}, func() {
		if !answered { // after a panic, once: a carrier charges until it has one
			_ = c.ua.tp.WriteMsg(req)
		}
	}, func() { close(done) })
}
