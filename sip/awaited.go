package sip

import (
	"parley/media"
	"parley/media/isolate"
	"parley/media/srtp"
	"parley/sip/sdp"
)

// awaited is what stands between the answer to a call and its leg: the ACK of our first 2xx, or media, and the keys of the media
// where a handshake brings them.
type awaited struct {
	media    sdp.Media  // that was agreed on, unless the ACK brings it
	answered chan error // who waits for the call to be answered; has room for one
	unwatch  func()     // stops reading what comes to the media's port; nil: nobody reads
}

func newAwaited(m sdp.Media) *awaited { return &awaited{media: m, answered: make(chan error, 1)} }

// awaitMedia has media confirm a call whose ACK is lost (see mediasession.Proof). The far end checks the path meanwhile, and where
// DTLS brings the keys, these confirm the call, with its ACK or without.
func (c *call) awaitMedia() {
	w := c.awaited
	proof, err := c.audio.Proof(w.media)
	if err != nil {
		return // the ACK alone counts
	}
	c.ua.work.Add(1) // the call's goroutine still counts, so Run has not stopped waiting
	proved, fault, done := false, error(nil), make(chan struct{})
	isolate.Go("sip/proof", func(err error) { fault = err }, func() { proved = proof.Await() }, func() { close(done) }, func() {
		switch { // not before: unwatch waits on the call's goroutine
		case fault != nil:
			c.lost(fault)
		case proved:
			c.do(func() {
				if c.awaited == w {
					c.confirmed(c.unacked, nil)
				}
			})
		}
	}, c.ua.work.Done)
	if w.media.Keyless() {
		c.audio.Handshake(w.media, func(keys srtp.Keys, err error) { c.do(func() { c.keyed(w, keys, err) }) })
	}
	w.unwatch = func() { proof.Stop(done) }
}

// secure waits for the keys of a call that is confirmed, for as long as for an ACK.
func (c *call) secure() {
	c.state, c.unacked = securing, nil
	c.timers.after(64*c.ua.cfg.T1, nil, func() {
		if c.state == securing {
			c.fail(&media.Ended{Reason: media.Failed, Detail: DetailNoKeys})
		}
	})
}

// keyed takes the keys that the handshake has brought, or its error.
func (c *call) keyed(w *awaited, keys srtp.Keys, err error) {
	switch {
	case c.awaited != w || c.state == leaving && err != nil: // it is over, or its BYE waits for the ACK
	case err != nil:
		c.log.Info("sip: no keys", "err", err)
		c.state = securing // a BYE waits no longer
		c.fail(&media.Ended{Reason: media.Failed, Detail: DetailNoKeys})
	case c.state == securing:
		w.media.Keys = keys
		c.dropUnacked()
		c.establish(w, w.media)
	default: // its ACK is lost, or comes later than its media
		w.media.Keys = keys
		c.confirmed(c.unacked, nil)
	}
}

// establish begins the media of a call that is answered now.
func (c *call) establish(w *awaited, m sdp.Media) {
	c.state = up
	if err := c.begin(m); err != nil {
		c.mediaFailed(err)
		return
	}
	c.keepReachable()
	w.answered <- nil
	c.proceed()
}

// mediaFailed ends a call whose media cannot begin.
func (c *call) mediaFailed(err error) {
	c.state = up
	c.log.Info("sip: no media", "err", err)
	c.fail(&media.Ended{Reason: media.Failed, Detail: DetailNoCodec})
}
