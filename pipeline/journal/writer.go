package journal

import (
	"bytes"
	"compress/gzip"
	"encoding/json"

	"parley/media/isolate"
)

// writerQueue holds what the conductor has recorded and is not written yet: several
// seconds. When it is full, or the file has maxKept bytes, the rest of the call is not
// kept, which the file says.
const (
	writerQueue = 256
	maxKept     = 8 << 20
)

// Writer is the Sink that makes a file in memory. The zero Writer is
// ready. Bytes may be called when the call is over.
type Writer struct {
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
	input Input
	line  *line // an event or a note, or nil
	cut   bool
}

// Begin implements Sink.
func (w *Writer) Begin(o Origin) {
	w.queue, w.done = make(chan entry, writerQueue), make(chan struct{})
	w.gz = gzip.NewWriter(&w.out)
	w.enc = json.NewEncoder(w.gz)
	w.enc.SetEscapeHTML(false)
	isolate.Go("pipeline/journal/writer", func(error) { w.out.Reset() }, func() { w.write(o) }, func() { close(w.done) })
}

// Input implements Sink.
func (w *Writer) Input(in *Input) { w.put(entry{input: *in}) }

// Event implements Sink.
func (w *Writer) Event(e Event) { w.put(entry{line: &line{Event: &e}}) }

// Note implements Sink.
func (w *Writer) Note(n Note) {
	w.put(entry{line: &line{Note: n.Kind.String(), T: int64(n.At), N: n.N, Text: n.Text}})
}

// put never blocks. After a gap nothing could be replayed, so nothing is kept.
func (w *Writer) put(e entry) {
	if w.full {
		return
	}
	select {
	case w.queue <- e:
	default:
		w.full = true
	}
}

// Close implements Sink.
func (w *Writer) Close() {
	if w.done == nil {
		return // never begun
	}
	if w.full {
		select {
		case w.queue <- entry{cut: true}:
		case <-w.done: // the writer failed
		}
	}
	close(w.queue)
	<-w.done
}

// Bytes is the compressed file of a call that is over; nil of one that was never begun.
func (w *Writer) Bytes() []byte {
	if w.done == nil {
		return nil
	}
	<-w.done
	return w.out.Bytes()
}

func (w *Writer) write(o Origin) {
	w.put1(line{Version: Version, Minor: minor, Origin: &o})
	for e := range w.queue {
		switch {
		case e.cut:
			w.stop()
		case e.line != nil:
			w.held = append(w.held, *e.line)
		default:
			w.put1(inputLine(&e.input))
			for _, l := range w.held {
				w.put1(l)
			}
			w.held = w.held[:0]
		}
	}
	if err := w.gz.Close(); err != nil {
		w.out.Reset() // memory does not fail
	}
}

// put1 writes a line.
func (w *Writer) put1(l line) {
	if w.cut {
		return
	}
	if err := w.enc.Encode(l); err != nil || w.out.Len() > maxKept {
		w.stop()
	}
}

// stop writes that the rest is missing.
func (w *Writer) stop() {
	if !w.cut {
		w.cut = true
		if err := w.enc.Encode(line{Cut: true}); err != nil {
			w.out.Reset()
		}
	}
}
