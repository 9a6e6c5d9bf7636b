package sip

import (
	"context"
	"errors"
	"net/netip"
	"sync/atomic"
	"time"

	"parley/media"
	"parley/media/codec"
	"parley/media/isolate"
	"parley/media/rtp"
	"parley/sip/dialog"
	"parley/sip/rtpport"
	"parley/sip/sdp"
	"parley/sip/transport"
	"parley/sip/trunk"
)

// Leg is an answered call: media over RTP, signalling by the call behind it, whose handle it is for
// other goroutines. It is a media.Leg; its methods follow that contract.
type Leg struct {
	media.Leg // the session, but for Run and Events

	call    *call
	pair    *rtpport.Pair
	session *rtp.Session
	events  chan media.LegEvent
	failed  chan error // one overflow of events, from any goroutine
	since   time.Time
	begun   atomic.Bool
	keypad  atomic.Uint32 // the path that digits come over
}

var _ media.Leg = (*Leg)(nil)

// The paths that digits come over. The first that brings one is believed for
// the rest of the call: some far ends send every key both ways.
const (
	keysOverRTP  = 1
	keysOverINFO = 2
)

// begin creates the leg for what was negotiated. It runs on the call's goroutine.
func (c *call) begin(m sdp.Media) error {
	discard(c.audio.pair.RTP)
	discard(c.audio.pair.RTCP)
	session, err := c.audio.session(c.rtpConfig(m))
	if err != nil {
		return err
	}
	c.audio.leg = &Leg{Leg: session, call: c, pair: c.audio.pair, session: session, since: time.Now(),
		events: make(chan media.LegEvent, media.EventQueue), failed: make(chan error, 1)}
	c.audio.apply(m)
	return nil
}

// rtpConfig is the RTP session's, without its sockets. Media from where the
// signalling comes from is as good as from where the description says.
func (c *call) rtpConfig(m sdp.Media) rtp.Config {
	cfg := rtp.Config{
		Mux: m.Mux, Remote: c.reached(m.Remote), RemoteRTCP: c.reached(m.RTCP),
		Format: format(m), Opus: c.audio.sdp.Speaks(codec.Opus), CNAME: dialog.NewTag(),
		Keys:              m.Keys,
		FirstMediaTimeout: c.ua.cfg.FirstRTPTimeout, MediaTimeout: c.ua.cfg.RTPTimeout,
	}
	if p := c.audio.path; p != nil {
		cfg.Path, cfg.Remote = p, p.address()
	}
	if a := c.dialog.Peer.Addr(); a.IsValid() {
		cfg.Trusted = []netip.Prefix{netip.PrefixFrom(a, a.BitLen())}
	}
	if k := c.trunk; k != nil {
		cfg.Trusted = append(cfg.Trusted, k.Allow...)
		cfg.Vouched = k.Has(trunk.VouchedMedia)
	}
	return cfg
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

// format is the one that was negotiated.
func format(m sdp.Media) rtp.Format {
	return rtp.Format{Codec: m.Codec, Takes: m.Common, Opus: m.Opus, Events: m.Events, FastEvents: m.FastEvents}
}

// Run carries the call until one side ends it. It returns nil when the far end
// hung up or ctx ended (which sends BYE, with the cause of ctx as Reason), and
// *media.Ended when the far end's media stopped (media_timeout), when it never
// confirmed the call (no_ack), or when a later offer went wrong.
func (l *Leg) Run(ctx context.Context) error {
	if !l.begun.CompareAndSwap(false, true) {
		return errors.New("sip: Run was called twice")
	}
	defer l.pair.Release()
	inner, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer l.hangup(isolate.Internal) // unless it was hung up before
	ended := make(chan error, 1)
	played := error(isolate.Internal)
	isolate.Go("sip/media", l.fail, func() { played = l.session.Run(inner) }, func() { ended <- played })

	ua, local := l.call.ua, netip.AddrPortFrom(l.call.dialog.Self.Addr(), l.pair.Port) // where we are described to be
	watch := watch{log: l.call.log.With("local", local.String()), counters: &ua.counters, silence: ua.cfg.noRTPAfter, begun: time.Now()}
	tick := time.Tick(ua.cfg.watchEvery)
	var err error
	running := true
	for running {
		select {
		case e := <-l.session.Events():
			if e.Kind != media.LegDigit || l.keysCome(keysOverRTP) {
				l.emit(e)
			}
			continue
		case now := <-tick:
			watch.look(now, l.Stats())
			continue
		case err = <-ended:
			ended = nil
		case err = <-l.failed:
		case <-l.call.gone.Done():
			err = l.call.undone(nil)
		case <-ctx.Done():
			err = l.call.undone(nil)
		}
		running = false
	}
	cause := err
	if ctx.Err() != nil {
		cause = context.Cause(ctx)
	}
	l.hangup(cause)
	stop()
	if ended != nil {
		<-ended
	}
	return err
}

// hangup says goodbye, unless the far end has.
func (l *Leg) hangup(cause error) {
	l.call.do(func() { l.call.hangup(cause) })
}

// abandon gives back the ports of a leg whose Run was never called.
func (l *Leg) abandon() {
	if l.begun.CompareAndSwap(false, true) {
		l.pair.Release()
	}
}

// infoDigit reports a key that came by INFO.
func (l *Leg) infoDigit(digit byte) {
	if l.keysCome(keysOverINFO) {
		l.emit(media.LegEvent{Kind: media.LegDigit, Digit: digit})
	}
}

func (l *Leg) keysCome(path uint32) bool {
	return l.keypad.CompareAndSwap(0, path) || l.keypad.Load() == path
}

// emit queues an event; one that does not fit ends the leg, see media.Leg.
func (l *Leg) emit(e media.LegEvent) {
	select {
	case l.events <- e:
	default:
		l.fail(&media.Ended{Reason: media.Failed, Detail: DetailOverflow})
	}
}

// fail ends the leg for a reason of its own. It does not block.
func (l *Leg) fail(why error) {
	select {
	case l.failed <- why:
	default: // it ends for another
	}
}

// Answered is when the call was answered: when a 2xx to our INVITE came, or when the far
// end confirmed ours (see Incoming.Answer).
func (l *Leg) Answered() time.Time { return l.since }

// CallID is the dialog's Call-ID, for logs and traces.
func (l *Leg) CallID() string { return l.call.key.callID }

// SendDigits presses keys: '0' to '9', '*', '#', 'A' to 'D'. See rtp.Session.
func (l *Leg) SendDigits(digits string) error { return l.session.SendDigits(digits) }

// Trace is the signalling of the call so far, also after its end.
func (l *Leg) Trace() *transport.Trace { return l.call.trace }

// Stats describes the media so far.
func (l *Leg) Stats() rtp.Stats { return l.session.Stats() }

// Events is that of media.Leg.
func (l *Leg) Events() <-chan media.LegEvent { return l.events }
