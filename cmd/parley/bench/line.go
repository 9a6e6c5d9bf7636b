package bench

import (
	"context"
	"errors"
	"strconv"
	"time"

	"parley/api/wsagent/client"
	"parley/media"
	"parley/sip"
	"parley/sip/header"
	"parley/sip/simulated"
)

// heard is 20 ms of the agent's side as a caller received it.
type heard struct {
	at    time.Time
	level float64 // dBFS
	cut   bool    // the agent was interrupted: everything not played is dropped
}

// line is a caller's end of a call. It belongs to one goroutine.
type line interface {
	rate() media.Rate
	// say sends 20 ms.
	say(samples []int16) error
	// hear waits until something is received or the time has come; watching, it
	// notices what is received within half a millisecond.
	hear(until time.Time, watching bool) (heard, bool)
	// hangUp ends the call and waits for its end.
	hangUp()
}

var errGone = errors.New("the call has ended")

// heardQueue is more than comes while a caller sleeps: half a minute of audio.
const heardQueue = 1500

// webLine is a caller at an agent socket. What it hears carries the time at which
// it was read from the socket.
type webLine struct {
	c     *client.Client
	in    chan heard
	ready chan struct{}
	running
}

// running is what a line does until it is hung up.
type running struct {
	end  func()
	done chan struct{} // closed when it has ended
}

func runLine(run func(context.Context)) running {
	done := make(chan struct{})
	return running{begin(func(ctx context.Context) { defer close(done); run(ctx) }), done}
}

func (r running) hangUp() { r.end() }

// gone is errGone once the line has ended.
func (r running) gone() error {
	select {
	case <-r.done:
		return errGone
	default:
		return nil
	}
}

// dialWeb connects and waits until agent i is ready.
func dialWeb(ctx context.Context, addr string, i int) (*webLine, error) {
	l := &webLine{in: make(chan heard, heardQueue), ready: make(chan struct{})}
	c, err := client.Dial(ctx, "http://"+addr, "any", "", client.Options{OnEvent: l.event})
	if err != nil {
		return nil, err
	}
	l.c, l.running = c, runLine(func(ctx context.Context) { c.Run(ctx) })
	if err := c.Control("prompt", strconv.Itoa(i)); err != nil {
		l.hangUp()
		return nil, err
	}
	select {
	case <-l.ready:
		return l, nil
	case <-l.done:
		err = errGone
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	l.hangUp()
	return nil, err
}

func (l *webLine) event(e client.Event) {
	switch {
	case e.Kind == client.Audio:
		n := client.RateOut.FrameSamples()
		for s := e.Samples; len(s) > 0; s = s[min(n, len(s)):] {
			l.put(heard{at: e.At, level: level(s[:min(n, len(s))])})
		}
	case e.Kind == client.Status && e.Text == "interrupted":
		l.put(heard{at: e.At, level: -100, cut: true})
	case e.Kind == client.Status && e.Text == "prompt_set":
		close(l.ready)
	}
}

// put drops what a caller that no longer listens does not take.
func (l *webLine) put(h heard) {
	select {
	case l.in <- h:
	default:
	}
}

func (l *webLine) rate() media.Rate { return client.RateIn }

func (l *webLine) say(samples []int16) error {
	if err := l.gone(); err != nil {
		return err
	}
	return l.c.Send(samples)
}

func (l *webLine) hear(until time.Time, _ bool) (heard, bool) {
	t := time.NewTimer(time.Until(until))
	defer t.Stop()
	select {
	case h := <-l.in:
		return h, true
	case <-t.C:
		return heard{}, false
	}
}

// watchEvery is how often a watching phone looks at its socket.
const watchEvery = 500 * time.Microsecond

// phoneLine is a caller on the telephone. It sends on a clock of its own, as
// telephone networks do, not when its leg would.
type phoneLine struct {
	leg *sip.Leg
	running
}

func dialPhone(ctx context.Context, phone *simulated.Phone, uri string) (*phoneLine, error) {
	leg, err := phone.Dial(ctx, sip.Target{URI: uri, From: header.Identity{Number: "bench"}})
	if err != nil {
		return nil, err
	}
	return &phoneLine{leg, runLine(func(ctx context.Context) { _ = leg.Run(ctx) })}, nil // its end is what matters: say notices it
}

func (l *phoneLine) rate() media.Rate { return l.leg.Format().In }

func (l *phoneLine) say(samples []int16) error {
	if err := l.gone(); err != nil {
		return err
	}
	select {
	case <-l.leg.Events():
	default:
	}
	l.leg.Write(media.Frame{Samples: samples, Rate: l.rate()})
	return nil
}

func (l *phoneLine) hear(until time.Time, watching bool) (heard, bool) {
	for {
		now := time.Now()
		if f, ok := l.leg.Read(now); ok {
			return heard{at: now, level: level(f.Samples)}, true
		}
		left := until.Sub(now)
		if left <= 0 {
			return heard{}, false
		}
		if watching {
			left = min(left, watchEvery)
		}
		time.Sleep(left)
	}
}
