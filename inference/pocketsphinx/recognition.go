package pocketsphinx

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"parley/inference"
	"parley/inference/worker"
	"parley/media"
)

const (
	// maxPending bounds the results nobody has read. Texts are never dropped: a
	// stream whose reader is gone fails instead.
	maxPending = 2 * maxPieces
	// stuckAfter is how long a worker may leave audio or a Finish unanswered;
	// usually it is some milliseconds.
	stuckAfter = 15 * time.Second
)

var errStuck = errors.New("the recogniser does not answer")

// recognition is one call's stream. An utterance begins with the first Write after
// a Finish. Its final comes some milliseconds after Finish, that of the first some
// 50 ms for each second of it, because the worker adapts to the caller. Resume
// lets the same utterance go on as a new piece of decoding, so its finals join:
// what was heard before stays as it is, and a Last that was already delivered is
// superseded by the next one.
//
// When the worker dies, the audio of the utterances that have no final yet, 15 s
// at most, is given to another one: nothing is lost, and partials begin again. A
// piece that kills three workers is given up with an empty final.
type recognition struct {
	inference.NoContext
	engine  *Engine
	model   *model
	cancel  context.CancelFunc
	results chan inference.Result
	wake    chan struct{} // capacity 1: something has changed
	done    chan struct{} // run has ended
	link    *link         // to the worker; belongs to run
	payload []byte        // of the audio being sent; belongs to run

	mu        sync.Mutex
	backlog   backlog
	utterance int    // number of the latest one begun
	resumed   bool   // the latest Finish was taken back and nothing written since
	said      string // final pieces of the utterance saidOf
	saidOf    int
	pending   []inference.Result
	err       error // the stream has failed
	ended     bool  // and takes no more
}

// link is the stream of one worker.
type link struct {
	r        *recognition
	stream   *worker.Stream
	lost     bool      // the worker died; under r.mu
	closed   bool      // the worker freed the decoder; under r.mu
	answered time.Time // when it last answered or had nothing to answer; under r.mu
}

func newRecognition(e *Engine, m *model) *recognition {
	return &recognition{
		engine: e, model: m,
		results: make(chan inference.Result),
		wake:    make(chan struct{}, 1),
		done:    make(chan struct{}),
	}
}

// Write takes caller audio. See inference.Recognition.
func (r *recognition) Write(samples []int16) {
	if len(samples) == 0 {
		return
	}
	r.mu.Lock()
	if r.ended {
		r.mu.Unlock()
		return
	}
	if r.backlog.open() == nil {
		r.beginLocked()
	}
	r.backlog.write(samples)
	r.mu.Unlock()
	r.signal()
}

// beginLocked opens a piece of the utterance that goes on, or of the next one.
func (r *recognition) beginLocked() {
	fresh := !r.resumed
	if fresh {
		r.utterance++
	}
	r.resumed = false
	r.backlog.begin(r.utterance, fresh)
	if len(r.backlog.pieces) > maxPieces {
		r.failLocked(errors.New("too many utterances wait"))
	}
}

// Finish ends the utterance in progress, which may be empty.
func (r *recognition) Finish() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return r.utterance
	}
	if r.backlog.open() == nil {
		r.beginLocked()
	}
	r.backlog.open().finished = true
	r.signal()
	return r.utterance
}

// Resume takes back the latest Finish. Audio written since then joins the
// utterance too.
func (r *recognition) Resume() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || r.resumed || r.utterance == 0 {
		return
	}
	p := r.backlog.open()
	switch {
	case p == nil:
		r.resumed = true
	case p.fresh && p.utterance > 1:
		p.fresh = false
		p.utterance--
		r.utterance--
	}
}

// Results delivers what was said.
func (r *recognition) Results() <-chan inference.Result { return r.results }

// Close ends the stream and waits until the decoder is free.
func (r *recognition) Close() {
	r.cancel()
	<-r.done
}

func (r *recognition) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// connect opens a decoder on some worker.
func (r *recognition) connect(ctx context.Context) error {
	l := &link{r: r, answered: time.Now()}
	stream, err := r.engine.pool.Open(ctx, l)
	if err != nil {
		return worker.Fault(Name, err)
	}
	l.stream, r.link = stream, l
	if err := stream.Send(worker.Open, r.model.payload); errors.Is(err, worker.ErrFormat) {
		stream.Close()
		return worker.Fault(Name, err)
	}
	return nil // a worker that died meanwhile says so through Lost
}

// run carries audio to the worker and results to the reader.
func (r *recognition) run(ctx context.Context) {
	var held *inference.Result // taken from pending, not delivered yet: it is not replaced any more
	for ctx.Err() == nil {
		if err := r.reconnect(ctx); err != nil && ctx.Err() == nil {
			r.fail(err)
		}
		if r.tell() {
			continue
		}
		r.checkStuck()
		var failed bool
		if held == nil {
			held, failed = r.take()
		}
		if failed {
			return
		}
		if r.deliver(ctx, held) {
			held = nil
		}
	}
}

// deliver waits for a change, or for the reader to take held.
func (r *recognition) deliver(ctx context.Context, held *inference.Result) (delivered bool) {
	results := r.results
	var out inference.Result
	if held != nil {
		out = *held
	} else {
		results = nil
	}
	stuck := time.NewTimer(stuckAfter)
	defer stuck.Stop()
	select {
	case <-ctx.Done():
	case <-r.wake:
	case results <- out:
		return true
	case <-stuck.C: // nothing happens at all: have a look
	}
	return false
}

