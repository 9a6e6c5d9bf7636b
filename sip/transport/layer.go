// Package transport moves SIP messages between a user agent and its peers (RFC 3261 section
// 18): the UDP socket, TCP and TLS connections of both directions, WebSockets of browsers (RFC 7118),
// the gates that messages pass, where a request goes (RFC 3263), and the trace of each call.
//
// A Layer drives the library's parser and transactions. The library sees sockets and
// connections of ours, so each write passes a place where it is traced, and each connection
// has the name that we give it. Read layer.go first, then stream.go.
//
// Messages pass the cheapest gate first: their source before they are parsed (allow.go), then
// how fast it sends (gate.go). The user agent checks its trunk and credentials. What a gate
// refuses is counted and kept for the operators (rejection.go).
//
// A source may speak if the configuration or a trunk allows it, or while a Grant holds it: the
// hosts that a call has named, and those that were asked something, until they have answered.
//
// A TLS connection belongs to one trunk, whatever address it leads to: it shows that trunk's
// certificate, and the trunk's authorities vouched for the far end. The library has one TLS
// configuration and knows connections by the text of their addresses. So we make all
// connections ourselves and hand them to the library; requests of a trunk name the local end of
// its connection, and the far end's name has our port in it, because an answer is sent by the
// text of the request's source. What came to us from there serves all trunks of the address.
package transport

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media/isolate"
)

// Directory knows the trunks. Its methods may be called from several goroutines and must not block.
type Directory interface {
	// Source names the trunk that a source belongs to; ok is false for none.
	Source(a netip.Addr) (trunk string, ok bool)
	// Identify is the identity whose connection leads to an address, and the name of its
	// target there: by, unless that has nothing to do with TLS there.
	Identify(by *Identity, at netip.AddrPort, host string) (*Identity, string)
}

// Config is what a Layer needs. Listen, T1 and Trunks are required.
type Config struct {
	Listen    netip.AddrPort // of UDP and TCP; port 0 takes a free one
	ListenTLS netip.AddrPort // the zero AddrPort: no listener
	TLS       *tls.Config    // the certificate of ListenTLS
	PublicIP  netip.Addr     // what peers outside of loopback see of us; zero: the local address that faces them

	Allow         func(netip.Addr) bool // sources that may speak without a trunk
	RejectUnknown bool                  // other sources are answered, at a low rate
	Trunks        Directory
	Resolver      Resolver      // nil: the system's
	SourceRate    int           // requests a second outside of calls, for each source; 0: 100
	T1            time.Duration // round trip estimate of RFC 3261 section 17.1.1.1

	// Message is called with each message as it comes, in order, before it is handled.
	// It must not block.
	Message func(gosip.Message)
	// Request handles a request on a goroutine of its own.
	Request func(*gosip.Request, *gosip.ServerTx)
	// Unmatched takes responses of no transaction: repeated 2xx, and those of forks.
	Unmatched func(*gosip.Response)
}

// maxDatagram is the size of a request that we still send over UDP. RFC 3261
// section 18.1.1 wants TCP from 1300 bytes on; but a trunk that is configured
// for UDP is better served by a fragmented datagram than by a failed call.
const maxDatagram = 8000

// configureLibrary sets what the library keeps in variables, shared by all layers: the
// datagram limit, and a log that would otherwise take whole messages, with the numbers of
// people in them.
var configureLibrary = sync.OnceFunc(func() {
	gosip.UDPMTUSize = maxDatagram
	gosip.SetDefaultLogger(slog.New(slog.DiscardHandler))
})

// Layer is the transport of one user agent. Its methods may be called from several
// goroutines.
type Layer struct {
	cfg Config
	at  netip.AddrPort // bound

	udp *udpSocket
	tcp *gate
	tls *gate // nil: no listener

	tp  *gosip.TransportLayer
	txl *gosip.TransactionLayer

	Rejections *Rejections
	known      *rateLimits // of requests outside of calls
	unknown    *rateLimits // of everything from unknown sources, while they are answered, and of strangers' wrong credentials
	traces     traces

	ctx   context.Context // ends with Close; its cause is ErrClosed
	close context.CancelCauseFunc

	mu       sync.Mutex
	allowed  map[netip.Addr]int // how many grants there are
	browsers map[netip.AddrPort]*WebSocket
	dialing  map[route]*dialing
	dialed   map[route]*stream // TLS connections of ours, the latest of each route
	running  sync.WaitGroup    // goroutines of listeners, dials and connections that are handed over
	unheard  atomic.Uint64
	unparsed atomic.Uint64
}

// ErrClosed is the error of what a closed layer cannot do any more.
var ErrClosed = errors.New("sip: the user agent is closed")

