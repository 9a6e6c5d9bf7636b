package inference

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"parley/media/isolate"
)

// FailoverASR tries recognisers in order. Unlike a reply, speech in progress can
// change hands: the stream keeps the audio of utterances without a last result
// (TapeLength at most) and replays it to the next engine when one dies. With a
// single engine it opens a new stream on that. Safe for use from several
// goroutines.
type FailoverASR struct {
	engines []ASR
	health  *health
}

// NewFailoverASR needs at least one engine and panics without.
func NewFailoverASR(c FailoverConfig, engines ...ASR) *FailoverASR {
	return &FailoverASR{engines, newHealth(c, engines)}
}

// Info is like FailoverLLM's.
func (f *FailoverASR) Info() Info { return f.health.info() }

// Open implements ASR.
func (f *FailoverASR) Open(ctx context.Context, c ASRConfig) (Recognition, error) {
	s := &relay{f: f, config: c, tape: NewTape(c.Format.SampleRate()), results: make(chan Result, relayQueue), done: make(chan struct{}), lost: make([]bool, len(f.engines)),
		only: speechOnly{all: f.Info().Feed == FeedContinuous}}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	if err := s.open(); err != nil {
		s.cancel(err)
		return nil, err
	}
	isolate.Go("inference/recognition", s.cancel, s.run, s.abandon, func() { close(s.results) }, func() { close(s.done) })
	return s, nil
}

// relayQueue holds the results a consumer has not read: a second of partials at
// the rate of one a frame. When it is full the engine waits.
const relayQueue = 50

var errClosed = errors.New("stream closed")

// relay is a recognition stream that outlives its engines.
type relay struct {
	f       *FailoverASR
	ctx     context.Context
	cancel  context.CancelCauseFunc
	results chan Result
	done    chan struct{}

	// Only Open and then run touch these.
	engine int                     // index of the engine in use
	stop   context.CancelCauseFunc // ends the engine's own context
	losses int                     // engines lost since the last final result
	lost   []bool                  // which

	mu      sync.Mutex
	config  ASRConfig // AgentSaid and Turns are the latest
	tape    *Tape
	inner   Recognition // nil between engines and after the end
	offset  int         // our utterance number minus the engine's
	failure error       // a fault of our own that ends the stream
	only    speechOnly
}

// Write implements Recognition. The lock is shared only with the rare events of
// a final result and a change of engine, and held for a copy.
func (s *relay) Write(samples []int16) {
	s.mu.Lock()
	s.tape.Write(samples)
	if s.inner != nil && (!s.only.cut || s.only.speaks) {
		s.inner.Write(samples)
		_, s.only.sent = s.tape.Span()
	}
	s.mu.Unlock()
}

// Finish implements Recognition.
func (s *relay) Finish() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.tape.Finish()
	if !ok && s.failure == nil {
		s.failure = &Error{Engine: s.f.Info().Name, Fault: ErrFailed, Err: errors.New("too many utterances wait")}
		s.cancel(s.failure)
	}
	if s.inner != nil && ok {
		s.inner.Finish()
	}
	_, to := s.tape.Span()
	s.only.ended(to)
	return n
}

// Resume implements Recognition.
func (s *relay) Resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tape.Resume()
	if s.inner != nil {
		s.inner.Resume()
	}
	s.resumed()
}

// Said implements Recognition. The next engine gets it, too.
func (s *relay) Said(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.config.AgentSaid = text
	if s.inner != nil {
		s.inner.Said(text)
	}
}

// Configure implements Recognition.
func (s *relay) Configure(o TurnOptions) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.config.Turns = o
	if s.inner != nil {
		s.inner.Configure(o)
	}
}

// Lag implements Lagging: it is that of the engine in use, and nothing where that does not say.
func (s *relay) Lag() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if inner, knows := s.inner.(Lagging); knows {
		return inner.Lag()
	}
	return 0
}

// Results implements Recognition.
func (s *relay) Results() <-chan Result { return s.results }

// Close implements Recognition.
func (s *relay) Close() {
	s.cancel(errClosed)
	<-s.done
}

// abandon closes the engine's stream, if run has panicked and left it.
func (s *relay) abandon() {
	s.mu.Lock()
	left := s.inner
	s.inner = nil
	s.mu.Unlock()
	if left != nil {
		left.Close()
		s.stop(errClosed)
	}
}

// run passes results on until the stream ends or nobody is left to recognise.
func (s *relay) run() {
	for {
		err := s.pass()
		s.mu.Lock()
		lost, failure := s.inner, s.failure
		s.inner = nil
		s.mu.Unlock()
		lost.Close()
		s.stop(errClosed)
		if s.ctx.Err() != nil {
			if failure != nil {
				s.report(failure)
			}
			return
		}
		s.f.health.failed(s.engine, err)
		s.losses++
		s.lost[s.engine] = true
		if s.losses < max(2, len(s.f.engines)) {
			err = s.open()
			if err == nil {
				continue
			}
		}
		if s.ctx.Err() == nil {
			s.report(err)
		}
		return
	}
}

