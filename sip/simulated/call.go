package simulated

import (
	"cmp"
	"context"
	"errors"
	"time"

	"parley/media"
	"parley/media/isolate"
	"parley/media/rtp"
	"parley/sip"
	"parley/sip/header"
)

// PhoneConfig is one call of a softphone.
type PhoneConfig struct {
	URI    string // sip:user@host[:port][;transport=tcp]
	Number string // who calls; empty: "phone"
	Name   string // the display name
	Phone  *Phone // that runs; nil: one for this call only

	// Play is what the caller says, 8 kHz mono, once, from the answer on.
	Play []int16
	// Digits are pressed one after another, from DigitsAfter after the answer.
	Digits      string
	DigitsAfter time.Duration
	// Wait is how long the caller stays on the line after it has said and
	// pressed everything; then it hangs up.
	Wait time.Duration
	// RingTimeout bounds the ringing. 0: 60 s.
	RingTimeout time.Duration
	// MaxDuration bounds the answered call, and so the recording. 0: 10 min.
	MaxDuration time.Duration

	// Ringing, if not nil, is called with 180 and 183.
	Ringing func(code int)
	// Event, if not nil, is called with keys and holds, from the loop that plays. It
	// must not block.
	Event func(media.LegEvent)
}

const (
	defaultRing = 60 * time.Second
	defaultMax  = 10 * time.Minute
)

// PhoneResult is the outcome of a call.
type PhoneResult struct {
	CallID   string
	Ring     time.Duration // from the INVITE to the answer
	Duration time.Duration // from the answer to the end
	Heard    []int16       // all that the far end said, 8 kHz mono, silences included
	Digits   string        // keys the far end pressed
	// FarEnd says that the far end hung up; else the phone did.
	FarEnd bool
	// Stats are the RTP session's; Lateness in them are the phone's late sends.
	Stats rtp.Stats
}

// Call makes one call from end to end. A call that is not answered is a
// *sip.NotAnswered; one that ended in an unusual way returns its result beside
// an *media.Ended.
func Call(ctx context.Context, cfg PhoneConfig) (*PhoneResult, error) {
	cfg.RingTimeout, cfg.MaxDuration = cmp.Or(cfg.RingTimeout, defaultRing), cmp.Or(cfg.MaxDuration, defaultMax)
	if cfg.Phone == nil {
		at, err := home(cfg.URI)
		if err != nil {
			return nil, err
		}
		p, err := NewPhone(at)
		if err != nil {
			return nil, err
		}
		// The phone outlives ctx by its goodbyes.
		running, stop := context.WithCancel(context.WithoutCancel(ctx))
		done := make(chan struct{})
		var broke context.CancelCauseFunc
		ctx, broke = context.WithCancelCause(ctx)
		isolate.Go("sip/simulated/phone", broke, func() { _ = p.Run(running) }, func() { close(done) })
		defer func() { stop(); <-done; broke(nil) }()
		cfg.Phone = p
	}
	begun := time.Now()
	ringing, cancel := context.WithTimeout(ctx, cfg.RingTimeout)
	defer cancel()
	leg, err := cfg.Phone.Dial(ringing, sip.Target{
		URI: cfg.URI, From: header.Identity{Number: cmp.Or(cfg.Number, "phone"), Display: cfg.Name}, Ringing: cfg.Ringing})
	if err != nil {
		return nil, err
	}
	return cfg.converse(ctx, leg, time.Since(begun))
}

// errDone ends the leg's context when the caller has nothing more to do.
var errDone = errors.New("simulated: hang up")

// converse runs the leg and conducts it until one side hangs up.
func (cfg *PhoneConfig) converse(ctx context.Context, leg *sip.Leg, ring time.Duration) (*PhoneResult, error) {
	r := &PhoneResult{CallID: leg.CallID(), Ring: ring}
	answered := time.Now()
	c := &caller{cfg: cfg, leg: leg, result: r, answered: answered}
	var err error
	r.FarEnd, err = hold(ctx, leg, c.turn, c.event)
	r.Duration = time.Since(answered)
	r.Stats = leg.Stats()
	return r, err
}

// hold runs an answered leg until the far end hangs up or turn, which is called
// whenever audio is due, says that we do.
func hold(ctx context.Context, leg *sip.Leg, turn func(now time.Time) bool, event func(media.LegEvent)) (farEnd bool, err error) {
	ctx, hangup := context.WithCancelCause(ctx)
	defer hangup(nil)
	ended := make(chan error, 1)
	over := error(isolate.Internal)
	isolate.Go("sip/simulated/leg", hangup, func() { over = leg.Run(ctx) },
		func() { _ = leg.Run(ctx) }, // which says goodbye, unless it has run
		func() { ended <- over })
	wake := time.NewTimer(0)
	defer wake.Stop()
	for {
		select {
		case err := <-ended:
			return ctx.Err() == nil && err == nil, err
		case e := <-leg.Events():
			event(e)
		case <-wake.C:
			if turn(time.Now()) {
				hangup(errDone)
				return false, <-ended
			}
			wake.Reset(time.Until(leg.Next()))
		}
	}
}

// caller is the one who speaks into the phone.
type caller struct {
	cfg      *PhoneConfig
	leg      *sip.Leg
	result   *PhoneResult
	answered time.Time
	said     int       // samples of Play
	silent   bool      // all is said
	pressed  bool      // all is pressed
	idle     time.Time // when all is said and pressed
	frame    [160]int16
}

func (c *caller) event(e media.LegEvent) {
	if e.Kind == media.LegDigit {
		c.result.Digits += string(rune(e.Digit))
	}
	if c.cfg.Event != nil {
		c.cfg.Event(e)
	}
}

// turn does what one wake-up brings; true: the caller hangs up.
func (c *caller) turn(now time.Time) bool {
	for f, ok := c.leg.Read(now); ok; f, ok = c.leg.Read(now) {
		c.result.Heard = append(c.result.Heard, f.Samples...)
	}
	for n := c.leg.Due(now); n > 0; n-- {
		c.speak()
	}
	since := now.Sub(c.answered)
	if since >= c.cfg.MaxDuration {
		return true
	}
	if c.cfg.Digits != "" && !c.pressed {
		if since < c.cfg.DigitsAfter {
			return false
		}
		c.pressed = true
		if err := c.leg.SendDigits(c.cfg.Digits); err != nil {
			return true
		}
		// Each key takes 100 ms and the pause after it as much.
		c.idle = now.Add(time.Duration(len(c.cfg.Digits)) * 200 * time.Millisecond)
	}
	if !c.silent {
		if c.said < len(c.cfg.Play) {
			return false
		}
		c.silent = true
		if c.idle.Before(now) {
			c.idle = now
		}
	}
	return now.Sub(c.idle) >= c.cfg.Wait
}

// speak writes the next 20 ms, silence when everything is said.
func (c *caller) speak() {
	n := copy(c.frame[:], c.cfg.Play[min(c.said, len(c.cfg.Play)):])
	clear(c.frame[n:])
	c.said += n
	c.leg.Write(media.Frame{Samples: c.frame[:], Rate: media.Rate8k})
}
