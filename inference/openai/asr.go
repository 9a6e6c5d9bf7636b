package openai

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"parley/inference"
	"parley/inference/remote"
	"parley/media"
	"parley/media/isolate"
)

// ASR is a transcription server. It is a batch engine: each utterance is one
// request, sent at Finish. A server is asked for segments, which say how sure it is; one that
// refuses is asked for text alone from then on.
type ASR struct {
	*client
	plain   atomic.Bool // the server knows json, and not verbose_json
	dropped atomic.Uint64
}

// heard are the languages that are asked for.
var heard = []string{"en", "es", "pt", "fr", "it", "de"}

// NewASR checks c and contacts nobody. The default model is whisper-1.
func NewASR(c remote.Engine) (*ASR, error) {
	cl, err := newClient("whisper-1", c)
	if err != nil {
		return nil, err
	}
	return &ASR{client: cl}, nil
}

// Info implements inference.ASR.
func (e *ASR) Info() inference.Info {
	return inference.Info{
		Name: e.Engine(), Description: "batch transcription, model " + e.model,
		Languages: slices.Clone(heard), Latency: 5 * time.Second, Feed: inference.FeedBatch, Caps: inference.Caps{Detects: !e.plain.Load()},
	}
}

// Dropped is the number of samples that streams have lost so far because the
// server was too slow.
func (e *ASR) Dropped() uint64 { return e.dropped.Load() }