// report makes err the last result. The consumer may have left, so it does not
// wait longer than the stream lives, or at all once that has ended.
func (s *relay) report(err error) {
	r := Result{Utterance: s.current(), Confidence: -1, Err: err}
	select {
	case s.results <- r:
		return
	default:
	}
	select {
	case s.results <- r:
	case <-s.ctx.Done():
	}
}

func (s *relay) current() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tape.Current()
}

// pass hands the engine's results on under our numbers until its channel closes,
// and returns why it did.
func (s *relay) pass() error {
	name := s.f.health.infos[s.engine]().Name
	for r := range s.inner.Results() { // run alone changes inner while it runs
		if r.Err != nil {
			return r.Err
		}
		s.mu.Lock()
		r.Engine = name
		r.Utterance += s.offset
		s.only.timed(r.Utterance, r.Words, s.config.Format.SampleRate())
		switch {
		case r.Last:
			s.tape.Done(r.Utterance)
		case r.Final:
			// Where its words ended is not known. Taking all audio so far as heard
			// may lose a word if the engine dies now; keeping it would say words twice.
			s.settle(r.Utterance)
		}
		s.mu.Unlock()
		if r.Final {
			s.losses = 0
			clear(s.lost)
			s.f.health.well(s.engine)
		}
		select {
		case s.results <- r:
		case <-s.ctx.Done():
			return context.Cause(s.ctx)
		}
	}
	return &Error{Engine: name, Fault: ErrFailed, Err: errors.New("stream ended")}
}

// settle forgets the audio of an utterance up to its cut, or up to now.
func (s *relay) settle(utterance int) {
	_, to := s.tape.Span()
	for _, c := range s.tape.Waiting() {
		if c.Utterance == utterance {
			to = c.End
		}
	}
	s.tape.Settle(to)
}

// open finds an engine that opens and gives it the audio that waits.
func (s *relay) open() error {
	var worst error
	order := s.f.health.order()
	// A refusal leaves no mark on an engine, but this stream has just seen it.
	slices.SortStableFunc(order, func(a, b int) int { return btoi(s.lost[a]) - btoi(s.lost[b]) })
	for _, i := range order {
		r, stop, err := s.openOne(i)
		if s.ctx.Err() != nil {
			if r != nil {
				r.Close()
				stop(errClosed)
			}
			return context.Cause(s.ctx)
		}
		if err != nil {
			s.f.health.failed(i, err)
			worst = graver(worst, err)
			continue
		}
		s.engine, s.stop = i, stop
		s.replay(r)
		return nil
	}
	return worst
}

// openOne opens engine i under a context that ends with the stream, or at First
// when the engine has not opened by then.
func (s *relay) openOne(i int) (Recognition, context.CancelCauseFunc, error) {
	ctx, cancel := context.WithCancelCause(s.ctx)
	inTime := func() bool { return true }
	if first := s.f.health.First; first > 0 {
		inTime = time.AfterFunc(first, func() { cancel(ErrStalled) }).Stop
	}
	s.mu.Lock()
	config := s.config
	s.mu.Unlock()
	if !s.f.health.infos[i]().Local {
		config.Hints.Prompt = ""
	}
	r, err := s.f.engines[i].Open(ctx, config)
	late := !inTime()
	if err == nil && late {
		r.Close()
		r, err = nil, s.f.health.stalled(i)
	}
	if err != nil {
		cancel(err)
		if late {
			err = s.f.health.stalled(i)
		}
		return nil, nil, err
	}
	return r, cancel, nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// replay gives a new engine what the lost one owed and makes it the stream's.
func (s *relay) replay(r Recognition) {
	s.mu.Lock()
	defer s.mu.Unlock()
	from, to := s.tape.Span()
	s.offset = s.tape.Current() - 1
	if w := s.tape.Waiting(); len(w) > 0 {
		s.offset = w[0].Utterance - 1
	}
	s.only.cut = s.only.all && s.f.health.infos[s.engine]().Feed != FeedContinuous
	for _, c := range s.tape.Waiting() {
		s.feed(r, s.only.wants(c.Utterance, from), c.End)
		r.Finish()
		from = c.End
	}
	if s.only.sent = to; !s.only.cut || s.only.speaks {
		s.feed(r, s.only.wants(s.tape.Current(), from), to)
	}
	s.inner = r
}

// feed gives an engine what is kept between two positions.
func (s *relay) feed(r Recognition, from, to int64) {
	second := make([]int16, 0, int(s.config.Format.SampleRate())) // the most one Write takes
	for ; from < to; from += int64(cap(second)) {
		r.Write(s.tape.Append(second[:0], from, min(to, from+int64(cap(second)))))
	}
}
