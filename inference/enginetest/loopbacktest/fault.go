package loopbacktest

import (
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Fault is what a server does wrong on purpose, once for each connection or request that has
// it. The faults of a script belong to the connections in turn: the first fault to the
// first Connections of them, the next to those after these, and so on; the rest have none.
type Fault struct {
	Connections int // how many connections have it; 0: all that are left

	// Status, unless 0, is how the handshake or the request is answered, with the engine's own
	// body. RetryAfter goes with it as a header, in whole seconds.
	Status     int
	RetryAfter time.Duration

	// Then happens after so many messages to the client; 0: before the first.
	AfterMessages int
	// AfterBytes, unless 0, cuts the TCP connection after so many bytes to the client: of a
	// reply's body, or of a socket after its handshake. Then and AfterMessages do not matter.
	AfterBytes int
	Then       Action
	Code       int    // of a Close
	Reason     string // of a Close, or what a Fail says; with Status the error's name where the engine has several
}

// Action is what a fault does in the midst of a connection.
type Action uint8

// After Unknown, Invalid, Nulls and Huge the reply goes on as if nothing had happened.
const (
	Nothing Action = iota
	Cut            // the TCP connection ends, without a close frame or the end of the body
	Stall          // nothing more is sent, and the connection stays open
	Unknown        // a message of a type that no document names
	Invalid        // a message that is not JSON
	Nulls          // a message with nulls, and without most of its fields
	Huge           // a message of 2 MiB
	Close          // a close frame with Code and Reason; without frames, the end of the body
	Fail           // the engine's own message of an error, and then the end
)

// hugeSize is the size of a Huge message in bytes.
const hugeSize = 2 << 20

// Shapes are the messages of faults as one engine spells them.
type Shapes struct {
	Nulls any                     // what Nulls sends
	Fail  func(reason string) any // what Fail sends; reason may be empty, nil: no message
	// Ends is the close frame after Fail; nil: 1011 and the reason.
	Ends func(reason string) (code int, text string)
}

// Message is what an action sends, nil for one that sends no message. Invalid is a []byte,
// everything else a value to be written as JSON.
func (a Action) Message(shapes Shapes, reason string) any {
	switch a {
	case Unknown:
		return map[string]any{"type": "surprise", "of": []string{"another", "year"}}
	case Invalid:
		return []byte(`{"type":"Res`)
	case Nulls:
		return shapes.Nulls
	case Huge:
		return map[string]any{"type": "surprise", "padding": strings.Repeat("x", hugeSize)}
	case Fail:
		if shapes.Fail != nil {
			return shapes.Fail(reason)
		}
	}
	return nil
}

// Next is the fault of the next connection or request; without one, its zero value.
func (s *Server) Next() Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attempts++
	until := 0
	for _, f := range s.faults {
		if until += f.Connections; f.Connections == 0 || s.attempts <= until {
			return f
		}
	}
	return Fault{}
}

// Headers adds what goes with the status of a fault.
func (f Fault) Headers(h http.Header) {
	if f.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(f.RetryAfter.Seconds()))))
	}
}

// connKey finds the TCP connection in the context of a request.
type connKey struct{}

// CutRequest ends the TCP connection of a request at once.
func CutRequest(r *http.Request) {
	if c, ok := r.Context().Value(connKey{}).(net.Conn); ok {
		_ = c.Close()
	}
}

// listener makes connections that can be cut at a byte.
type listener struct{ net.Listener }

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &fragile{Conn: c, left: -1}, nil
}

// fragile is a connection that breaks after so many bytes.
type fragile struct {
	net.Conn
	mu   sync.Mutex
	left int // bytes until it breaks; below 0: it does not
}

// breakAfter lets n more bytes through, or any number when n is 0.
func (c *fragile) breakAfter(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n > 0 {
		c.left = n
	}
}

func (c *fragile) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left < 0 || len(b) < c.left {
		n, err := c.Conn.Write(b)
		if c.left >= 0 {
			c.left -= n
		}
		return n, err
	}
	n, _ := c.Conn.Write(b[:c.left])
	c.left = 0
	_ = c.Conn.Close()
	return n, net.ErrClosed
}
