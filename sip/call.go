package sip

import (
	"context"
	"log/slog"
	"net/netip"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media/isolate"
	"parley/sip/dialog"
	"parley/sip/mediasession"
	"parley/sip/transport"
	"parley/sip/trunk"
)

// state of a call's dialog.
type state uint8

const (
	early    state = iota // incoming, not decided
	calling               // outgoing, not answered
	answered              // our 2xx waits for its ACK
	securing              // the ACK has come, and the handshake for the keys is to come
	leaving               // our 2xx waits for its ACK, and we hang up with that
	up                    // the far end has answered, or confirmed our answer
	yielded               // up, and another user agent may take the call: we send no request but BYE
	adopting              // another user agent's, until the far end takes our re-INVITE
	ending                // our BYE is under way
	over                  // nothing more will be sent
)

// call is a dialog and the goroutine that owns it. Everything below the line
// belongs to that goroutine; others reach it through do.
type call struct {
	ua  *UserAgent
	key dialogKey
	log *slog.Logger

	trace *transport.Trace // of its messages; set before the call is registered

	*owner
	departure
	// ---
	state    state
	dialog   dialog.Dialog
	trunk    *trunk.Trunk // the one that the call belongs to, nil for none; never changed
	heard    *transport.Grant
	server   *serverInvite // the INVITE that began an incoming call; nil: the call is ours
	forks    forks         // the early dialogs of the INVITE that began a call of ours
	modify   modification  // re-INVITEs and UPDATEs, and the session that they refresh
	transfer *transfer     // our latest REFER; nil: there was none
	unacked  *unacked      // our 2xx that waits for its ACK
	awaited  *awaited      // what the call waits for since its answer; nil: nothing
	ack      ack           // of the 2xx to our latest INVITE
	ownBye   ownBye
	timers   timers                // what is to be done later
	audio    *mediasession.Session // nil: no ports are open yet
	leg      *Leg                  // nil until there is media
}

func newCall(u *UserAgent, d dialog.Dialog, on *trunk.Trunk) *call {
	return &call{
		ua: u, key: dialogKey{d.CallID, d.LocalTag}, log: u.log.With("call_id", d.CallID), dialog: d, trunk: on,
		timers: timers{clock: u.cfg.clock}, trace: new(transport.Trace), heard: u.layer.Grant(),
		owner: newOwner(u.cfg.T1), departure: newDeparture(),
	}
}

// far is what a dialog needs of the user agent, and of the trunk it belongs to, if any.
func (u *UserAgent) far(on *trunk.Trunk, auth *dialog.Authorizer) dialog.Far {
	if on != nil {
		return on.Far(auth)
	}
	return dialog.Far{Layer: u.layer, Auth: auth, T1: u.cfg.T1}
}

// facing is the address under which a peer reaches us, on a trunk if there is one.
func (u *UserAgent) facing(on *trunk.Trunk, peer netip.Addr) netip.Addr {
	if on != nil {
		return on.Facing(peer)
	}
	return u.layer.Facing(peer)
}

// own runs f with the dialog, as dialog.Owner wants it.
func (c *call) own(f func(*dialog.Dialog)) bool { return c.do(func() { f(&c.dialog) }) }

// request sends a request of the call's dialog, other than ACK and CANCEL, beside the call;
// then runs on the call's goroutine with the request as it was sent last and its final response
// or error, unless the call is over by then.
func (c *call) request(req *gosip.Request, then func(*gosip.Request, *gosip.Response, error)) {
	c.beside("sip/in-dialog", func() {
		sent, res, err := dialog.Owner(c.own).Do(c.life, req)
		c.do(func() { then(sent, res, err) })
	})
}

// beside runs f on a goroutine beside the call's, which still counts, so Run has not stopped
// waiting.
func (c *call) beside(name string, f func()) {
	c.ua.work.Add(1)
	isolate.Go(name, c.lost, f, c.ua.work.Done)
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
		for _, f := range c.forks.byTag {
			want = append(want, f.dialog.Hosts()...)
		}
	}
	c.heard.Set(want...)
}

// end is called when the call's goroutine has ended, in whatever way.
func (c *call) end() {
	defer c.finish(dialog.ErrOver)
	for _, f := range c.ends {
		defer f()
	}
	c.dropUnacked()
	c.audio.Close()
	c.state = over
	c.updateAllowedSources()
}

// run is the call's goroutine. end is called next.
func (c *call) run() {
	look := time.Tick(c.ua.cfg.T1)
	c.updateAllowedSources()
	for c.state != over {
		var due <-chan time.Time
		var lost <-chan struct{}
		var looks <-chan time.Time
		if c.state == early && !c.canceled() {
			lost, looks = c.server.tx.Done(), look
		}
		var acks <-chan *gosip.Request
		if c.unacked != nil {
			due, acks = time.After(time.Until(c.unacked.next)), c.unacked.tx.Acks()
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
			c.server.cancel(errCanceled)
		case <-looks:
			if transport.ConnectionClosed(c.server.tx.Connection()) {
				c.server.tx.Terminate()
			}
		case <-c.ownBye.done:
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
	if c.server != nil { // not before: the leg's Run may end with this context, and then asks why
		c.server.cancel(cause)
	}
	c.decline(500, "")
	c.hangup(cause)
}

// lost ends a call after a panic on another goroutine of it.
func (c *call) lost(cause error) { c.do(func() { c.broke(cause) }) }
