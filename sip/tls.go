package sip

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	gosip "github.com/emiago/sipgo/sip"
	"parley/media/isolate"
)

const (
	// connectTimeout bounds the wait for a TCP connection, and for the handshake of
	// a caller; connectPatience, in T1, that for a TLS connection of ours: 5 s.
	connectTimeout  = 5 * time.Second
	connectPatience = 10
	// maxHandshakes bounds the TLS handshakes of callers that are under way.
	maxHandshakes = 64
)

// transports are the library's, with limits on how long they wait.
func transports() gosip.TransportsConfig {
	tcp := func() *gosip.TransportTCP {
		return &gosip.TransportTCP{WriteTimeout: tcpWriteTimeout, DialerCreate: func(from net.Addr) net.Dialer {
			return net.Dialer{Timeout: connectTimeout, LocalAddr: from}
		}}
	}
	return gosip.TransportsConfig{TCP: tcp(), TLS: &gosip.TransportTLS{TransportTCP: tcp()}}
}

// tlsGate is the TLS listener. The library has one TLS configuration for all its
// outgoing connections, but each trunk wants its own; so we make those too, and
// hand them to the library as if they had been accepted: from then on it finds
// them by their addresses.
type tlsGate struct {
	gate *gate // callers' connections; nil: nobody listens
	cfg  *tls.Config
	at   netip.AddrPort

	ctx   context.Context // ends with Close
	close context.CancelFunc
	ready chan arrived
	held  chan struct{} // of the connection that Accept returned last; only Accept uses it
	busy  atomic.Int64  // handshakes

	mu      sync.Mutex
	dialing map[route]*dialing
	made    map[route]*owned // the latest of each; some have been closed
	dials   sync.WaitGroup   // of their goroutines
}

// arrived is a connection after its handshake.
type arrived struct {
	conn  net.Conn
	known chan struct{} // closed when the library can find it
}

// dialing is one attempt to connect, for all who want it.
type dialing struct {
	done chan struct{}
	err  error
}

// listenTLS binds the TLS listener, if there is to be one.
func (u *UserAgent) listenTLS() error {
	u.tls = &tlsGate{cfg: u.cfg.TLS, at: u.at, ready: make(chan arrived), dialing: map[route]*dialing{}, made: map[route]*owned{}}
	u.tls.ctx, u.tls.close = context.WithCancel(context.Background())
	if !u.cfg.ListenTLS.IsValid() {
		return nil
	}
	if u.cfg.TLS == nil {
		return fmt.Errorf("sip: TLS on %s needs a certificate", u.cfg.ListenTLS)
	}
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(u.cfg.ListenTLS))
	if err != nil {
		return fmt.Errorf("sip: %w", err)
	}
	at := l.Addr().(*net.TCPAddr).AddrPort()
	u.tls.at = netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
	u.tls.gate = &gate{TCPListener: l, ua: u}
	return nil
}

// TLSAddr is the address that is served over TLS; not valid when none is.
func (u *UserAgent) TLSAddr() netip.AddrPort {
	if u.tls.gate == nil {
		return netip.AddrPort{}
	}
	return u.tls.at
}

// portOf is where we can be reached over a transport.
func (u *UserAgent) portOf(transport string) uint16 {
	if transport == "TLS" {
		return u.tls.at.Port()
	}
	return u.at.Port()
}

// Addr is the listener's, for the library.
func (g *tlsGate) Addr() net.Addr { return net.TCPAddrFromAddrPort(g.at) }

// Accept returns the next connection, of either direction.
func (g *tlsGate) Accept() (net.Conn, error) {
	if g.held != nil {
		close(g.held) // the library comes back when it has taken the last one in
		g.held = nil
	}
	select {
	case a := <-g.ready:
		g.held = a.known
		return a.conn, nil
	case <-g.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Close stops both directions.
func (g *tlsGate) Close() error {
	g.close()
	if g.gate != nil {
		return g.gate.TCPListener.Close()
	}
	return nil
}

// serve takes callers' connections in until Close.
func (g *tlsGate) serve() {
	if g.gate == nil {
		return
	}
	var all sync.WaitGroup
	defer all.Wait()
	for {
		raw, err := g.gate.Accept()
		if err != nil {
			return
		}
		if g.busy.Add(1) > maxHandshakes {
			g.busy.Add(-1)
			_ = raw.Close()
			continue
		}
		all.Add(1)
		taken := false
		isolate.Go("sip/handshake", nil, func() {
			ctx, cancel := context.WithTimeout(g.ctx, connectTimeout)
			defer cancel()
			conn := tls.Server(raw, g.cfg)
			taken = conn.HandshakeContext(ctx) == nil && g.take(conn) == nil
		}, func() {
			if !taken {
				_ = raw.Close()
			}
		}, func() { g.busy.Add(-1) }, all.Done)
	}
}

// take hands a connection to the library and waits until it can be found.
func (g *tlsGate) take(conn net.Conn) error {
	known := make(chan struct{})
	select {
	case g.ready <- arrived{conn, known}:
	case <-g.ctx.Done():
		return ErrClosed
	}
	select {
	case <-known:
		return nil
	case <-g.ctx.Done():
		return ErrClosed
	}
}