// New binds the listeners of a layer; Serve serves them, and Close closes them.
func New(cfg Config) (*Layer, error) {
	configureLibrary()
	cfg.SourceRate, cfg.Resolver = cmp.Or(cfg.SourceRate, defaultSourceRate), cmp.Or(cfg.Resolver, Resolver(net.DefaultResolver))
	l := &Layer{
		cfg: cfg, Rejections: NewRejections(),
		known: newRateLimits(float64(cfg.SourceRate)), unknown: newRateLimits(unknownRate),
		allowed: map[netip.Addr]int{}, browsers: map[netip.AddrPort]*WebSocket{}, dialing: map[route]*dialing{}, dialed: map[route]*stream{},
	}
	l.ctx, l.close = context.WithCancelCause(context.Background())
	if err := l.listen(); err != nil {
		return nil, err
	}
	if err := l.listenTLS(); err != nil {
		_, _ = l.udp.Close(), l.tcp.Close()
		return nil, err
	}
	quiet := slog.New(&parseErrors{count: &l.unparsed})
	tcp := func() *gosip.TransportTCP { // it connects only for what is written without Connect to a connection that is gone
		return &gosip.TransportTCP{WriteTimeout: writeTimeout, DialerCreate: func(from net.Addr) net.Dialer {
			return net.Dialer{Timeout: writeTimeout, LocalAddr: from}
		}}
	}
	l.tp = gosip.NewTransportLayer(net.DefaultResolver, gosip.NewParser(gosip.WithHeadersParsers(containedParsers())), nil,
		gosip.WithTransportLayerLogger(quiet),
		gosip.WithTransportLayerReadFilter(l.filter),
		gosip.WithTransportLayerTransports(gosip.TransportsConfig{TCP: tcp(), TLS: &gosip.TransportTLS{TransportTCP: tcp()}, WS: notDialled()}))
	l.tp.OnMessage(l.received)
	l.txl = gosip.NewTransactionLayer(l.tp,
		gosip.WithTransactionLayerLogger(quiet),
		gosip.WithTransactionLayerUnhandledResponseHandler(l.unmatched))
	l.txl.OnRequest(cfg.Request)
	return l, nil
}

// Addr is the address that is served, with its real port.
func (l *Layer) Addr() netip.AddrPort { return l.at }

// TLSAddr is the address that is served over TLS; not valid when none is.
func (l *Layer) TLSAddr() netip.AddrPort {
	if l.tls == nil {
		return netip.AddrPort{}
	}
	return addrOf(l.tls.Addr())
}

// Port is where peers reach us over a transport.
func (l *Layer) Port(transport string) uint16 {
	if transport == "TLS" && l.tls != nil {
		return l.TLSAddr().Port()
	}
	return l.at.Port()
}

// PortOf is where the sender of a message reaches us over what that came over.
func (l *Layer) PortOf(m gosip.Message) uint16 {
	if w := l.browser(Source(m)); w != nil && m.Transport() == OverWebSocket {
		return w.at.Port()
	}
	return l.Port(m.Transport())
}

// Ready is closed when requests can be sent.
func (l *Layer) Ready() <-chan struct{} { return l.udp.ready }

// Unknown counts messages and connections from sources that may not speak.
func (l *Layer) Unknown() uint64 { return l.unheard.Load() }

// Malformed counts what could not be parsed.
func (l *Layer) Malformed() uint64 { return l.unparsed.Load() }

// Serve begins to serve. The error of a listener that stops comes on the channel.
func (l *Layer) Serve(ctx context.Context) <-chan error {
	stopped := make(chan error, 3)
	l.running.Add(2)
	isolate.Keep(ctx, "sip/transport/udp", func() { stopped <- l.tp.ServeUDP(l.udp) }, l.running.Done)
	isolate.Keep(ctx, "sip/transport/tcp", func() {
		l.accept(l.tcp, l.handOver)
		stopped <- net.ErrClosed
	}, l.running.Done)
	if l.tls != nil {
		l.running.Add(1)
		isolate.Keep(ctx, "sip/transport/tls", func() {
			l.accept(l.tls, l.handshake)
			stopped <- net.ErrClosed
		}, l.running.Done)
	}
	return stopped
}

// Close stops serving and sending: what waits for responses ends with ErrClosed.
func (l *Layer) Close() {
	l.mu.Lock() // no dial begins later
	l.close(ErrClosed)
	l.mu.Unlock()
	_ = l.udp.Close()
	_ = l.tcp.Close()
	if l.tls != nil {
		_ = l.tls.Close()
	}
	l.txl.Close()
	l.running.Wait() // no connection is handed over later
	_ = l.tp.Close()
}

// Closed is closed when Close is called.
func (l *Layer) Closed() <-chan struct{} { return l.ctx.Done() }