// tell gives the worker the next audio or Finish and says whether there was any.
func (r *recognition) tell() bool {
	r.mu.Lock()
	l := r.link
	if l.lost || r.ended {
		r.mu.Unlock()
		return false
	}
	idle := r.backlog.inflight == 0
	audio, finish := r.backlog.next()
	if idle && (audio != nil || finish) {
		l.answered = time.Now()
	}
	r.payload = media.AppendPCM(r.payload[:0], audio)
	r.mu.Unlock()
	switch {
	case audio != nil:
		l.stream.Send(worker.Audio, r.payload) // an error means that Lost follows
	case finish:
		l.stream.Send(worker.Finish, nil)
	default:
		return false
	}
	return true
}

// reconnect replaces a dead worker and lets its successor hear everything again.
func (r *recognition) reconnect(ctx context.Context) error {
	r.mu.Lock()
	if !r.link.lost || r.ended {
		r.mu.Unlock()
		return nil
	}
	if r.backlog.rewind() && !r.backlog.skip() {
		r.finalLocked("")
	}
	r.mu.Unlock()
	return r.connect(ctx)
}

// checkStuck kills a worker that leaves questions unanswered.
func (r *recognition) checkStuck() {
	r.mu.Lock()
	waits := r.backlog.inflight > 0 || len(r.backlog.pieces) > 0 && r.backlog.pieces[0].told
	silent := waits && !r.link.lost && time.Since(r.link.answered) > stuckAfter
	r.mu.Unlock()
	if silent {
		r.engine.log.Error("speech worker killed", "engine", Name, "err", errStuck)
		r.link.stream.Abandon()
	}
}

// take moves the oldest result out; failed says that there is none and that
// nothing will follow.
func (r *recognition) take() (next *inference.Result, failed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.pending) == 0 {
		return nil, r.err != nil
	}
	first := r.pending[0]
	r.pending = r.pending[1:]
	return &first, false
}

func (r *recognition) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failLocked(err)
}

// failLocked ends the stream; what is pending is still delivered.
func (r *recognition) failLocked(err error) {
	if r.ended {
		return
	}
	r.err, r.ended = err, true
	r.pending = append(r.pending, inference.Result{Utterance: r.utterance, Confidence: -1, Err: err})
	r.signal()
}

// Lag implements inference.Lagging.
func (r *recognition) Lag() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.backlog.undecoded()
	if n == 0 && r.backlog.owes() {
		n = media.Rate16k.FrameSamples()
	}
	return time.Duration(n) * time.Second / time.Duration(rate)
}

// undecoded is the audio that waits for the worker, in samples.
func (r *recognition) undecoded() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.backlog.undecoded()
}

// release counts the stream out.
func (r *recognition) release() {
	r.engine.mu.Lock()
	delete(r.engine.streams, r)
	r.engine.mu.Unlock()
	if r.model.general {
		r.engine.generals.Add(-1)
	}
}

// end frees the decoder and waits for it.
func (r *recognition) end() {
	defer r.release()
	l := r.link
	r.mu.Lock()
	r.ended = true
	dropped := r.backlog.dropped
	r.mu.Unlock()
	if dropped > 0 {
		r.engine.log.Warn("recogniser could not keep up", "engine", Name, "dropped_ms", dropped*1000/rate)
	}
	l.stream.Send(worker.Close, nil)
	patience := time.After(stuckAfter)
	for {
		r.mu.Lock()
		free := l.closed || l.lost
		r.mu.Unlock()
		if free {
			l.stream.Close()
			return
		}
		select {
		case <-r.wake:
		case <-patience:
			l.stream.Abandon()
		}
	}
}

// Receive takes a message of the worker.
func (l *link) Receive(kind worker.Kind, payload []byte) {
	r := l.r
	r.mu.Lock()
	defer r.mu.Unlock()
	l.answered = time.Now()
	switch kind {
	case worker.Heard:
		r.backlog.heard(worker.DecodeCount(payload))
	case worker.Partial:
		r.partialLocked(string(payload))
	case worker.Final:
		r.finalLocked(string(payload))
	case worker.Failed:
		l.closed = true
		r.failLocked(worker.Fault(Name, errors.New(string(payload))))
	case worker.Done:
		l.closed = true
	}
	r.signal()
}

// Lost handles the death of the worker.
func (l *link) Lost() {
	l.r.mu.Lock()
	l.lost = true
	l.r.mu.Unlock()
	l.r.signal()
}

// partialLocked reports the first piece so far, in place of an older partial that
// nobody has read.
func (r *recognition) partialLocked(text string) {
	if r.ended || len(r.backlog.pieces) == 0 {
		return
	}
	n := r.backlog.pieces[0].utterance
	if r.saidOf == n {
		text = strings.TrimSpace(r.said + " " + text)
	}
	r.putLocked(inference.Result{Utterance: n, Text: text, Confidence: -1})
}

// finalLocked reports the first piece and forgets its audio.
func (r *recognition) finalLocked(text string) {
	if r.ended || len(r.backlog.pieces) == 0 {
		return
	}
	p := r.backlog.drop()
	if r.saidOf != p.utterance {
		r.said, r.saidOf = "", p.utterance
	}
	r.said = strings.TrimSpace(r.said + " " + text)
	goesOn := r.resumed && p.utterance == r.utterance ||
		len(r.backlog.pieces) > 0 && r.backlog.pieces[0].utterance == p.utterance
	r.putLocked(inference.Result{Utterance: p.utterance, Text: text, Final: true, Last: !goesOn, Confidence: -1})
}

func (r *recognition) putLocked(x inference.Result) {
	if n := len(r.pending); n > 0 && !r.pending[n-1].Final && r.pending[n-1].Err == nil && r.pending[n-1].Utterance == x.Utterance {
		r.pending = r.pending[:n-1]
	}
	if r.pending = append(r.pending, x); len(r.pending) > maxPending {
		r.failLocked(worker.Fault(Name, errors.New("nobody reads the results")))
	}
}
