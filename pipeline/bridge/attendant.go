package bridge

import (
	"context"
	"time"

	"parley/media"
	"parley/media/isolate"
	"parley/pipeline/playout"
)

// Attendant is an answered leg on which no agent talks, or none yet: texts are said to it, it is asked for a key, hears a ringing
// tone, and is connected to another. Its methods belong to one goroutine; the leg runs on one of its own, until End.
type Attendant struct {
	*Second
	stop  context.CancelCauseFunc
	over  chan struct{} // closed when it is known how the leg has ended
	ended media.Ended   // which that is
}

// Attend begins to run a leg. ctx is its life, whose cause says how it ends.
func Attend(ctx context.Context, leg media.Leg) *Attendant {
	a := &Attendant{Second: &Second{leg: leg, gone: make(chan struct{})}, over: make(chan struct{})}
	life, kill := context.WithCancelCause(ctx)
	a.stop = a.run(&Transferee{Life: life, Start: func(run func(), after ...func()) {
		isolate.Go("pipeline/bridge/attended", kill, run, after...)
	}}, func(e media.Ended) {
		kill(nil)
		a.ended = e
		close(a.over)
	})
	return a
}

// End ends the leg, unless it has ended before, waits for that, and returns how it ended.
func (a *Attendant) End(why media.Ended) media.Ended {
	a.stop(&why)
	<-a.over
	return a.ended
}

// Say plays a text to its end. An error: the leg has ended first, or ctx.
func (a *Attendant) Say(ctx context.Context, said []*playout.Sentence) error {
	return a.tell(ctx, said)
}

// Ask plays a text until a key is pressed, and waits for one for so long after its end. 0: none was.
func (a *Attendant) Ask(ctx context.Context, said []*playout.Sentence, patience time.Duration) (key byte, err error) {
	p, until := a.plays(said), time.Time{}
	done := func() bool {
		if key != 0 || !p.Drained() {
			return key != 0
		}
		if until.IsZero() {
			until = time.Now().Add(patience)
		}
		return !time.Now().Before(until)
	}
	err = a.attend(ctx, next(p), done, func(media.Frame) {}, func(e media.LegEvent) {
		if e.Kind == media.LegDigit && key == 0 {
			key = e.Digit
		}
	})
	return key, err
}

// Ring plays the ringing tone of a number's country until it is answered, or is not.
func (a *Attendant) Ring(ctx context.Context, number string, over <-chan struct{}) error {
	r := Ringback{cadence: toneOf(number), since: time.Now()}
	done := func() bool {
		select {
		case <-over:
			return true
		default:
			return false
		}
	}
	return a.attend(ctx, func() (media.Frame, bool) { return r.sound(time.Now(), a.leg.Format().Out) }, done, func(media.Frame) {}, ignored)
}

// Join connects the leg to another until one of the two has ended, or ctx: then the cause is the error.
func (a *Attendant) Join(ctx context.Context, other *Attendant) error {
	b := Connect(a.leg, a.leg, other.Second)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			b.Relay(time.Now())
			timer.Reset(time.Until(b.Next(a.leg.Next())))
		case e := <-a.leg.Events():
			b.FromCaller(e)
		case e := <-other.leg.Events():
			b.FromSecond(e)
		case <-a.gone:
			return nil
		case <-other.gone:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Telephone is a leg as an agent has it on the telephone.
type Telephone interface {
	media.Leg
	media.Keypad
	Transferrer
}

// HandOver gives the leg to a conductor, as l, which is the same one with what an agent may do on it. The attendant does nothing with
// it any more.
func (a *Attendant) HandOver(l Telephone) media.Leg {
	return handed{l, a, media.FromDuration(time.Duration(a.written) * media.FrameDuration)}
}

// handed is a leg that runs already, for which a new count begins.
type handed struct {
	Telephone
	by   *Attendant
	base media.Time // what was played before
}

// Join implements Joiner.
func (h handed) Join(ctx context.Context, other media.Leg) error {
	if j, ok := h.Telephone.(Joiner); ok {
		return j.Join(ctx, other)
	}
	return ErrNoReferral
}

// Run implements media.Leg.
func (h handed) Run(ctx context.Context) error {
	select {
	case <-h.by.gone:
	case <-ctx.Done():
		h.by.stop(context.Cause(ctx))
		<-h.by.over
		return nil
	}
	<-h.by.over
	if h.by.ended == *media.EndedBy(nil) {
		return nil
	}
	return &h.by.ended
}

// Played implements media.Leg.
func (h handed) Played(now time.Time) media.Time {
	return max(0, h.Telephone.Played(now)-h.base)
}
