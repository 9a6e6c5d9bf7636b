package enginetest

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"parley/inference"
)

// FakeStream is a stream of a FakeASR. Unlike other streams it may be used from
// several goroutines: the call's and the test's.
type FakeStream struct {
	asr     *FakeASR
	ctx     context.Context
	cancel  context.CancelCauseFunc
	results chan inference.Result
	done    chan struct{}
	ended   atomic.Bool
	wake    chan struct{} // holds one: something new is due

	mu        sync.Mutex
	config    inference.ASRConfig // AgentSaid and Turns are the latest
	due       []pending           // what will be believed
	current   int                 // utterance in progress
	answering int                 // oldest utterance without a last result
	finished  bool                // the latest of Finish and Resume was Finish
	final     bool                // answering has a final result already
	finishes  int
	written   int
	audio     []int16
}

// pending is a result to come. answer is the utterance whose Finish caused it, 0
// for planned and injected ones.
type pending struct {
	at     time.Time
	heard  Heard
	answer int
}

// Partial makes the stream believe text now.
func (s *FakeStream) Partial(text string) { s.inject(Heard{Text: text}) }

// Final makes text certain now; it is the utterance's last result when that has
// been finished.
func (s *FakeStream) Final(text string) { s.inject(Heard{Text: text, Final: true}) }

// Fail ends the stream with err now.
func (s *FakeStream) Fail(err error) { s.inject(Heard{Err: err}) }

// Config is what the stream was opened with, and what Said and Configure have
// changed since.
func (s *FakeStream) Config() inference.ASRConfig {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.config
}

// Said implements inference.Recognition.
func (s *FakeStream) Said(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.config.AgentSaid = text
}

// Configure implements inference.Recognition.
func (s *FakeStream) Configure(o inference.TurnOptions) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.config.Turns = o
}

// Written is the number of samples so far.
func (s *FakeStream) Written() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.written
}

// Audio is a copy of the samples so far when the engine keeps them.
func (s *FakeStream) Audio() []int16 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.audio)
}

// Finishes is the number of Finish calls so far.
func (s *FakeStream) Finishes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.finishes
}

// Write implements inference.Recognition.
func (s *FakeStream) Write(samples []int16) {
	s.mu.Lock()
	s.written += len(samples)
	if s.asr.Keep {
		s.audio = append(s.audio, samples...)
	}
	s.mu.Unlock()
}

// Lag implements inference.Lagging.
func (s *FakeStream) Lag() time.Duration {
	if s.asr.Lag == nil {
		return 0
	}
	return s.asr.Lag(time.Since(s.asr.Origin))
}

// Finish implements inference.Recognition.
func (s *FakeStream) Finish() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.current
	s.current++
	s.finishes++
	s.finished = true
	switch {
	case s.asr.Plan == nil && s.asr.FinalAfter >= 0:
		text := ""
		if t := s.asr.Texts; len(t) > 0 {
			text = t[min(n, len(t))-1]
		}
		s.addLocked(pending{time.Now().Add(s.asr.FinalAfter), Heard{Text: text, Final: true}, n})
	case s.final && n == s.answering: // all was said before the end was known
		s.addLocked(pending{time.Now(), Heard{Final: true}, n})
	}
	return n
}

// Resume implements inference.Recognition.
func (s *FakeStream) Resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.finished {
		return
	}
	s.finished = false
	s.current--
	s.answering = min(s.answering, s.current)
	s.due = slices.DeleteFunc(s.due, func(p pending) bool { return p.answer == s.current })
}

// Results implements inference.Recognition.
func (s *FakeStream) Results() <-chan inference.Result { return s.results }

// Close implements inference.Recognition.
func (s *FakeStream) Close() {
	s.cancel(errClosed)
	<-s.done
}

func (s *FakeStream) inject(h Heard) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addLocked(pending{time.Now(), h, 0})
}

func (s *FakeStream) addLocked(p pending) {
	s.due = append(s.due, p)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *FakeStream) run() {
	defer close(s.done)
	defer close(s.results)
	defer s.ended.Store(true)
	deliver(s.ctx, s.wake, s.results, s.next, func(r inference.Result) bool { return r.Err != nil })
}

// next takes the result that is due, or says how long until one is (0: none).
func (s *FakeStream) next() (r inference.Result, wait time.Duration, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := earliest(s.due, func(p pending) time.Time { return p.at })
	if first < 0 {
		return r, 0, false
	}
	p := s.due[first]
	if wait = time.Until(p.at); wait > 0 {
		return r, wait, false
	}
	s.due = slices.Delete(s.due, first, first+1)
	r = inference.Result{Event: p.heard.Event, EndProb: p.heard.EndProb, Utterance: s.answering, Text: p.heard.Text, Final: p.heard.Final, Confidence: s.asr.Confidence, Err: p.heard.Err, Words: p.heard.Words, Language: p.heard.Language}
	if r.Final {
		s.final = true
		if r.Last = s.answering < s.current && !p.heard.More; r.Last {
			s.answering++
			s.final = false
		}
	}
	return r, 0, true
}
