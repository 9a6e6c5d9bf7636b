package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"parley/media"
	"parley/media/isolate"
	"parley/pipeline/amd"
	"parley/pipeline/journal"
	"parley/pipeline/playout"
	"parley/pipeline/reply"
	"parley/pipeline/turn"
)

// ErrNoReferral is the error of a Transferrer whose far end does not do transfers at
// all, and has not tried.
var ErrNoReferral = errors.New("the far end does not transfer calls")

// Errors of transfers, as the model gets them.
var (
	errLeftSummary = errors.New("the person hung up before the caller was put through")
	errMachine     = errors.New("nobody answered: an answering machine did")
	errNoVoice     = errors.New("the summary could not be spoken")
	errFormats     = errors.New("the two calls cannot be connected")
	errArguments   = errors.New("the arguments do not fit the function's parameters")
)

// transfer hands the caller over. It runs beside the call. Whether the far end is asked
// to do it or somebody is called first, the caller stays with the agent until somebody
// has answered.
func (c *Call) transfer(ctx context.Context, arguments json.RawMessage) (string, error) {
	var in transferArguments
	if err := json.Unmarshal(arguments, &in); err != nil {
		return "", errArguments
	}
	t := c.cfg.Transfer
	to, err := t.find(in.To)
	if err != nil {
		return "", err
	}
	number, err := t.Check(ctx, to.Number)
	if err != nil {
		return "", err
	}
	if t.Consult == nil || in.Summary == "" && !to.Warm {
		leg, able := c.far.(Transferrer)
		err := ErrNoReferral
		if able {
			err = leg.Transfer(ctx, number)
		}
		if err == nil {
			return `{"transferred":true}`, errTransferred
		}
		if t.Consult == nil || !errors.Is(err, ErrNoReferral) {
			return "", err
		}
	}
	return c.consult(ctx, number, clipped(in.Summary, maxSummary))
}

// second is a leg that was called beside the call.
type second struct {
	leg  media.Leg
	gone chan struct{} // closed when it has ended
}

