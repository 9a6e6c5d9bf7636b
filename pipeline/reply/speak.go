package reply

import (
	"cmp"
	"context"
	"errors"
	"time"

	"parley/inference"
	"parley/media/isolate"
)

// errRate is the fault of a voice whose audio cannot be played.
var errRate = errors.New("a sample rate that no call has")

// speech is a reply on its way through the voice. One utterance speaks it, unless that breaks: then another speaks
// what is left. It belongs to one goroutine.
type speech struct {
	m     *Maker
	o     *Order
	ctx   context.Context
	in    <-chan piece // nil: all is written
	k     *Making      // which counts the sentences ahead
	left  []piece      // not given to the voice, in order
	given []piece      // and not complete; the first is being spoken, as sentence seg
	seg   int
	u     *utterance // nil: none is open
}

// utterance is one of the voice's.
type utterance struct {
	inference.Utterance
	ctx    context.Context // ends when the conductor stops the voice
	stop   context.CancelCauseFunc
	ended  bool          // it has all pieces
	length time.Duration // of its audio
	began  time.Duration // of that before the sentence that is being spoken
}

// run gives the pieces a voice, at most SentencesAhead before they are played. What a voice has left unsaid is spoken
// again where the conductor says so.
func (s *speech) run() {
	if s.o.Request == nil {
		s.left = recited(s.o.Text, s.o.Agent.Language)
	}
	var failed error
	for failed == nil && s.ctx.Err() == nil && (s.in != nil || len(s.left)+len(s.given) > 0) {
		failed = s.step()
	}
	s.post(Part{Kind: Finished, Err: failed})
	if s.u != nil {
		s.leave(s.ctx.Err() != nil)
	}
}

// step waits for what comes next: a piece, a place for it, or audio.
func (s *speech) step() (failed error) {
	in, ahead, chunks := s.in, s.k.ahead, (<-chan inference.Chunk)(nil)
	if len(s.left) == 0 {
		ahead = nil
	} else {
		in = nil
	}
	if s.u != nil {
		chunks = s.u.Chunks()
	}
	select {
	case p, ok := <-in:
		if ok {
			s.left = append(s.left, p)
		} else {
			s.in = nil
		}
	case ahead <- struct{}{}:
		s.give()
	case c, ok := <-chunks:
		failed = s.take(c, ok)
	case <-s.ctx.Done():
	}
	if s.u != nil && !s.u.ended && s.in == nil && len(s.left) == 0 {
		s.u.ended = true
		s.u.End()
	}
	return failed
}

// give gives the voice the next piece, unless its audio was made ahead or there is nothing to speak.
func (s *speech) give() {
	p, form := s.left[0], s.o.Agent.Form(s.left[0].text)
	s.left = s.left[1:]
	p.way, p.made = newWayBack(form), s.m.lines.get(lineKey(&s.o.Agent, form))
	p.voiced = p.made == nil && audible(form)
	if p.voiced && s.u == nil {
		s.u = &utterance{}
		s.u.ctx, s.u.stop = context.WithCancelCause(s.ctx)
		s.u.Utterance, _ = inference.Streaming(s.m.tts).Open(s.u.ctx, voiceOf(&s.o.Agent)) // faults show in the chunks
	}
	if s.given = append(s.given, p); len(s.given) == 1 {
		s.begin()
	}
	if p.voiced {
		s.u.Say(form.Spoken + " ") // one that it does not take breaks it
	}
}

// begin is the turn of the first piece given, and of the next where that needs no voice.
func (s *speech) begin() {
	if len(s.given) == 0 {
		return
	}
	p, stop := &s.given[0], context.CancelCauseFunc(func(error) {})
	if p.voiced {
		stop, s.u.began = s.u.stop, s.u.length
	}
	s.post(Part{Kind: Sentence, Text: p.text, Form: p.way.form, Sent: p.sent, At: p.at, Whole: p.whole, Stop: stop})
	if p.asked = time.Now(); p.voiced {
		return
	}
	for _, c := range p.made {
		s.post(Part{Kind: Audio, Chunk: c, Sent: p.asked, At: p.asked})
	}
	s.complete()
}

// complete is the end of the first piece given.
func (s *speech) complete() {
	s.post(Part{Kind: Spoken})
	s.given, s.seg = s.given[1:], s.seg+1
	s.begin()
}

// post delivers a part of sentence seg.
func (s *speech) post(p Part) {
	p.Gen, p.Seg = s.o.Gen, s.seg
	s.m.crew.Post(s.ctx, p)
}

// take takes a chunk of the first piece given. An utterance whose chunks end before the last piece is spoken has failed.
func (s *speech) take(c inference.Chunk, ok bool) (failed error) {
	switch {
	case !ok:
		return s.broke(s.fault(inference.ErrUtteranceEnded))
	case errors.Is(c.Err, isolate.Internal):
		s.m.crew.Fail(c.Err)
		return c.Err
	case c.Err != nil:
		return s.broke(c.Err)
	case len(c.Samples) > 0 && !c.Rate.Valid():
		return s.broke(s.fault(errRate))
	}
	if p := &s.given[0]; !c.Last || len(c.Samples) > 0 {
		c.Shift(-s.u.began)
		p.way.show(&c)
		p.voice = cmp.Or(p.voice, c.Sent)
		s.u.length += c.Length()
		s.post(Part{Kind: Audio, Chunk: c, Sent: cmp.Or(p.voice, p.asked), At: cmp.Or(c.Got, time.Now())})
	}
	if c.Last {
		s.complete()
	}
	return nil
}

// broke ends an utterance that failed, or that the conductor stopped for its silence. The conductor says what is left of the
// sentence that was being spoken; another utterance speaks that and what follows.
func (s *speech) broke(err error) (failed error) {
	if s.u.ctx.Err() != nil {
		err = s.fault(context.Cause(s.u.ctx))
	}
	s.leave(true)
	if len(s.given) == 0 {
		return nil
	}
	again := make(chan string, 1)
	s.post(Part{Kind: Broken, Err: err, Again: again})
	select {
	case <-s.ctx.Done():
		return nil
	case text, retry := <-again:
		if !retry {
			return err
		}
		for range s.given[1:] {
			s.k.Played() // it is not begun, and takes its place anew
		}
		if s.given[0].text = text; text == "" {
			s.given = s.given[1:]
		}
		s.left, s.given, s.seg = append(s.given, s.left...), nil, s.seg+1
	}
	return nil
}

// leave waits until the utterance is over; cut has it drop what it has not spoken.
func (s *speech) leave(cut bool) {
	if cut {
		s.u.Cancel()
	}
	for range s.u.Chunks() {
	}
	s.u.stop(ErrConcluded)
	s.u = nil
}

func (s *speech) fault(err error) error {
	return &inference.Error{Engine: s.m.tts.Info().Name, Fault: inference.ErrFailed, Err: err}
}
