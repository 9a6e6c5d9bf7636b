package sip

import (
	"errors"
	"time"

	"parley/media"
	"parley/media/srtp"
	"parley/sip/dialog"
	"parley/sip/sdp"
	"parley/sip/transport"
)

// The versions of Passport. A user agent takes no others, so that releases may differ for a while: one that knows nothing of
// encrypted calls takes none for a plain one.
const (
	passportVersion  = 1
	encryptedVersion = 2 // of a call whose audio is encrypted
)

// Passport is what another user agent needs to carry on a call: see Leg.Yield and UserAgent.Adopt. It is sent as JSON. It holds no
// password and no key, but who speaks with whom.
type Passport struct {
	Version  int
	Dialog   dialog.State
	Trunk    string // its name; empty: the call belongs to none
	Placed   bool   // we began the call
	Updates  bool   // the far end takes UPDATE
	Session  SessionTerms
	Media    sdp.State
	Far      srtp.Position `json:",omitzero"` // how far the far end's encrypted stream had come
	Answered time.Time
}

// version is the one that a passport of this call has.
func (p *Passport) version() int {
	if p.Media.Suite != srtp.None {
		return encryptedVersion
	}
	return passportVersion
}

// SessionTerms are what both ends have agreed on about the call's session timer (RFC 4028).
type SessionTerms struct {
	Interval time.Duration
	Least    time.Duration // the largest Min-SE of the far end; 0: it has none
	Agreed   bool          // the far end has a timer, too
	Ours     bool          // we refresh
}

var (
	// ErrBusy says that a call cannot be yielded at the moment, because a change of it is under way, or never, because a handshake
	// has brought its keys, or its far end makes connectivity checks or is a browser, whose one connection stays where it is.
	ErrBusy = errors.New("sip: the call cannot be carried on elsewhere now")
	// ErrCarriedOn is how Run ends after Release: another user agent carries the call on.
	ErrCarriedOn = &media.Ended{Reason: media.Completed, Detail: DetailCarriedOn}
)

// Yield readies the call for another user agent, which adopts it by the passport. Until Reclaim or Release, this end sends and hears
// audio as before, answers the far end's requests, refuses to change the call (491), and sends no request but BYE, if it hangs up.
// ErrBusy and ErrOver say why it cannot, and change nothing.
func (l *Leg) Yield() (p Passport, err error) {
	err = ErrOver
	l.call.do(func() {
		if p, err = l.call.passport(); err == nil {
			l.call.state = yielded
		}
	})
	p.Answered = l.since
	return p, err
}

// Passport is what Yield would return now; the call stays as it is. Another user agent may adopt the call by it when this one is dead.
func (l *Leg) Passport() (p Passport, err error) {
	err = ErrOver
	l.call.do(func() { p, err = l.call.passport() })
	p.Answered = l.since
	return p, err
}

// Reclaim goes on with a call that nobody has adopted.
func (l *Leg) Reclaim() {
	l.call.do(func() {
		if l.call.state == yielded {
			l.call.state = up
			l.call.proceed() // a refresh may have become due
		}
	})
}

// Release ends a leg whose call another user agent has adopted. Run returns ErrCarriedOn, and the far end hears nothing of it.
func (l *Leg) Release() {
	l.call.do(func() {
		if l.call.state == yielded {
			l.call.leave(ErrCarriedOn)
			l.call.state = over
		}
	})
}

// Abandon ends a leg whose call another user agent has adopted, although this one has not yielded it. Run returns ErrCarriedOn, and the
// far end hears nothing of it.
func (l *Leg) Abandon() {
	l.call.do(func() {
		if l.call.state == up || l.call.state == yielded {
			l.call.dropUnacked()
			l.call.leave(ErrCarriedOn)
			l.call.state = over
		}
	})
}

func (c *call) passport() (p Passport, err error) {
	m := &c.modify
	negotiated, ok := c.audio.SDP.State()
	switch {
	case c.state == ending || c.state == over:
		return p, ErrOver
	case c.state != up || c.unacked != nil || m.state != modIdle || c.transfer.waits() || !ok || c.dialog.Transport == transport.OverWebSocket:
		return p, ErrBusy
	}
	p = Passport{Dialog: c.dialog.State, Placed: m.placed, Updates: m.updates, Media: negotiated,
		Session: SessionTerms{m.session.interval, m.session.least, m.session.agreed, m.session.ours}, Far: c.leg.stream.FarPosition()}
	p.Version = p.version()
	if c.trunk != nil {
		p.Trunk = c.trunk.Name
	}
	return p, nil
}
