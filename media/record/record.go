// Package record writes both sides of a call down while it lasts: raw PCM, 16 bits
// little endian, two channels, the caller on the left and on the right what the caller
// was sent, when the caller heard it. The conductor of the call only copies frames into
// a bounded queue; a goroutine of the recorder puts them in their places and writes.
//
// The caller's frames lie by their media time, the agent's where the far end plays them, by the
// wall clock as the caller's frames show it. What a flush recalled is taken out again, so a
// window of what was not heard yet stays in memory. Frames that find the queue full are silence
// of their length.
package record

import (
	"cmp"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"parley/media"
	"parley/media/isolate"
	"parley/media/ring"
)

const (
	// queueFrames bounds what waits for the disk: 2.5 s of both sides. What does not
	// fit is dropped and counted, and is silence in the file.
	queueFrames = 256
	// pollEvery is how often the queue is looked at: a wake-up for each frame would
	// cost the conductor more than its copy.
	pollEvery = 100 * time.Millisecond
	// closePatience bounds the wait for the last writes.
	closePatience = 3 * time.Second
)

// Channels of a recording: the caller's, then the other.
const Channels = 2

// Rate is that of a recording of a leg: 8 kHz where the caller is heard at 8 kHz, else
// 16 kHz.
func Rate(f media.Format) media.Rate {
	if f.In == media.Rate8k {
		return media.Rate8k
	}
	return media.Rate16k
}

// Config is what a recorder needs.
type Config struct {
	// Create makes the file, or what is written as one. It is called on the recorder's goroutine, which
	// writes whole samples of both sides, half a second of them at least but at the end.
	Create func(media.Rate) (io.WriteCloser, error)
	// Done is called on the recorder's goroutine when the file is closed.
	Done func(Result)
}

// Result is how a recording went.
type Result struct {
	Rate    media.Rate
	Length  media.Time
	Dropped uint64 // frames of either side that are silence instead
	Err     error  // of the file; nothing was written after it
}

// Recorder records one call. Begin comes first and Close last; those and what is
// between belong to the goroutine that conducts the call.
type Recorder struct {
	cfg     Config
	begun   time.Time
	queue   *ring.Ring[slot]
	dropped atomic.Uint64
	close   chan struct{}
	closed  chan struct{}
}

// slot is one thing that happened.
type slot struct {
	kind    kind
	samples []int16
	rate    media.Rate    // of them
	now     time.Duration // since Begin
	at      media.Time    // heard: of the frame; spoke: how far ahead of now; recalled: how much
}

type kind uint8

const (
	heard kind = iota
	spoke
	recalled
)

// New returns a recorder that has not begun.
func New(cfg Config) *Recorder { return &Recorder{cfg: cfg} }

// Begin starts the recording of a leg with its media time 0.
func (r *Recorder) Begin(f media.Format) {
	r.begun = time.Now()
	r.queue = ring.New[slot](queueFrames)
	size := max(f.In.FrameSamples(), f.Out.FrameSamples())
	samples := make([]int16, queueFrames*size)
	for i := range queueFrames {
		r.queue.Slot(i).samples = samples[i*size : (i+1)*size : (i+1)*size]
	}
	r.close, r.closed = make(chan struct{}), make(chan struct{})
	t, end := newTrack(f), r.close
	var file io.Closer // nil: there is none
	run := func() {
		created, err := r.cfg.Create(t.rate)
		t.out, t.err = created, err
		if err == nil {
			file = created
		}
		r.run(t, end)
	}
	failed := func(error) { t.err = cmp.Or(t.err, errPanicked) } // the call goes on
	isolate.Go("media/record/recorder", failed, run, func() {
		if file != nil {
			t.err = cmp.Or(t.err, file.Close())
		}
	}, func() { close(r.closed) }, func() {
		r.cfg.Done(Result{Rate: t.rate, Length: t.rate.Duration(int(t.base)), Dropped: r.dropped.Load(), Err: t.err})
	})
}

// Heard takes a frame of the caller's that was read at now.
func (r *Recorder) Heard(f media.Frame, now time.Time) {
	r.put(slot{kind: heard, rate: f.Rate, now: now.Sub(r.begun), at: f.At}, f.Samples)
}

// Spoke takes a frame that is written to the leg at now. ahead is when the far end will
// begin to play it, after now; on a continuous leg it is not positive, and says how late
// the frame is.
func (r *Recorder) Spoke(f media.Frame, now time.Time, ahead media.Time) {
	r.put(slot{kind: spoke, rate: f.Rate, now: now.Sub(r.begun), at: ahead}, f.Samples)
}

// Recalled says that the far end will not play the last d of what was written.
func (r *Recorder) Recalled(d media.Time) {
	if d > 0 {
		r.put(slot{kind: recalled, at: d}, nil)
	}
}

// put copies something into the queue, or counts that it is full.
func (r *Recorder) put(s slot, samples []int16) {
	if r.queue.Free() == 0 {
		r.dropped.Add(1)
		return
	}
	free := r.queue.Slot(0)
	room := free.samples[:cap(free.samples)]
	s.samples = room[:copy(room, samples)]
	*free = s
	r.queue.Put(1)
}

// Close ends the recording and waits until the file is closed, 3 s at most: a disk that
// hangs holds up no call. It may be called again, and without Begin.
func (r *Recorder) Close() {
	if r.close == nil {
		return
	}
	close(r.close)
	r.close = nil
	select {
	case <-r.closed:
	case <-time.After(closePatience):
	}
}

// errPanicked is the error of a recording whose goroutine panicked.
var errPanicked = errors.New("record: the recorder panicked")

// run puts what is queued into the file until end is closed.
func (r *Recorder) run(t *track, end <-chan struct{}) {
	tick := time.Tick(pollEvery)
	for open := true; open; {
		select {
		case <-tick:
		case <-end:
			open = false
		}
		r.drain(t)
	}
	t.finish()
}

// drain puts what is queued in its place.
func (r *Recorder) drain(t *track) {
	for ; r.queue.Len() > 0; r.queue.Drop(1) {
		s := r.queue.Peek(0)
		f := media.Frame{Samples: s.samples, Rate: s.rate, At: s.at}
		switch s.kind {
		case heard:
			t.hear(f, s.now)
		case spoke:
			t.speak(f, s.now, s.at)
		case recalled:
			t.recall(s.at)
		}
	}
	t.settle()
}