// consult calls a number, plays the summary there, and has the conductor connect
// the two.
func (c *Call) consult(ctx context.Context, number, summary string) (string, error) {
	said, err := c.record(ctx, summary)
	if err != nil {
		return "", err
	}
	leg, over, err := c.cfg.Transfer.Consult(ctx, number)
	if err != nil {
		return "", err
	}
	s := &second{leg: leg, gone: make(chan struct{})}
	life, stop := context.WithCancelCause(c.crew.life)
	fault, begun := error(isolate.Internal), false
	c.crew.spawn("pipeline/second-leg", func() {
		begun = true
		fault = leg.Run(life)
	}, func() {
		if !begun {
			_ = leg.Run(life) // which is over: it says goodbye
		}
	}, func() { close(s.gone) }, func() {
		defer stop(nil)
		switch {
		case life.Err() != nil:
			over(*endedBy(context.Cause(life)))
		case fault != nil:
			over(*endedBy(fault))
		default:
			over(media.Ended{Reason: media.UserHangup})
		}
	})
	if a, b := c.leg.Format(), leg.Format(); a.In != b.Out || b.In != a.Out {
		err = errFormats
	} else if err = c.screen(ctx, s, said); err == nil {
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
	if !c.crew.post(ctx, message{kind: msgConnect, second: s}) {
		stop(&media.Ended{Reason: media.APIHangup})
	}
	return `{"transferred":true}`, errConnected
}

// errConnected is the result of a transfer that the conductor carries on.
var errConnected = errors.New("connected")

// record makes the audio of a summary.
func (c *Call) record(ctx context.Context, text string) ([]*playout.Sentence, error) {
	var list []*playout.Sentence
	for i, p := range reply.Pieces(text, c.cfg.Agent.Language) {
		s := &playout.Sentence{Seg: i, Text: p, Complete: true}
		for chunk, err := range c.replies.Maker.Utter(ctx, &c.cfg.Agent, c.cfg.Agent.Form(p)) {
			if err != nil {
				return nil, errNoVoice
			}
			if chunk.Rate.Valid() {
				s.Append(chunk)
			}
		}
		list = append(list, s)
	}
	return list, nil
}

// screen waits in silence, for amd.Deadline at most, until it is known whether a person hears
// the announcement: a machine would record it, and then the caller. Only sound decides, and
// a machine whose greeting begins late passes for a person.
func (c *Call) screen(ctx context.Context, s *second, said []*playout.Sentence) error {
	if len(said) == 0 || c.cfg.Transfer.Listen == nil {
		return nil
	}
	rate := s.leg.Format().In
	listener, err := c.cfg.Transfer.Listen(rate)
	if err != nil {
		return err
	}
	who := amd.New(c.cfg.Agent.Language, rate)
	err = s.attend(ctx, new(playout.Playout), func() bool { return who.Verdict() != amd.Undecided }, func(f media.Frame) {
		who.Listen(f)
		_, a := listener.Hear(f)
		who.Step(a.Speech, a.Level)
	})
	if err == nil && who.Verdict() == amd.Machine {
		err = errMachine
	}
	return err
}

// tell plays a summary to the second leg.
func (s *second) tell(ctx context.Context, said []*playout.Sentence) error {
	p := new(playout.Playout)
	p.Begin(s.leg.Format().Out)
	for _, sentence := range said {
		p.Add(sentence)
	}
	return s.attend(ctx, p, p.Drained, func(media.Frame) {})
}

// attend plays p to the second leg, whose methods it calls until it returns, and gives what
// comes from there to hear, until done says that it is enough.
func (s *second) attend(ctx context.Context, p *playout.Playout, done func() bool, hear func(media.Frame)) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for !done() {
		timer.Reset(time.Until(s.leg.Next()))
		select {
		case <-timer.C:
		case <-s.leg.Events(): // keys mean nothing yet
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
			f, _, ok := p.Next(0)
			if !ok {
				rate := s.leg.Format().Out
				f = media.Frame{Samples: silence[:rate.FrameSamples()], Rate: rate}
			}
			s.leg.Write(f)
		}
	}
	return nil
}

// connect takes the second leg over: from here on the caller talks to whom they were
// transferred to, and the agent's part is over.
func (c *Call) connect(s *second) {
	if c.replies.Latest.Live() {
		c.conclude(Cut, c.heardBy(c.now()))
	}
	c.playout.Cut(false)
	c.tools.unfinished = false // the agent does not go on after the functions
	c.bridge = &bridge{second: s, caller: c.far}
	if c.cfg.Transfer.Record { // else a third person is recorded who does not know of it
		c.bridge.caller = c.leg.Leg
	}
	c.step(turn.Event{Kind: turn.Connected})
	if asr := c.caller.Detach(); asr != nil { // a bridged call is not recognised
		c.crew.spawn("pipeline/recogniser-bridged", asr.Close)
	}
}

// moving is the transfer under way; nil: none is.
func (t *toolbox) moving() *waiting {
	for _, w := range t.waiting {
		if w.call.Name == TransferCall && w.held == nil {
			return w
		}
	}
	return nil
}

// movedPatience is how long a transfer may take to say that it came about, when the
// far end has left.
const movedPatience = 2 * time.Second

// moved says whether the far end, which has left, left because it was transferred.
func (c *Call) moved() bool {
	w := c.tools.moving()
	if w == nil {
		return false
	}
	t := time.NewTimer(movedPatience)
	defer t.Stop()
	for {
		select {
		case m := <-c.crew.box:
			if m.kind == msgFunction && m.id == w.call.ID {
				if !errors.Is(m.err, errTransferred) {
					return false
				}
				c.receive(m, journal.Received, func(m message) {
					c.tools.unfinished = false
					c.toolEnded(m.id, m.text, "ok")
				})
				return true
			}
			c.receive(m, journal.Late, c.takeLate)
		case <-t.C:
			return false
		}
	}
}
