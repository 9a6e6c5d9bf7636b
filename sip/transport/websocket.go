package transport

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"

	gosip "github.com/emiago/sipgo/sip"
	"github.com/gorilla/websocket"

	"parley/media/isolate"
)

// OverWebSocket is the transport of what browsers send (RFC 7118), over TLS, too: then Via says WSS, and the transport
// parameter of a URI ws all the same (section 5.2).
const OverWebSocket = "WS"

// MaxWebSocketMessage is the longest message over a WebSocket, in bytes: what the library reads at once.
const MaxWebSocketMessage = 32 << 10

// ErrConnections refuses a connection because there are as many as may be.
var ErrConnections = errors.New("sip: too many connections")

// WebSocket carries the messages of a browser, whose connection who serves HTTP has. The library's own WebSockets know
// no fragments, no binary messages and no pings; so it gets whole messages, over a pipe within the process.
type WebSocket struct {
	at     netip.AddrPort
	secure bool
	conn   *websocket.Conn // the library has the other end
}

// toLibrary connects to the library. Its buffer holds the longest message, because a longer one goes in fragments.
var toLibrary = websocket.Dialer{HandshakeTimeout: handshakeTimeout, Subprotocols: []string{"sip"},
	WriteBufferSize: MaxWebSocketMessage, WriteBufferPool: &sync.Pool{}}

// WebSocket is for a browser at far that has connected to at, over TLS or not. Run comes next, or Close. The error is ErrClosed, or
// ErrConnections: there are as many as may be, or one from far.
func (l *Layer) WebSocket(far, at netip.AddrPort, secure bool) (*WebSocket, error) {
	w := &WebSocket{at: at, secure: secure}
	if err := l.enter(far, w); err != nil {
		return nil, err
	}
	ours, theirs := net.Pipe()
	s := &stream{Conn: pipeEnd{theirs, net.TCPAddrFromAddrPort(at)}, layer: l, network: OverWebSocket, far: net.TCPAddrFromAddrPort(far),
		onClose: func() { l.leave(far, w) }}
	handed := false
	isolate.Go("sip/transport/websocket", nil, func() {
		l.handOver(s)
		handed = true
	}, func() {
		if !handed {
			_ = s.Close()
		}
	}, l.running.Done)
	dialer := toLibrary
	dialer.NetDialContext = func(context.Context, string, string) (net.Conn, error) { return ours, nil }
	var err error
	if w.conn, _, err = dialer.DialContext(l.ctx, "ws://library/", nil); err != nil {
		_ = s.Close()
		return nil, err
	}
	return w, nil
}

// enter counts a connection from far that is handed over next.
func (l *Layer) enter(far netip.AddrPort, w *WebSocket) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.ctx.Err() != nil:
		return ErrClosed
	case l.browsers[far] != nil || len(l.browsers) >= maxConnections:
		return ErrConnections
	}
	l.browsers[far] = w
	l.running.Add(1)
	return nil
}

func (l *Layer) leave(far netip.AddrPort, w *WebSocket) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.browsers[far] == w {
		delete(l.browsers, far)
	}
}

// browser is the WebSocket from far; nil: there is none any more.
func (l *Layer) browser(far netip.AddrPort) *WebSocket {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.browsers[far]
}

// Receive takes a message of the browser's, text or binary, of MaxWebSocketMessage bytes at most: a longer one closes the
// connection, as one that cannot be parsed does. It waits until the message is taken, or the connection is closed, and does
// not keep the slice. It belongs to one goroutine.
func (w *WebSocket) Receive(message []byte) {
	if len(message) > MaxWebSocketMessage || w.conn.WriteMessage(websocket.TextMessage, message) != nil {
		w.Close()
	}
}

// Run hands what goes to the browser to send, which keeps the slice, must not take longer than 5 s, and says false when the
// browser has gone. It returns then, when ctx ends, or when the connection is closed from this side.
func (w *WebSocket) Run(ctx context.Context, send func([]byte) bool) {
	defer w.Close()
	defer context.AfterFunc(ctx, w.Close)()
	for {
		_, message, err := w.conn.ReadMessage()
		if err != nil || !send(message) {
			return
		}
	}
}

// Close closes the connection. It may be called more than once, and from any goroutine.
func (w *WebSocket) Close() { _ = w.conn.Close() }

// pipeEnd is the library's end of a pipe, under the address that the browser has connected to.
type pipeEnd struct {
	net.Conn
	at net.Addr
}

// LocalAddr implements net.Conn.
func (e pipeEnd) LocalAddr() net.Addr { return e.at }

// notDialled are WebSockets: browsers connect to us, never we to them, and what is written to one that is gone fails.
func notDialled() *gosip.TransportWS {
	return &gosip.TransportWS{WriteTimeout: writeTimeout, DialURI: func(string) string { return "" }}
}
