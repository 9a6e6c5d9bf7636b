package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference"
	"parley/media/isolate"
)

const (
	// maxMessage bounds what a vendor may send at once: a second of audio in base64 is 130 kB.
	maxMessage = 1 << 20
	// sendQueue holds messages that the vendor has not taken: 20 s of audio in pieces of 40 ms.
	sendQueue = 500
	// closeWait is how long the vendor may take to answer a close frame. One that is not closed
	// properly counts among an account's connections for longer.
	closeWait = time.Second
)

// ErrSlow is the fault of a vendor that does not take what it is sent.
var ErrSlow = errors.New("the server takes no messages")

// Socket is a WebSocket (RFC 6455) to a vendor. One goroutine reads; Send and Close may be
// called by any.
type Socket struct {
	Header http.Header // of the answer to the handshake

	client *Client
	ctx    context.Context
	cancel context.CancelCauseFunc
	conn   *websocket.Conn
	out    chan outgoing
	done   chan struct{} // the writer has ended
	polite atomic.Bool   // the vendor may answer our close frame
	met    func()        // closes over, once
	over   chan struct{} // Read has met the end
}

type outgoing struct {
	kind int
	data []byte
}

// Dial opens a socket, which lives until it breaks or Close. path may hold a query. It waits for the handshake, 3 s at most and
// until ctx ends. A vendor that wants to be left alone is not asked.
func (c *Client) Dial(ctx context.Context, path string) (*Socket, error) {
	if err := c.resting(); err != nil {
		return nil, err
	}
	header := http.Header{}
	for name, value := range c.headers {
		header.Set(name, value)
	}
	s := &Socket{client: c, out: make(chan outgoing, sendQueue), done: make(chan struct{}), over: make(chan struct{})}
	s.met = sync.OnceFunc(func() { close(s.over) })
	s.ctx, s.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	dialer := websocket.Dialer{HandshakeTimeout: connectTimeout, NetDialContext: c.dial, TLSClientConfig: c.tls, Proxy: http.ProxyFromEnvironment}
	began := time.Now()
	c.asks(path, "", nil)
	conn, response, err := dialer.DialContext(ctx, "ws"+strings.TrimPrefix(c.base, "http")+path, header)
	if err != nil {
		s.cancel(nil)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case response != nil:
			body, _ := io.ReadAll(io.LimitReader(response.Body, 16<<10))
			c.pass(Passage{What: Answered, Vendor: true, Status: response.StatusCode, Type: response.Header.Get("Content-Type")})
			c.pass(Passage{What: Said, Vendor: true, Data: body})
			c.pass(Passage{What: Ended, Vendor: true})
			return nil, c.refusal(response.StatusCode, response.Header, body)
		}
		return nil, c.broken(err)
	}
	c.pass(Passage{What: Opened, Took: time.Since(began)})
	conn.SetReadLimit(maxMessage)
	s.conn, s.Header = conn, response.Header
	c.standing.well()
	context.AfterFunc(s.ctx, func() { time.AfterFunc(closeWait, func() { conn.Close() }) }) // a vendor that takes nothing holds up the writer
	isolate.Go("inference/remote/writer", s.cancel, s.write, func() { conn.Close() }, func() { close(s.done) })
	return s, nil
}

// Send queues a text message. It keeps data. When the queue is full the socket fails by ErrSlow.
func (s *Socket) Send(data []byte) { s.queue(websocket.TextMessage, data) }

// SendBinary is Send for a binary message.
func (s *Socket) SendBinary(data []byte) { s.queue(websocket.BinaryMessage, data) }

func (s *Socket) queue(kind int, data []byte) {
	select {
	case s.out <- outgoing{kind, data}:
	case <-s.ctx.Done():
	default:
		s.cancel(s.client.Fault(inference.ErrFailed, ErrSlow))
	}
}

// write sends what is queued until the socket ends, and then the close frame.
func (s *Socket) write() {
	for {
		select {
		case m := <-s.out:
			s.conn.SetWriteDeadline(time.Now().Add(s.client.timeout))
			if s.say(m) != nil {
				return // the reader learns why
			}
		case <-s.ctx.Done():
			s.finish()
			return
		}
	}
}

