package replay

import (
	"bytes"
	"compress/gzip"
	"encoding/json"

	"parley/media/isolate"
	"parley/pipeline"
)

// recorderQueue holds what the conductor has told and was not written yet: several
// seconds. When it is full, or the file has maxKept bytes, the rest of the call is not
// kept, which the file says.
const (
	recorderQueue = 256
	maxKept       = 8 << 20
)

// Recorder is the pipeline.Journal that makes a file in memory. The zero Recorder is
// ready. Bytes may be called when the call is over.
type Recorder struct {
	queue chan entry
	done  chan struct{}
	full  bool // of the conductor's

	// Of write alone, until done is closed.
	out  bytes.Buffer
	gz   *gzip.Writer
	enc  *json.Encoder
	held []line // events and notes of the input that is to come
	cut  bool
}

type entry struct {
	input pipeline.Input
	line  *line // an event or a note, or nil
	cut   bool
}

// Begin implements pipeline.Journal.
func (r *Recorder) Begin(o pipeline.Origin) {
	r.queue, r.done = make(chan entry, recorderQueue), make(chan struct{})
	r.gz = gzip.NewWriter(&r.out)
	r.enc = json.NewEncoder(r.gz)
	r.enc.SetEscapeHTML(false)
	isolate.Go("pipeline/replay/recorder", func(error) { r.out.Reset() }, func() { r.write(o) }, func() { close(r.done) })
}

// Input implements pipeline.Journal.
func (r *Recorder) Input(in *pipeline.Input) { r.put(entry{input: *in}) }

// Event implements pipeline.Journal.
func (r *Recorder) Event(e pipeline.Event) {
	event := EventOf(e)
	r.put(entry{line: &line{Event: &event}})
}

// Note implements pipeline.Journal.
func (r *Recorder) Note(n pipeline.Note) {
	r.put(entry{line: &line{Note: n.Kind.String(), T: int64(n.At), N: n.N, Text: n.Text}})
}

// put never blocks. After a gap nothing could be replayed, so nothing is kept.
func (r *Recorder) put(e entry) {
	if r.full {
		return
	}
	select {
	case r.queue <- e:
	default:
		r.full = true
	}
}

// Close implements pipeline.Journal.
func (r *Recorder) Close() {
	if r.done == nil {
		return // never begun
	}
	if r.full {
		select {
		case r.queue <- entry{cut: true}:
		case <-r.done: // the writer failed
		}
	}
	close(r.queue)
	<-r.done
}

// Bytes is the compressed file of a call that is over; nil of one that was never begun.
func (r *Recorder) Bytes() []byte {
	if r.done == nil {
		return nil
	}
	<-r.done
	return r.out.Bytes()
}

func (r *Recorder) write(o pipeline.Origin) {
	r.put1(line{Version: Version, Minor: minor, Origin: &o})
	for e := range r.queue {
		switch {
		case e.cut:
			r.stop()
		case e.line != nil:
			r.held = append(r.held, *e.line)
		default:
			r.put1(inputLine(&e.input))
			for _, l := range r.held {
				r.put1(l)
			}
			r.held = r.held[:0]
		}
	}
	if err := r.gz.Close(); err != nil {
		r.out.Reset() // memory does not fail
	}
}

// put1 writes a line.
func (r *Recorder) put1(l line) {
	if r.cut {
		return
	}
	if err := r.enc.Encode(l); err != nil || r.out.Len() > maxKept {
		r.stop()
	}
}

// stop writes that the rest is missing.
func (r *Recorder) stop() {
	if !r.cut {
		r.cut = true
		if err := r.enc.Encode(line{Cut: true}); err != nil {
			r.out.Reset()
		}
	}
}
