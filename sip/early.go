package sip

import (
	"errors"
	"time"

	"parley/media"
	"parley/media/rtp"
)

// Early plays to a caller before the call is answered: tones of our own, an
// announcement. It belongs to one goroutine, until Answer or Reject.
type Early struct{ session *rtp.Session }

// ErrNoOffer says that a caller has not said where early media goes, or cannot be reached before the answer.
var ErrNoOffer = errors.New("sip: the INVITE has no offer")

// Progress tells the caller that there is something to hear before the answer (183 with
// the answer to their offer, RFC 3960 section 3.1), and returns what it is played with.
// The description is that of the answer to come. ErrNoOffer: the caller made none;
// ErrUnconfirmed: try again; a *Refused is as in Ring.
func (in *Incoming) Progress() (*Early, error) {
	var e *Early
	err := error(ErrDecided)
	in.call.do(func() { e, err = in.call.progress() })
	return e, err
}

func (c *call) progress() (*Early, error) {
	if err := c.prepare(); err != nil {
		return nil, err
	}
	if c.server.answer == nil || c.audio.path != nil { // it is reached, and decrypts, only after the answer
		return nil, ErrNoOffer
	}
	cfg := c.rtpConfig(c.server.media)
	cfg.Rate = media.Rate8k
	session, err := c.audio.session(cfg)
	if err != nil {
		return nil, err
	}
	if err := c.sendProvisional(183, c.server.answer); err != nil {
		return nil, err
	}
	return &Early{session}, nil
}

// Next is when audio is due again.
func (e *Early) Next() time.Time { return e.session.Next() }

// Due is how many frames are due.
func (e *Early) Due(now time.Time) int { return e.session.Due(now) }

// Write plays 20 ms at 8 kHz, whatever the codec is.
func (e *Early) Write(f media.Frame) { e.session.Write(f) }
