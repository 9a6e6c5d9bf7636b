package loopbacktest

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

var (
	// ErrStalled is returned for messages that a Stall swallows. The connection stays open.
	ErrStalled = errors.New("the connection stalls")
	// ErrIdle is returned by Read when the client said nothing for too long.
	ErrIdle = errors.New("the client is idle")
	// errEnded is returned for messages after a close frame or a cut.
	errEnded = errors.New("the connection has ended")
)

// closeWait is how long a server waits for the answer to its close frame.
const closeWait = 2 * time.Second

// maxReason is how many bytes of a reason fit into a close frame (RFC 6455, section 5.5).
const maxReason = 123

// Socket is one connection over WebSocket. What it sends meets the fault of the connection.
// One goroutine reads; any may write.
type Socket struct {
	server *Server
	conn   *websocket.Conn
	fault  Fault
	shapes Shapes
	ctx    context.Context // ends with the connection
	end    context.CancelFunc

	mu      sync.Mutex // one writes at a time, and may wait for a client that does not read
	sent    int        // messages of the protocol, without those of the fault
	text    int        // the kind of frame of what Write sends
	refuses error      // why nothing more can be sent

	reading sync.Mutex
	idle    time.Duration
	closing bool // a close frame was sent: what the client still sends does not matter
}

// Admit notes a handshake in the books, and has refuse answer it if its fault has a status; true: it may go on.
func (s *Server) Admit(w http.ResponseWriter, r *http.Request, refuse func(Fault)) (f Fault, ok bool) {
	s.Note(func(b *Books) { b.Query, b.Header = r.URL.Query(), r.Header.Clone() })
	if f = s.Next(); f.Status != 0 {
		f.Headers(w.Header())
		refuse(f)
	}
	return f, f.Status == 0
}

// Bears says whether the Authorization of a request is of a scheme, which is a mistake otherwise, and whether it has the key.
func (s *Server) Bears(r *http.Request, scheme string) (schemed, ok bool) {
	got, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if schemed = got == scheme; !schemed {
		s.Violate("Authorization is not %s KEY", scheme)
	}
	return schemed, schemed && key == s.Key
}

// Serve answers a handshake as Upgrade does, and has serve serve the socket until it returns.
func (s *Server) Serve(w http.ResponseWriter, r *http.Request, header http.Header, f Fault, shapes Shapes, serve func(*Socket)) {
	if k, ok := s.Upgrade(w, r, header, f, shapes); ok {
		defer k.End()
		serve(k)
	}
}

// Upgrade answers a handshake. On false it was answered with an error, or the server is closed.
// The caller reads until an error and then calls End.
func (s *Server) Upgrade(w http.ResponseWriter, r *http.Request, header http.Header, f Fault, shapes Shapes) (*Socket, bool) {
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	conn, err := up.Upgrade(w, r, header)
	if err != nil {
		return nil, false
	}
	k := &Socket{server: s, conn: conn, fault: f, shapes: shapes, text: websocket.TextMessage}
	k.ctx, k.end = context.WithCancel(s.ctx)
	s.mu.Lock()
	s.books.Opened++
	s.opened[k] = time.Now()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		k.End()
		return nil, false
	}
	if raw, ok := conn.NetConn().(*fragile); ok {
		raw.breakAfter(f.AfterBytes)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.meetLocked()
	return k, true
}

// Context ends with the connection.
func (k *Socket) Context() context.Context { return k.ctx }

// IdleAfter makes Read fail with ErrIdle after d without a message; 0: never. Pings do not count.
func (k *Socket) IdleAfter(d time.Duration) {
	k.reading.Lock()
	defer k.reading.Unlock()
	k.idle = d
}

// Read is the next message of the client, as package websocket names its kinds. After Close
// it skips everything until the client has closed too.
func (k *Socket) Read() (kind int, data []byte, err error) {
	for {
		k.reading.Lock()
		if !k.closing {
			deadline := time.Time{}
			if k.idle > 0 {
				deadline = time.Now().Add(k.idle)
			}
			_ = k.conn.SetReadDeadline(deadline)
		}
		k.reading.Unlock()
		kind, data, err = k.conn.ReadMessage()
		k.reading.Lock()
		closing := k.closing
		k.reading.Unlock()
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() && !closing {
			return 0, nil, ErrIdle
		}
		if err != nil || !closing {
			return kind, data, err
		}
	}
}

// InBinary makes Write send JSON in binary frames from now on.
func (k *Socket) InBinary() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.text = websocket.BinaryMessage
}

// Write sends one message as JSON, unless the fault wants otherwise.
func (k *Socket) Write(message any) error { return k.write(websocket.TextMessage, message) }

// WriteBinary sends one binary message, unless the fault wants otherwise.
func (k *Socket) WriteBinary(data []byte) error { return k.write(websocket.BinaryMessage, data) }

func (k *Socket) write(kind int, message any) error { return k.writeThen(kind, message, nil) }

// writeThen is write, and calls sent when the message is sent, before its fault follows. It is noted first: a client that has
// the message may connect anew before this goroutine goes on.
func (k *Socket) writeThen(kind int, message any, sent func()) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.refuses != nil {
		return k.refuses
	}
	if sent != nil {
		sent()
	}
	if err := k.writeLocked(kind, message); err != nil {
		return err
	}
	k.sent++
	k.meetLocked()
	return nil
}

// writeLocked sends one message; a []byte as it is.
func (k *Socket) writeLocked(kind int, message any) error {
	if kind == websocket.TextMessage {
		kind = k.text
	}
	data, raw := message.([]byte)
	if !raw {
		var err error
		if data, err = json.Marshal(message); err != nil {
			return err
		}
	}
	err := k.conn.WriteMessage(kind, data)
	if err != nil {
		k.refuses = errEnded
	}
	return err
}

// meetLocked does what the fault wants after the messages so far.
func (k *Socket) meetLocked() {
	if k.fault.Then == Nothing || k.fault.AfterBytes > 0 || k.sent != k.fault.AfterMessages {
		return
	}
	if m := k.fault.Then.Message(k.shapes, k.fault.Reason); m != nil {
		_ = k.writeLocked(websocket.TextMessage, m)
	}
	switch k.fault.Then {
	case Cut:
		k.refuses = errEnded
		_ = k.conn.NetConn().Close()
	case Stall:
		k.refuses = ErrStalled
	case Close:
		k.closeLocked(k.fault.Code, k.fault.Reason)
	case Fail:
		code, text := websocket.CloseInternalServerErr, k.fault.Reason
		if k.shapes.Ends != nil {
			code, text = k.shapes.Ends(text)
		}
		k.closeLocked(code, text)
	}
}

// Close sends a close frame. Read then waits for the client's own.
func (k *Socket) Close(code int, reason string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.refuses == nil {
		k.closeLocked(code, reason)
	}
}

func (k *Socket) closeLocked(code int, reason string) {
	k.refuses = errEnded
	reason = strings.ToValidUTF8(reason[:min(len(reason), maxReason)], "")
	until := time.Now().Add(closeWait)
	_ = k.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, reason), until)
	k.reading.Lock()
	defer k.reading.Unlock()
	k.closing = true
	_ = k.conn.SetReadDeadline(until)
}

// End closes the TCP connection and counts how long it was open.
func (k *Socket) End() {
	k.end()
	_ = k.conn.Close()
	k.server.mu.Lock()
	defer k.server.mu.Unlock()
	if since, ok := k.server.opened[k]; ok {
		k.server.books.OpenTime += time.Since(since)
		delete(k.server.opened, k)
	}
}
