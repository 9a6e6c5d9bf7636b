package loopbacktest

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"
)

// errOver is why nothing more of a stream is sent.
var errOver = errors.New("the stream is over")

// Stream is an answer in server-sent events (WHATWG HTML, section 9.2) that meets the fault of its
// request. It belongs to the goroutine that answers.
type Stream struct {
	server *Server
	w      http.ResponseWriter
	r      *http.Request
	fault  Fault
	shapes Shapes
	event  func(data []byte, kind string) []byte

	sent  int // events, without those of the fault
	bytes int
}

// Stream answers a request with the events that send sends. event is how the engine writes one: its
// data, and its type unless it has none. With a Content-Type set before the body is of that type instead. A
// client that goes away before the end is a cancel.
func (s *Server) Stream(w http.ResponseWriter, r *http.Request, f Fault, shapes Shapes, event func(data []byte, kind string) []byte, send func(*Stream) error) {
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	}
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	t := &Stream{server: s, w: w, r: r, fault: f, shapes: shapes, event: event}
	err := t.flush()
	if err == nil {
		err = t.meet()
	}
	if err == nil {
		_ = send(t)
	}
	if r.Context().Err() != nil {
		s.Note(func(b *Books) { b.Cancels++ })
	}
}

// Wait waits for a delay, and says whether the client is still there.
func (t *Stream) Wait(delay func() time.Duration) bool {
	return t.server.Wait(t.r.Context(), Draw(delay))
}

// Send sends one event, and does what the fault wants after it. After an error nothing more can be sent.
func (t *Stream) Send(message map[string]any) error { return t.send(message) }

// SendData is Send for data as it is.
func (t *Stream) SendData(data []byte) error { return t.send(data) }

func (t *Stream) send(message any) error {
	if err := t.write(message); err != nil {
		return err
	}
	t.sent++
	return t.meet()
}

// meet does what the fault wants after the events so far.
func (t *Stream) meet() error {
	if t.fault.Then == Nothing || t.fault.AfterBytes > 0 || t.sent != t.fault.AfterMessages {
		return nil
	}
	if m := t.fault.Then.Message(t.shapes, t.fault.Reason); m != nil {
		if err := t.write(m); err != nil {
			return err
		}
	}
	switch t.fault.Then {
	case Cut:
		CutRequest(t.r)
		return errOver
	case Stall:
		select {
		case <-t.r.Context().Done():
		case <-t.server.Done():
		}
		return errOver
	case Close, Fail:
		return errOver
	}
	return nil
}

// write sends one event as far as the fault lets it through; a []byte is its data as it is.
func (t *Stream) write(message any) error {
	data, raw := message.([]byte)
	kind := ""
	if !raw {
		var err error
		if data, err = json.Marshal(message); err != nil {
			return err
		}
		if fields, ok := message.(map[string]any); ok {
			kind, _ = fields["type"].(string)
		}
	}
	data = t.event(data, kind)
	if n := t.fault.AfterBytes; n > 0 && t.bytes+len(data) >= n {
		_, _ = t.w.Write(data[:n-t.bytes])
		_ = t.flush()
		CutRequest(t.r)
		return errOver
	}
	t.bytes += len(data)
	if _, err := t.w.Write(data); err != nil {
		return err
	}
	if t.r.Context().Err() != nil {
		return errOver
	}
	return t.flush()
}

func (t *Stream) flush() error { return http.NewResponseController(t.w).Flush() }
