package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media/isolate"
)

const (
	// writeTimeout bounds how long a far end that does not read can hold up a writer.
	writeTimeout = 5 * time.Second
	// handshakeTimeout bounds the handshake of a caller, and maxHandshakes those under way.
	handshakeTimeout = 5 * time.Second
	maxHandshakes    = 64
	// maxConnections bounds incoming connections of each listener: trunks use one or a few
	// each. More are closed at once.
	maxConnections = 1024
)

// gate is a listener that lets allowed sources in, and a bounded number of connections.
type gate struct {
	*net.TCPListener
	network     string // "TCP" or "TLS"
	open        atomic.Int64
	handshaking atomic.Int64
}

// accept takes connections in until the listener is closed. An idle one has no read timeout:
// a carrier keeps its connection for the next call and may say nothing for hours, and the
// flow of a registration is how calls come at all (RFC 5626). The kernel probes
// it (package net enables keepalive on what it accepts and dials), so that one whose far end is
// gone closes within minutes; maxConnections bounds the others. No other error stops it:
// running out of file descriptors passes.
func (l *Layer) accept(g *gate, take func(*stream)) {
	pause := 5 * time.Millisecond
	for {
		conn, err := g.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(pause)
			pause = min(2*pause, time.Second)
			continue
		}
		if !l.admits(conn.RemoteAddr()) || g.open.Load() >= maxConnections {
			_ = conn.Close()
			continue
		}
		g.open.Add(1)
		take(&stream{Conn: conn, layer: l, network: g.network, far: conn.RemoteAddr(), onClose: sync.OnceFunc(func() { g.open.Add(-1) })})
	}
}

// handshake secures an accepted connection and hands it over, beside the listener.
func (l *Layer) handshake(s *stream) {
	if l.tls.handshaking.Add(1) > maxHandshakes {
		l.tls.handshaking.Add(-1)
		_ = s.Close()
		return
	}
	l.running.Add(1)
	secured := false
	isolate.Go("sip/transport/handshake", nil, func() {
		ctx, cancel := context.WithTimeout(l.ctx, handshakeTimeout)
		defer cancel()
		conn := tls.Server(s.Conn, l.cfg.TLS)
		if conn.HandshakeContext(ctx) != nil {
			return
		}
		secured, s.Conn = true, conn
		l.handOver(s)
	}, func() {
		if !secured {
			_ = s.Close()
		}
	}, func() { l.tls.handshaking.Add(-1) }, l.running.Done)
}

// stream is a TCP or TLS connection, or that of a browser, as the library sees it.
type stream struct {
	net.Conn
	layer   *Layer
	network string // "TCP", "TLS" or OverWebSocket
	far     net.Addr
	onClose func() // may be nil
	closed  atomic.Bool
}

// handOver gives a connection to the library, which reads from it and finds it by the
// addresses of both its ends when handOver returns: it serves a listener that has this one
// connection.
func (l *Layer) handOver(s *stream) {
	one := &single{stream: s, addr: s.LocalAddr()}
	switch s.network {
	case "TLS":
		_ = l.tp.ServeTLS(one)
	case OverWebSocket:
		_ = l.tp.ServeWS(one)
	default:
		_ = l.tp.ServeTCP(one)
	}
}

// single is a listener with one connection.
type single struct {
	stream *stream // nil: it was accepted
	addr   net.Addr
}

// Accept implements net.Listener.
func (s *single) Accept() (net.Conn, error) {
	if s.stream == nil {
		return nil, net.ErrClosed
	}
	conn := s.stream
	s.stream = nil
	return conn, nil
}

// Addr implements net.Listener.
func (s *single) Addr() net.Addr { return s.addr }

// Close implements net.Listener.
func (s *single) Close() error { return nil }

// Write implements net.Conn. The library writes a message at a time.
func (s *stream) Write(b []byte) (int, error) {
	call, m := s.layer.sending(s.network, s.LocalAddr(), s.far, b)
	n, err := s.Conn.Write(b)
	call.sent(m, err)
	return n, err
}

// Close implements net.Conn.
func (s *stream) Close() error {
	s.closed.Store(true)
	if s.onClose != nil {
		s.onClose()
	}
	return s.Conn.Close()
}

// RemoteAddr implements net.Conn.
func (s *stream) RemoteAddr() net.Addr { return s.far }

// connectionMark separates a far end's address from our port in the name of a connection.
const connectionMark = "#"

// namedAddr is the far end of a TLS connection of ours. The library answers a request over
// the connection that it knows by the text of the request's source, and several connections
// of ours, of one trunk each, may lead to one address: so the text names our port, too.
type namedAddr struct {
	*net.TCPAddr
	port uint16
}

// String implements net.Addr.
func (a *namedAddr) String() string {
	return a.TCPAddr.String() + connectionMark + strconv.Itoa(int(a.port))
}

// Source is where a message came from; not valid when the transport did not say.
func Source(m gosip.Message) netip.AddrPort {
	text, _, _ := strings.Cut(m.Source(), connectionMark)
	a, _ := netip.ParseAddrPort(text) // not valid with an error
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

// stampVia writes the source into the Via of a request that came over a stream (RFC 3581
// section 4). The library would write the name of the connection.
func stampVia(m gosip.Message) {
	req, ok := m.(*gosip.Request)
	if !ok || req.Transport() == "UDP" || req.Via() == nil {
		return
	}
	from := Source(req)
	if rport, asked := req.Via().Params.Get("rport"); asked && rport == "" && from.IsValid() {
		req.Via().Params.Add("rport", strconv.Itoa(int(from.Port())))
		req.Via().Params.Add("received", from.Addr().String())
	}
}

// addrOf is the address of an end of a UDP socket or TCP connection.
func addrOf(a net.Addr) netip.AddrPort {
	end, ok := a.(interface{ AddrPort() netip.AddrPort })
	if !ok {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(end.AddrPort().Addr().Unmap(), end.AddrPort().Port())
}
