package recogniser

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"parley/inference"
	"parley/media/isolate"
)

const (
	// resultQueue holds the results nobody has read: ten seconds of partial texts. When it is full the stream waits.
	resultQueue = 50
	// shortest is the audio that an utterance has at least that the vendor is asked about.
	shortest = 100 * time.Millisecond
	// goOn is how much a caller says at least who goes on after a Finish. An answer that ends by so much before the latest one is to
	// the Finish that was taken back.
	goOn = 250 * time.Millisecond
	// rounding is by how much a vendor's time may lie beside the end of an utterance.
	rounding = 20 * time.Millisecond
)

var errClosed = errors.New("stream closed")

// stream is one call's recognition. Only run touches what is not under the lock.
type stream struct {
	engine  *Engine
	latency time.Duration // after which an answer is late
	config  inference.ASRConfig
	ctx     context.Context
	cancel  context.CancelCauseFunc
	results chan inference.Result
	done    chan struct{}
	wake    chan struct{} // holds one: there is something to send

	conn     *connection
	broken   []time.Time // when sockets broke, of late
	doneTo   int64       // position to which utterances have had their last result
	partial  string      // the latest of the utterance, since its last final
	eager    bool        // an eager end is not taken back
	heard    time.Time   // when the vendor has said something last
	unheard  int         // Finishes in a row that it did not answer
	openedAt time.Time
	open     time.Duration   // of the sockets before
	tokens   inference.Usage // that the vendor bills

	mu       sync.Mutex
	tape     *inference.Tape
	starts   map[int]int64 // position of the first sample of utterances
	answered int           // the latest utterance that has had its last result
	next     int64         // position from which on there is a message to send
	turns    *inference.TurnOptions
	failure  error
}

func open(ctx context.Context, e *Engine, c inference.ASRConfig) (*stream, error) {
	s := &stream{engine: e, config: c, results: make(chan inference.Result, resultQueue), done: make(chan struct{}), wake: make(chan struct{}, 1),
		latency: e.vendor.Info().Latency, tape: inference.NewTape(c.Format.SampleRate()), starts: map[int]int64{1: 0}}
	leave, err := e.client.Enter(ctx)
	if err != nil {
		return nil, err
	}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	if err := s.connect(); err != nil {
		s.cancel(err)
		leave()
		return nil, err
	}
	spent := func() { inference.Spent(s.ctx, inference.StageASR, s.engine.client.Engine(), *s.usage()) }
	isolate.Go("inference/recogniser/stream", s.cancel, s.run, func() { s.cancel(errClosed) }, func() { s.conn.end() }, leave, spent,
		func() { close(s.results) }, func() { close(s.done) })
	return s, nil
}

// Write implements inference.Recognition.
func (s *stream) Write(samples []int16) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tape.Write(samples)
	if _, to := s.tape.Span(); to >= s.next {
		s.rouse()
	}
}

// Finish implements inference.Recognition.
func (s *stream) Finish() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.tape.Finish()
	if !ok {
		s.failure = s.engine.client.Fault(inference.ErrFailed, errors.New("too many utterances wait"))
		s.cancel(s.failure)
		return n
	}
	_, s.starts[n+1] = s.tape.Span()
	s.rouse()
	return n
}

// Resume implements inference.Recognition.
func (s *stream) Resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n, waiting := s.tape.Resume(); !waiting {
		s.answered = min(s.answered, n-1)
	}
}

// Said implements inference.Recognition.
func (s *stream) Said(string) {}

// Configure implements inference.Recognition.
func (s *stream) Configure(o inference.TurnOptions) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.engine.vendor.Info().Caps.Reconfigure {
		s.turns = &o
		s.rouse()
	}
}

// Results implements inference.Recognition.
func (s *stream) Results() <-chan inference.Result { return s.results }

// Close implements inference.Recognition.
func (s *stream) Close() {
	s.cancel(errClosed)
	<-s.done
}

