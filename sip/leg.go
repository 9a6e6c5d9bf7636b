package sip

import (
	"context"
	"errors"
	"net/netip"
	"sync/atomic"
	"time"

	"parley/media"
	"parley/media/isolate"
	"parley/media/rtp"
	"parley/sip/mediasession"
	"parley/sip/sdp"
	"parley/sip/transport"
	"parley/sip/trunk"
)

// Leg is an answered call: media over RTP, signalling by the call behind it, whose handle it is for
// other goroutines. It is a media.Leg; its methods follow that contract.
type Leg struct {
	media.Leg // the stream, but for Run

	call   *call
	stream *mediasession.Stream
	since  time.Time
	begun  atomic.Bool
}

var _ media.Leg = (*Leg)(nil)

// openAudio takes ports for the call, and begins the negotiation about them.
func (c *call) openAudio() (err error) {
	cfg := c.ua.audio
	cfg.Log = c.log
	c.audio, err = mediasession.Open(cfg, c.described())
	return err
}

// described is what the call's trunk wants our descriptions to hold.
func (c *call) described() sdp.Local {
	local := sdp.Local{Addr: c.dialog.Self.Addr(), Codecs: c.ua.cfg.Codecs, SRTP: c.ua.cfg.SRTP, DTLS: c.ua.audio.Identity.Fingerprint()}
	if l := c.trunk; l != nil {
		local.SRTP, local.NoEvents = l.SRTP, l.Has(trunk.AudioKeys)
		if len(l.Codecs) > 0 {
			local.Codecs = l.Codecs
		}
	}
	return local
}

// peer is what the call's media needs to know of the far end.
func (c *call) peer() mediasession.Peer {
	p := mediasession.Peer{Addr: c.dialog.Peer.Addr(), Reach: c.reached}
	if k := c.trunk; k != nil {
		p.Allow, p.Vouched = k.Allow, k.Has(trunk.VouchedMedia)
	}
	return p
}

// reached is where media to a described address goes. A far end behind an address translator describes an address of
// its own network, which is nowhere for us, or worse, somebody in ours: until its audio shows more, it is sent to where
// its signalling comes from.
func (c *call) reached(at netip.AddrPort) netip.AddrPort {
	if c.dialog.Forbids(at.Addr(), "UDP") {
		return netip.AddrPortFrom(c.dialog.Peer.Addr(), at.Port())
	}
	return at
}

// begin creates the leg for what was negotiated. It runs on the call's goroutine.
func (c *call) begin(m sdp.Media) error {
	stream, err := c.audio.Begin(c.peer(), m)
	if err != nil {
		return err
	}
	c.leg = &Leg{Leg: stream, call: c, stream: stream, since: time.Now()}
	return nil
}

// Run carries the call until one side ends it. It returns nil when the far end
// hung up or ctx ended (which sends BYE, with the cause of ctx as Reason), and
// *media.Ended when the far end's media stopped (media_timeout), when it never
// confirmed the call (no_ack), or when a later offer went wrong.
func (l *Leg) Run(ctx context.Context) error {
	if !l.begun.CompareAndSwap(false, true) {
		return errors.New("sip: Run was called twice")
	}
	defer l.stream.Release()
	inner, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer l.hangup(isolate.Internal) // unless it was hung up before
	done := make(chan struct{})
	isolate.Go("sip/media", l.stream.End, func() { l.stream.End(l.stream.Run(inner)) }, func() { close(done) })
	ended, err := l.stream.Watch(ctx, l.call.gone.Done())
	if !ended {
		err = l.call.undone(nil)
	}
	cause := err
	if ctx.Err() != nil {
		cause = context.Cause(ctx)
	}
	l.hangup(cause)
	stop()
	<-done
	return err
}

// hangup says goodbye, unless the far end has.
func (l *Leg) hangup(cause error) {
	l.call.do(func() { l.call.hangup(cause) })
}

// abandon gives back the ports of a leg whose Run was never called.
func (l *Leg) abandon() {
	if l.begun.CompareAndSwap(false, true) {
		l.stream.Release()
	}
}

// Answered is when the call was answered: when a 2xx to our INVITE came, or when the far
// end confirmed ours (see Incoming.Answer).
func (l *Leg) Answered() time.Time { return l.since }

// CallID is the dialog's Call-ID, for logs and traces.
func (l *Leg) CallID() string { return l.call.key.callID }

// SendDigits presses keys: '0' to '9', '*', '#', 'A' to 'D'. See rtp.Session.
func (l *Leg) SendDigits(digits string) error { return l.stream.SendDigits(digits) }

// MuteWhile has the call send no media while muted says so. See rtp.Session.
func (l *Leg) MuteWhile(muted func() bool) { l.stream.MuteWhile(muted) }

// Trace is the signalling of the call so far, also after its end.
func (l *Leg) Trace() *transport.Trace { return l.call.trace }

// Stats describes the media so far.
func (l *Leg) Stats() rtp.Stats { return l.stream.Stats() }