// Open implements inference.ASR. It contacts nobody. The first of c.Hints.Terms are sent with every
// request, for servers bias recognition towards them; the rest of the hints stays here.
func (e *ASR) Open(ctx context.Context, c inference.ASRConfig) (inference.Recognition, error) {
	if c.Detect && !e.plain.Load() {
		c.Language = ""
	}
	if c.Language != "" && !slices.Contains(heard, c.Language) {
		return nil, e.Fault(inference.ErrLanguage, nil)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	s := &stream{
		asr: e, language: c.Language, glossary: glossary(c.Hints.Terms),
		results: make(chan inference.Result, resultQueue), done: make(chan struct{}), wake: make(chan struct{}, 1),
		tape: inference.NewTape(media.Rate16k),
	}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	isolate.Go("inference/openai/recognition", s.cancel, s.run, func() { s.cancel(errClosed) }, func() { close(s.results) }, func() { close(s.done) })
	return s, nil
}

const (
	// resultQueue holds results nobody has read: as many as there are utterances
	// in a tape. When it is full no request is made.
	resultQueue = 16
	// longPiece is when a part of an unfinished utterance is sent: it leaves 3 s
	// of the tape for what is said while the server works.
	longPiece = 12 * 16000
	// cutRange is the end of such a piece in which the quietest place is looked
	// for, so that no word is cut.
	cutRange = 4 * 16000
	// shortest is what is worth a request; servers refuse less.
	shortest = 16000 / 10
)

var (
	errClosed  = errors.New("stream closed")
	errResumed = errors.New("the caller went on")
)

// stream is one call's audio on its way to the server.
type stream struct {
	inference.NoContext
	asr                *ASR
	language, glossary string
	ctx                context.Context
	cancel             context.CancelCauseFunc
	results            chan inference.Result
	done               chan struct{}
	wake               chan struct{} // holds one: there may be a job

	mu      sync.Mutex
	tape    *inference.Tape
	job     *job  // the request in flight
	latest  int   // the latest utterance that was sent, or a part of it
	began   int64 // position of its first sample
	failure error // a fault of our own that ends the stream
}

// job is a piece of audio to be recognised.
type job struct {
	utterance int
	to        int64 // position after its last sample
	last      bool
	since     time.Duration // from the utterance's first sample to the audio's
	audio     []int16
	cancel    context.CancelCauseFunc
	takenBack bool
}

// Write implements inference.Recognition.
func (s *stream) Write(samples []int16) {
	s.mu.Lock()
	dropped := s.tape.Write(samples)
	from, to := s.tape.Span()
	long := s.job == nil && to-from >= longPiece
	s.mu.Unlock()
	if dropped > 0 {
		s.asr.dropped.Add(uint64(dropped))
	}
	if long {
		s.rouse()
	}
}

// Finish implements inference.Recognition.
func (s *stream) Finish() int {
	s.mu.Lock()
	n, ok := s.tape.Finish()
	if !ok && s.failure == nil {
		s.failure = s.asr.Fault(inference.ErrFailed, errors.New("too many utterances wait"))
		s.cancel(s.failure)
	}
	s.mu.Unlock()
	s.rouse()
	return n
}

// Resume implements inference.Recognition.
func (s *stream) Resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, waiting := s.tape.Resume()
	if j := s.job; waiting && j != nil && j.last && j.utterance == n {
		j.takenBack = true
		j.cancel(errResumed)
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

// run makes one request after the other, so that results keep their order.
func (s *stream) run() {
	for {
		ctx, cancel := context.WithCancelCause(s.ctx)
		j := s.next(cancel)
		if j == nil {
			cancel(nil)
			select {
			case <-s.wake:
			case <-s.ctx.Done():
				s.fail(nil)
				return
			}
			continue
		}
		r := inference.Result{Utterance: j.utterance, Final: true, Last: j.last, Confidence: -1}
		var err error
		if len(j.audio) >= shortest {
			err = s.transcribe(ctx, j.audio, &r)
			for i := range r.Words {
				r.Words[i].Start += j.since
				r.Words[i].End += j.since
			}
		}
		cancel(nil)
		if s.ctx.Err() == nil && !s.settle(j) {
			continue
		}
		if err != nil || s.ctx.Err() != nil {
			s.fail(err)
			return
		}
		select {
		case s.results <- r:
		case <-s.ctx.Done():
			s.fail(nil)
			return
		}
	}
}

// fail makes the stream's fault its last result. No reader learns that a stream
// ended which they closed themselves.
func (s *stream) fail(err error) {
	s.mu.Lock()
	if s.failure != nil {
		err = s.failure
	} else if s.ctx.Err() != nil {
		err = nil
	}
	utterance := s.tape.Current()
	s.mu.Unlock()
	if err == nil {
		return
	}
	r := inference.Result{Utterance: utterance, Confidence: -1, Err: err}
	select {
	case s.results <- r:
	default: // full: the reader finds the channel closed
		select {
		case s.results <- r:
		case <-s.ctx.Done():
		}
	}
}

// next takes the audio to recognise now: the oldest finished utterance, else the
// first part of one that has become long. The tape keeps it until settle.
func (s *stream) next(cancel context.CancelCauseFunc) *job {
	s.mu.Lock()
	defer s.mu.Unlock()
	from, to := s.tape.Span()
	j := &job{cancel: cancel}
	if w := s.tape.Waiting(); len(w) > 0 {
		j.utterance, j.to, j.last = w[0].Utterance, w[0].End, true
		j.audio = s.tape.Append(make([]int16, 0, max(0, j.to-from)), from, j.to)
	} else if to-from >= longPiece {
		j.utterance = s.tape.Current()
		j.audio = s.tape.Append(make([]int16, 0, to-from), from, to)
		j.audio = j.audio[:quietest(j.audio)]
		j.to = from + int64(len(j.audio))
	} else {
		return nil
	}
	if j.utterance != s.latest {
		s.latest, s.began = j.utterance, from
	}
	j.since = media.Rate16k.Duration(int(from - s.began)).Duration()
	s.job = j
	return j
}

// settle ends a job; false means that its Finish was taken back and its audio
// belongs to an utterance that goes on.
func (s *stream) settle(j *job) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.job = nil
	if j.takenBack {
		return false
	}
	if j.last {
		s.tape.Done(j.utterance)
	} else {
		s.tape.Settle(j.to)
	}
	return true
}

// quietest is the middle of the 100 ms with the least energy in the last
// cutRange of the audio.
func quietest(audio []int16) int {
	const window, step = 1600, 160
	best, least := len(audio), int64(-1)
	for at := len(audio) - cutRange; at+window <= len(audio); at += step {
		energy := int64(0)
		for _, v := range audio[at : at+window] {
			energy += int64(v) * int64(v)
		}
		if least < 0 || energy < least {
			best, least = at+window/2, energy
		}
	}
	return best
}
