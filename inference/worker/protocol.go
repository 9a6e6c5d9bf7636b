package worker

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Kind says what a message means and what its payload holds.
type Kind uint8

// The kinds of message. Unless said otherwise they carry the number of a stream.
const (
	// Hello is the worker's first message: its engine is ready. Stream 0,
	// payload the engine's name and version as text.
	Hello  Kind = iota + 1
	Ping        // server to worker, stream 0: answer with Pong
	Pong        // worker to server, stream 0
	Failed      // worker to server: the request or stream has ended by a fault; text
	Done        // worker to server: the synthesis has ended, or the recogniser is closed

	Speak  // server to worker: a Synthesis as JSON
	Cancel // server to worker: end the synthesis now; Done follows
	Marks  // worker to server: []Event as JSON, for the Audio that follows
	Audio  // PCM (media.AppendPCM); from worker to server speech, from server to worker the caller

	Open    // server to worker: new recogniser; see EncodeModel
	Finish  // server to worker: the utterance has ended; Final follows
	Close   // server to worker: free the recogniser; Done follows
	Heard   // worker to server: so many more samples were consumed; 4 bytes
	Partial // worker to server: the utterance so far; text
	Final   // worker to server: what the utterance was; text

	Score  // server to worker: the end of a turn, 16 kHz PCM; Scored or Failed follows and ends the request
	Scored // worker to server: the probability that the turn is over; a float32, little-endian
)

// Size limits. A language model of the largest phrase list is below 3 MB; all
// other payloads are far smaller.
const (
	headerBytes = 9
	// MaxPayload bounds one message, so that a broken peer cannot make the
	// other side reserve memory.
	MaxPayload = 4 << 20
)

// ErrFormat is the fault of a peer that does not speak the protocol.
var ErrFormat = errors.New("worker: malformed message")

// Message is one unit of the conversation with a worker. On the wire: length of
// the payload (4 bytes), kind (1), stream (4), payload; integers little-endian.
type Message struct {
	Kind    Kind
	Stream  uint32
	Payload []byte
}

// Reader takes messages from a pipe. It belongs to one goroutine.
type Reader struct {
	r       io.Reader
	header  [headerBytes]byte
	payload []byte
}

// NewReader returns a Reader of r, which should be buffered.
func NewReader(r io.Reader) *Reader { return &Reader{r: r} }

// Next returns the next message; its payload is valid until the next call. The
// error is io.EOF at a clean end, ErrFormat for a message that is too large.
func (r *Reader) Next() (Message, error) {
	if _, err := io.ReadFull(r.r, r.header[:]); err != nil {
		return Message{}, err
	}
	n := binary.LittleEndian.Uint32(r.header[:])
	if n > MaxPayload {
		return Message{}, fmt.Errorf("%w: payload of %d bytes", ErrFormat, n)
	}
	if int(n) > cap(r.payload) {
		r.payload = make([]byte, n)
	}
	r.payload = r.payload[:n]
	if _, err := io.ReadFull(r.r, r.payload); err != nil {
		return Message{}, io.ErrUnexpectedEOF
	}
	return Message{Kind(r.header[4]), binary.LittleEndian.Uint32(r.header[5:]), r.payload}, nil
}

// Writer puts messages into a pipe, each with one write. It may be used from
// several goroutines.
type Writer struct {
	mu  sync.Mutex
	w   io.Writer
	buf []byte
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Send writes one message. It blocks while the pipe is full. It copies payload.
func (w *Writer) Send(kind Kind, stream uint32, payload []byte) error {
	if len(payload) > MaxPayload {
		return fmt.Errorf("%w: payload of %d bytes", ErrFormat, len(payload))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	b := binary.LittleEndian.AppendUint32(w.buf[:0], uint32(len(payload)))
	b = append(b, byte(kind))
	b = binary.LittleEndian.AppendUint32(b, stream)
	b = append(b, payload...)
	if cap(b) <= 1<<16 { // a model's megabytes are not kept for the next message
		w.buf = b
	}
	_, err := w.w.Write(b)
	return err
}
