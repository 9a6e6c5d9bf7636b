package sip

import (
	"time"

	"parley/media"
	"parley/media/isolate"
	"parley/media/rtp"
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

// keyless says whether a handshake is to bring keys before there can be media.
func (w *awaited) keyless() bool { return w.media.DTLS != sdp.DTLS{} && w.media.Keys == srtp.Keys{} }

// awaitMedia has media confirm a call whose ACK is lost (see rtp.Proof). What comes until then is thrown away, as all that came
// before the answer, but for what concerns the path: the far end checks it now, and where DTLS brings the keys, these confirm
// the call, with its ACK or without.
func (c *call) awaitMedia() {
	w := c.awaited
	conn, way, keyless, done := c.audio.pair.RTP, c.audio.path, w.keyless(), make(chan struct{})
	proof, err := rtp.NewProof(w.media.Remote, w.media.Keys)
	if err != nil {
		return // the ACK alone counts
	}
	c.ua.work.Add(1) // the call's goroutine still counts, so Run has not stopped waiting
	proved, fault := false, error(nil)
	isolate.Go("sip/proof", func(err error) { fault = err }, func() {
		var b [2048]byte
		for !proved {
			n, from, err := conn.ReadFromUDPAddrPort(b[:])
			if err != nil {
				break
			}
			if way != nil && !rtp.IsMedia(b[:n]) {
				way.Receive(b[:n], from)
				continue
			}
			proved = !keyless && proof.Packet(b[:n], from)
		}
	}, func() { close(done) }, func() {
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
	if keyless {
		way.begin(c.ua.identity, w.media.DTLS, func(keys srtp.Keys, err error) { c.do(func() { c.keyed(w, keys, err) }) })
	}
	w.unwatch = func() {
		_ = conn.SetReadDeadline(time.Unix(1, 0))
		<-done
		_ = conn.SetReadDeadline(time.Time{})
	}
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