func (s *stream) rouse() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// take handles what the vendor says.
func (s *stream) take(h Heard) {
	s.heard, s.unheard = time.Now(), 0
	if t := h.Tokens; t != nil {
		s.tokens = s.tokens.Plus(*t)
	}
	end := int64(-1)
	if h.End > 0 {
		if end = s.conn.clock.position(h.End); end <= s.doneTo+s.conn.clock.samples(rounding) {
			return // an answer that came too late, or that is sent again
		}
	}
	switch h.Kind {
	case SpeechStart:
		s.conn.turn = true
		s.tell(inference.Result{Event: inference.EventSpeechStart, Confidence: -1})
	case Partial, EagerEnd:
		s.conn.turn = true
		if s.conn.replaying() || h.Kind == Partial && end >= 0 && end < s.conn.replayTo {
			return // more was shown before the socket broke
		}
		if h.Text != s.partial || h.Kind == Partial {
			s.partial = h.Text
			s.tell(inference.Result{Text: h.Text, Confidence: h.Confidence, Words: h.Words})
		}
		if h.Kind == EagerEnd {
			s.eager = true
			s.tell(inference.Result{Event: inference.EventEagerEnd, EndProb: h.EndProb, Confidence: -1})
		}
	case Resumed:
		s.retract()
	case Final, Answer, TurnEnd:
		s.mu.Lock()
		answered := s.answered
		s.mu.Unlock()
		stale, late := s.conn.stale(h, answered)
		if late {
			s.partial, s.conn.turn = "", false // it was given up
			return
		}
		if stale {
			h.Kind = Final
		}
		s.final(h, end)
	}
}

// retract takes an eager end back.
func (s *stream) retract() {
	if s.eager {
		s.eager = false
		s.tell(inference.Result{Event: inference.EventResumed, Confidence: -1})
	}
}

// final handles a text that will not change. An empty one takes nothing back that a partial text has said
// before: vendors send such.
func (s *stream) final(h Heard, end int64) {
	last := s.settle(h.Kind, end)
	if h.Text == "" && (h.Kind != Final || last) {
		h.Text, h.Words = s.partial, nil
	}
	if h.Text != "" || last {
		s.partial = ""
		s.tell(inference.Result{Text: h.Text, Final: true, Last: last, Confidence: h.Confidence, Words: h.Words, Language: inference.LanguageOf(h.Language)})
	}
	if h.Kind != Final {
		s.conn.turn, s.eager = false, false
	}
	if h.Kind == TurnEnd {
		s.conn.turnEnd = s.conn.sent
		s.tell(inference.Result{Event: inference.EventTurnEnd, EndProb: h.EndProb, Text: h.Text, Confidence: -1})
	}
}

// settle forgets audio that has its final text, and says whether the utterance has its last: it was finished, and
// the text is the answer to that, or of all its audio.
func (s *stream) settle(kind Kind, end int64) (last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if end >= 0 {
		s.tape.Settle(end)
	}
	w := s.tape.Waiting()
	if len(w) == 0 || s.conn.asked < w[0].Utterance {
		return false
	}
	switch kind {
	case Final:
		return end >= w[0].End-s.conn.clock.samples(rounding)
	case Answer:
		return end < 0 || end >= w[0].End-s.conn.clock.samples(goOn)
	}
	return true
}

// tell passes a result on, of the oldest utterance that has not had its last. Words have times from its first sample.
func (s *stream) tell(r inference.Result) {
	s.mu.Lock()
	r.Utterance = s.tape.Current()
	w := s.tape.Waiting()
	if len(w) > 0 {
		r.Utterance = w[0].Utterance
	}
	start := s.starts[r.Utterance]
	if r.Last = r.Last && len(w) > 0; r.Last { // it may have been taken back meanwhile
		s.doneTo, s.answered = w[0].End, r.Utterance
		s.tape.Done(r.Utterance)
		delete(s.starts, r.Utterance-1) // one may still be resumed
	}
	s.mu.Unlock()
	if len(r.Words) != len(strings.Fields(r.Text)) {
		r.Words = nil
	}
	for i := range r.Words {
		m := &r.Words[i]
		m.Start, m.End = s.since(m.Start, start), s.since(m.End, start)
	}
	if r.Final {
		r.Usage = s.usage()
	}
	select {
	case s.results <- r:
	case <-s.ctx.Done():
	}
}

// since is the vendor's time t, from a position of the tape on.
func (s *stream) since(t time.Duration, start int64) time.Duration {
	return s.conn.clock.rate.Duration(int(max(0, s.conn.clock.position(t)-start))).Duration()
}

// usage is what the stream has consumed so far.
func (s *stream) usage() *inference.Usage {
	_, to := s.span()
	u := s.tokens
	u.Audio, u.Open, u.Requests = s.conn.clock.rate.Duration(int(to)).Duration(), s.open+time.Since(s.openedAt), 1
	if u.Source == "" {
		u.Source = inference.UsageCounted
	}
	return &u
}

func (s *stream) span() (from, to int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tape.Span()
}

// samples appends to dst what is kept of a piece of the tape, and says where that begins.
func (s *stream) samples(dst []int16, from, to int64) (at int64, audio []int16) {
	s.mu.Lock()
	defer s.mu.Unlock()
	oldest, _ := s.tape.Span()
	at = min(to, max(from, oldest))
	return at, s.tape.Append(dst, at, to)
}