// say sends one message.
func (s *Socket) say(m outgoing) error {
	s.client.pass(Passage{What: Said, Data: m.data, Binary: m.kind == websocket.BinaryMessage}) // before its answer can
	return s.conn.WriteMessage(m.kind, m.data)
}

// finish sends what is still queued, and the close frame; after Leave it waits for the answer.
func (s *Socket) finish() {
	end := time.Now().Add(closeWait)
	s.conn.SetWriteDeadline(end)
	for {
		select {
		case m := <-s.out:
			if s.say(m) == nil {
				continue
			}
		default:
		}
		s.client.pass(Passage{What: Ended, Code: websocket.CloseNormalClosure})
		s.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), end)
		if s.polite.Load() {
			select {
			case <-s.over:
			case <-time.After(time.Until(end)):
			}
		}
		return
	}
}

// Read returns the next message, which the caller owns, and whether it is binary. Its errors are those of ReadTo.
func (s *Socket) Read() (data []byte, binary bool, err error) {
	var message bytes.Buffer
	binary, err = s.ReadTo(&message)
	return message.Bytes(), binary, err
}

// ReadTo puts the next message in the place of what is in the buffer, and says whether it is binary. Its error is io.EOF
// when the vendor has closed the socket as agreed, else an *inference.Error, but for a socket that was closed on our side.
func (s *Socket) ReadTo(message *bytes.Buffer) (binary bool, err error) {
	message.Reset()
	kind, r, err := s.conn.NextReader()
	if err == nil {
		_, err = message.ReadFrom(r)
	}
	if err == nil {
		s.client.pass(Passage{What: Said, Vendor: true, Data: message.Bytes(), Binary: kind == websocket.BinaryMessage})
		return kind == websocket.BinaryMessage, nil
	}
	s.met()
	var closed *websocket.CloseError
	if errors.As(err, &closed) {
		s.client.pass(Passage{What: Ended, Vendor: true, Code: closed.Code})
	}
	if s.ctx.Err() != nil {
		return false, context.Cause(s.ctx)
	}
	s.cancel(err)
	switch {
	case closed != nil:
		return false, s.client.closed(closed)
	case errors.Is(err, websocket.ErrReadLimit):
		return false, s.client.Fault(inference.ErrFailed, errors.New("a message longer than 1 MiB"))
	}
	return false, s.client.broken(err)
}

// closed is the error of a close frame. Its reason carries the vendor's own code, which alone is shown.
func (c *Client) closed(e *websocket.CloseError) error {
	fault, status := inference.ErrFailed, 0 // as HTTP has it
	reason := strings.ToLower(e.Text)
	switch {
	case e.Code == websocket.CloseNormalClosure:
		return io.EOF
	case strings.Contains(reason, "too many"), strings.Contains(reason, "concurren"):
		fault, status = inference.ErrUnavailable, http.StatusTooManyRequests
	case strings.Contains(reason, "api key"):
		fault, status = inference.ErrRefused, http.StatusUnauthorized
	case e.Code == websocket.ClosePolicyViolation, e.Code == websocket.CloseUnsupportedData, e.Code == websocket.CloseInvalidFramePayloadData:
		fault = inference.ErrRefused
	}
	text := fmt.Sprintf("closed with code %d", e.Code)
	word, _, _ := strings.Cut(e.Text, " ")
	if name := c.Name(Named{Type: strings.TrimRight(word, ":,.")}); strings.ContainsAny(name, "-_0123456789") {
		text += " " + name
	}
	return c.refused(fault, status, "", text, 0)
}

// Leave begins to close the socket and returns: what is queued and a close frame are sent, and the vendor has 1 s in all to
// answer, for which another goroutine goes on to read. Close waits for that.
func (s *Socket) Leave() {
	s.polite.Store(true)
	s.cancel(errClosed)
}

// Close sends what is queued and a close frame, 1 s at most, and waits until the resources are free.
func (s *Socket) Close() {
	s.cancel(errClosed)
	<-s.done
}

var errClosed = errors.New("socket closed")
