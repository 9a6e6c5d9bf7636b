package sip

import (
	"context"
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

const (
	// tcpWriteTimeout bounds how long a far end that does not read can hold up
	// whoever writes to it.
	tcpWriteTimeout = 5 * time.Second
	// maxConnections bounds incoming TCP connections: trunks use one or a few
	// each. More are closed at once.
	maxConnections = 1024
	// bindAttempts is how often a free UDP port is drawn that is free for TCP too.
	bindAttempts = 16
	// listenBuffer of the UDP socket holds a burst of some hundred INVITEs.
	listenBuffer = 1 << 20
)

// listen binds UDP and TCP on the same port.
func (u *UserAgent) listen() error {
	var err error
	for range bindAttempts {
		var udp *net.UDPConn
		udp, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(u.cfg.Listen))
		if err != nil {
			return fmt.Errorf("sip: %w", err)
		}
		at := udp.LocalAddr().(*net.UDPAddr).AddrPort()
		var tcp *net.TCPListener
		tcp, err = net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(u.cfg.Listen.Addr(), at.Port())))
		if err == nil {
			_ = udp.SetReadBuffer(listenBuffer) // a smaller one only loses bursts
			u.at = netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
			u.udp = &readyConn{UDPConn: udp, ready: make(chan struct{})}
			u.tcp = &gate{TCPListener: tcp, ua: u}
			return nil
		}
		_ = udp.Close()
		if u.cfg.Listen.Port() != 0 {
			break
		}
	}
	return fmt.Errorf("sip: %w", err)
}

// readyConn says when the transport has begun to read: only then does it find
// this socket for requests of ours.
type readyConn struct {
	*net.UDPConn
	once  sync.Once
	ready chan struct{}
}

func (c *readyConn) ReadFrom(b []byte) (int, net.Addr, error) {
	c.once.Do(func() { close(c.ready) })
	return c.UDPConn.ReadFrom(b)
}

// gate is the TCP listener: it lets only known sources in, and a bounded number.
type gate struct {
	*net.TCPListener
	ua   *UserAgent
	open atomic.Int64
}

// Accept returns the next connection of a known source. An idle one has no read timeout:
// a carrier keeps its connection for the next call and may say nothing for hours, and the
// flow of a registration is how calls come at all (RFC 5626). The kernel probes
// it (package net enables keepalive on what it accepts and dials), so that one whose far end is
// gone closes within minutes; maxConnections bounds the others. Accept returns an error
// only when the listener is closed: the transport stops serving at any error,
// and running out of file descriptors must not mean that.
func (g *gate) Accept() (net.Conn, error) {
	pause := 5 * time.Millisecond
	for {
		conn, err := g.TCPListener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil, err
		}
		if err != nil {
			time.Sleep(pause)
			pause = min(2*pause, time.Second)
			continue
		}
		if !g.ua.admits(conn.RemoteAddr()) || g.open.Load() >= maxConnections {
			_ = conn.Close()
			continue
		}
		g.open.Add(1)
		return &counted{Conn: conn, done: sync.OnceFunc(func() { g.open.Add(-1) })}, nil
	}
}

type counted struct {
	net.Conn
	done func()
}

func (c *counted) Close() error {
	c.done()
	return c.Conn.Close()
}

// filter drops what strangers send before it is parsed.
func (u *UserAgent) filter(from gosip.TransportReadProps, data []byte) (taken []byte, err error) {
	isolate.Do("sip/filter", nil, func() { taken = u.filtered(from, data) })
	return taken, nil
}

func (u *UserAgent) filtered(from gosip.TransportReadProps, data []byte) []byte {
	if !u.admits(from.RemoteAddr) || from.Transport == "UDP" && u.floods(addrOf(from.RemoteAddr), data) {
		return nil
	}
	return data
}

// containedHeaders are the library's parsers of headers. A panic in one of them is an error
// of the message: some run on goroutines of the library, where nobody recovers it.
func containedHeaders() map[string]gosip.HeaderParser {
	contained := map[string]gosip.HeaderParser{}
	for name, parse := range gosip.DefaultHeadersParser() {
		contained[name] = func(header []byte, data string) (h gosip.Header, err error) {
			err = errHeader
			isolate.Do("sip/header", nil, func() { h, err = parse(header, data) })
			return h, err
		}
	}
	return contained
}

var errHeader = errors.New("sip: the header cannot be parsed")

// admits says whether a source may be listened to, and counts it if not.
func (u *UserAgent) admits(a net.Addr) bool {
	from, now := addrOf(a), time.Now()
	if u.knows(from) {
		return true
	}
	u.counters.unknown.Add(1)
	if u.cfg.RejectUnknown && u.strangers.take(from, now) {
		return true // request refuses it
	}
	u.rejections.add(Rejection{Source: from, Cause: CauseUnknown}, now)
	return false
}

// knows says whether an address belongs to a trunk or to someone we have called.
func (u *UserAgent) knows(a netip.Addr) bool {
	if !a.IsValid() {
		return false
	}
	if u.cfg.Allow(a) || u.lineOf(a) != nil {
		return true
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.peers[a] > 0
}

// expect lets an address that we call answer, until forget.
func (u *UserAgent) expect(a netip.Addr) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.peers[a]++
}

func (u *UserAgent) forget(a netip.Addr) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.peers[a]--; u.peers[a] <= 0 {
		delete(u.peers, a)
	}
}

func addrOf(a net.Addr) netip.Addr {
	switch a := a.(type) {
	case *net.UDPAddr:
		return a.AddrPort().Addr().Unmap()
	case *net.TCPAddr:
		return a.AddrPort().Addr().Unmap()
	case *numbered:
		return a.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}

// source is where a message came from; not valid when the transport did not say.
func source(m gosip.Message) netip.AddrPort {
	a, err := netip.ParseAddrPort(m.Source())
	if err != nil {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

// facing is the address under which peer can reach us. Asking the kernel's
// routes sends nothing.
func (u *UserAgent) facing(peer netip.Addr) netip.Addr {
	peer = peer.Unmap()
	if u.cfg.PublicIP.IsValid() && !peer.IsLoopback() && u.cfg.PublicIP.Unmap().Is4() == peer.Is4() {
		return u.cfg.PublicIP
	}
	if a := u.at.Addr(); !a.IsUnspecified() {
		return a
	}
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(peer, 9)))
	if err != nil {
		return u.at.Addr()
	}
	defer conn.Close()
	return addrOf(conn.LocalAddr())
}

// complaints takes the library's log: it would write whole messages, with the
// numbers of people in them, at the wish of whoever sends garbage. What it
// could not parse is counted, the rest dropped.
type complaints struct{ count *atomic.Uint64 }

func (h *complaints) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelError }
func (h *complaints) WithAttrs([]slog.Attr) slog.Handler           { return h }
func (h *complaints) WithGroup(string) slog.Handler                { return h }
func (h *complaints) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "failed to parse" {
		h.count.Add(1)
	}
	return nil
}
