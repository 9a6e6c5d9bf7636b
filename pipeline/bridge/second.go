package bridge

import (
	"cmp"
	"context"
	"errors"
	"time"

	"parley/media"
	"parley/media/isolate"
	"parley/pipeline/agent"
	"parley/pipeline/amd"
	"parley/pipeline/playout"
)

// Errors of consultations, as the model gets them.
var (
	errLeftSummary = errors.New("the person hung up before the caller was put through")
	errMachine     = errors.New("nobody answered: an answering machine did")
	errNoVoice     = errors.New("the summary could not be spoken")
)

// Second is a leg that was called beside the call.
type Second struct {
	leg     media.Leg
	gone    chan struct{} // closed when it has ended
	written int           // frames that attend has written
	caller  *Transferee   // for whom it was called; nil: for nobody
}

// NewSecond returns a leg that another goroutine runs; it never ends.
func NewSecond(leg media.Leg) *Second { return &Second{leg: leg} }

// consult calls somebody at a number, plays the summary there, or to both, and has the conductor connect
// the two.
func (t *Transfer) consult(ctx context.Context, c *Transferee, to *agent.Destination, number, summary string) (string, error) {
	if t.Hold != nil {
		waiting, over := context.WithCancel(ctx)
		defer over()
		c.Start(func() {
			if p := t.Hold(waiting, c.Leg.Format().Out); p != nil && waiting.Err() == nil { // else it would sound in the next transfer
				t.held.Store(p)
			}
		})
	}
	said, err := c.Utter(ctx, summary)
	if err != nil {
		return "", errNoVoice
	}
	leg, over, err := t.Consult(ctx, number)
	if err != nil {
		return "", err
	}
	s := &Second{leg: leg, gone: make(chan struct{}), caller: c}
	stop := s.run(c, over)
	err = t.screen(ctx, s, c.Language, said)
	switch {
	case err != nil:
	case to.Stay:
		err = t.introduce(ctx, c, s, to.Label(), said)
	default:
		err = s.tell(ctx, said)
	}
	if err != nil {
		ended := media.Ended{Reason: media.APIHangup}
		if errors.Is(err, errMachine) {
			ended.Reason = media.Voicemail
		}
		stop(&ended)
		return "", err
	}
	switch joined, err := t.join(ctx, c, s, to.Stay); {
	case err != nil:
		stop(&media.Ended{Reason: media.APIHangup})
		return "", err
	case joined:
		stop(&media.Ended{Reason: media.Completed, Detail: media.Transferred})
		return moved, ErrTransferred
	}
	if !c.Connect(ctx, s) {
		stop(&media.Ended{Reason: media.APIHangup})
	}
	return moved, ErrConnected
}

// join has the far ends connect the two without this server, where they can; joined: they have. Meanwhile the person hears silence, so
// it is not tried when the two talk already. Who refuses is connected here, unless the person has gone.
func (t *Transfer) join(ctx context.Context, c *Transferee, s *Second, talking bool) (joined bool, err error) {
	leg, able := c.Leg.(Joiner)
	if !able || t.Record || talking {
		return false, nil
	}
	outcome, refused := make(chan error, 1), error(isolate.Internal)
	c.Start(func() { refused = leg.Join(ctx, s.leg) }, func() { outcome <- refused })
	known := false
	done := func() bool {
		select {
		case refused := <-outcome:
			known, joined = true, refused == nil
		default:
		}
		return known
	}
	err = s.attend(ctx, next(new(playout.Playout)), done, func(media.Frame) {}, ignored)
	if err != nil && !known { // who joins them hangs up here, perhaps before the outcome is known
		joined = <-outcome == nil
	}
	if joined {
		return true, nil
	}
	return false, err
}

// run runs the leg until it ends or stop is called, and then says how it ended.
func (s *Second) run(c *Transferee, over func(media.Ended)) (stop context.CancelCauseFunc) {
	life, stop := context.WithCancelCause(c.Life)
	fault, begun := error(isolate.Internal), false
	c.Start(func() {
		begun = true
		fault = s.leg.Run(life)
	}, func() {
		if !begun {
			_ = s.leg.Run(life) // which is over: it says goodbye
		}
	}, func() { close(s.gone) }, func() {
		defer stop(nil)
		over(*media.EndedBy(cmp.Or(context.Cause(life), fault)))
	})
	return stop
}

// screen waits in silence, for amd.Deadline at most, until it is known whether a person hears
// the announcement: a machine would record it, and then the caller. Only sound decides, and
// a machine whose greeting begins late passes for a person.
func (t *Transfer) screen(ctx context.Context, s *Second, language string, said []*playout.Sentence) error {
	if len(said) == 0 || t.Listen == nil {
		return nil
	}
	rate := s.leg.Format().In
	listener, err := t.Listen(rate)
	if err != nil {
		return err
	}
	who := amd.New(language, rate)
	err = s.attend(ctx, next(new(playout.Playout)), func() bool { return who.Verdict() != amd.Undecided }, func(f media.Frame) {
		who.Listen(f)
		_, a := listener.Hear(f)
		who.Step(a.Speech, a.Level)
	}, ignored)
	if err == nil && who.Verdict() == amd.Machine {
		err = errMachine
	}
	return err
}

// tell plays a summary to the second leg.
func (s *Second) tell(ctx context.Context, said []*playout.Sentence) error {
	p := s.plays(said)
	return s.attend(ctx, next(p), p.Drained, func(media.Frame) {}, ignored)
}

// plays is what plays sentences to the leg.
func (s *Second) plays(said []*playout.Sentence) *playout.Playout {
	p := new(playout.Playout)
	p.Begin(s.leg.Format().Out)
	for _, sentence := range said {
		p.Add(sentence)
	}
	return p
}

// next gives the frames of p; false: there is none.
func next(p *playout.Playout) func() (media.Frame, bool) {
	return func() (media.Frame, bool) {
		f, _, ok := p.Next(0)
		return f, ok
	}
}

// ignored takes keys that mean nothing yet.
func ignored(media.LegEvent) {}

// attend plays what next gives to the leg, whose methods it calls until it returns, and gives what
// comes from there to hear and press, until done says that it is enough.
func (s *Second) attend(ctx context.Context, next func() (media.Frame, bool), done func() bool, hear func(media.Frame), press func(media.LegEvent)) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for !done() {
		timer.Reset(time.Until(s.leg.Next()))
		select {
		case <-timer.C:
		case e := <-s.leg.Events():
			press(e)
		case <-s.gone:
			return errLeftSummary
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		now := time.Now()
		for f, ok := s.leg.Read(now); ok; f, ok = s.leg.Read(now) {
			hear(f)
		}
		for n := s.leg.Due(now); n > 0; n-- {
			f, ok := next()
			if !ok {
				f = media.Silence(s.leg.Format().Out)
			}
			s.leg.Write(f)
			s.written++
		}
	}
	return nil
}