// received takes each message before the library gives it a goroutine of its own, in the
// order in which they came.
func (l *Layer) received(m gosip.Message) {
	isolate.Do("sip/transport/received", nil, func() {
		l.traceReceived(m)
		stampVia(m)
		l.cfg.Message(m)
	})
}

func (l *Layer) unmatched(res *gosip.Response) {
	isolate.Do("sip/transport/unmatched", nil, func() { l.cfg.Unmatched(res) })
}

// Write sends a message without a transaction. That it may not arrive is the caller's to bear.
func (l *Layer) Write(req *gosip.Request) { _ = l.tp.WriteMsg(req) }

// Facing is the address under which peer can reach us. Asking the kernel's
// routes sends nothing.
func (l *Layer) Facing(peer netip.Addr) netip.Addr {
	peer = peer.Unmap()
	if l.cfg.PublicIP.IsValid() && !peer.IsLoopback() && l.cfg.PublicIP.Unmap().Is4() == peer.Is4() {
		return l.cfg.PublicIP
	}
	if a := l.at.Addr(); !a.IsUnspecified() {
		return a
	}
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(peer, 9)))
	if err != nil {
		return l.at.Addr()
	}
	defer conn.Close()
	return addrOf(conn.LocalAddr()).Addr()
}

// containedParsers are the library's parsers of headers. A panic in one of them is an error
// of the message: some run on goroutines of the library, which do not recover it.
func containedParsers() map[string]gosip.HeaderParser {
	contained := map[string]gosip.HeaderParser{}
	for name, parse := range gosip.DefaultHeadersParser() {
		contained[name] = func(header []byte, data string) (h gosip.Header, err error) {
			err = errHeader
			isolate.Do("sip/transport/header", nil, func() { h, err = parse(header, data) })
			return h, err
		}
	}
	return contained
}

var errHeader = errors.New("sip: the header cannot be parsed")

// parseErrors takes the library's log, which would write whole messages, with the numbers of
// people in them, at the wish of anybody who sends garbage. It counts what could not be
// parsed and drops the rest.
type parseErrors struct{ count *atomic.Uint64 }

func (h *parseErrors) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelError }
func (h *parseErrors) WithAttrs([]slog.Attr) slog.Handler           { return h }
func (h *parseErrors) WithGroup(string) slog.Handler                { return h }
func (h *parseErrors) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "failed to parse" {
		h.count.Add(1)
	}
	return nil
}

// bindAttempts is how often a free UDP port is drawn that is free for TCP too, and
// listenBuffer of the UDP socket holds a burst of some hundred INVITEs.
const (
	bindAttempts = 16
	listenBuffer = 1 << 20
)

// listen binds UDP and TCP on the same port.
func (l *Layer) listen() error {
	var err error
	for range bindAttempts {
		var udp *net.UDPConn
		udp, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(l.cfg.Listen))
		if err != nil {
			return fmt.Errorf("sip: %w", err)
		}
		at := addrOf(udp.LocalAddr())
		var tcp *net.TCPListener
		tcp, err = net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(l.cfg.Listen.Addr(), at.Port())))
		if err == nil {
			_ = udp.SetReadBuffer(listenBuffer) // a smaller one only loses bursts
			l.at = at
			l.udp = &udpSocket{UDPConn: udp, layer: l, ready: make(chan struct{})}
			l.tcp = &gate{TCPListener: tcp, network: "TCP"}
			return nil
		}
		_ = udp.Close()
		if l.cfg.Listen.Port() != 0 {
			break
		}
	}
	return fmt.Errorf("sip: %w", err)
}

// listenTLS binds the TLS listener, if there is to be one.
func (l *Layer) listenTLS() error {
	if !l.cfg.ListenTLS.IsValid() {
		return nil
	}
	if l.cfg.TLS == nil {
		return fmt.Errorf("sip: TLS on %s needs a certificate", l.cfg.ListenTLS)
	}
	tcp, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(l.cfg.ListenTLS))
	if err != nil {
		return fmt.Errorf("sip: %w", err)
	}
	l.tls = &gate{TCPListener: tcp, network: "TLS"}
	return nil
}

// udpSocket is the UDP socket as the library sees it.
type udpSocket struct {
	*net.UDPConn
	layer *Layer
	once  sync.Once
	ready chan struct{} // closed when the library reads: only then it finds this socket for requests of ours
}

// ReadFrom implements net.PacketConn.
func (s *udpSocket) ReadFrom(b []byte) (int, net.Addr, error) {
	s.once.Do(func() { close(s.ready) })
	return s.UDPConn.ReadFrom(b)
}

// WriteTo implements net.PacketConn.
func (s *udpSocket) WriteTo(b []byte, to net.Addr) (int, error) {
	call, m := s.layer.sending("UDP", s.LocalAddr(), to, b)
	n, err := s.UDPConn.WriteTo(b, to)
	call.sent(m, err)
	return n, err
}
