package mediatest

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"
)

// PacketConn is what RTP needs of a socket. *net.UDPConn is one, and so is each
// end of a Pipe, which is a net.PacketConn besides.
type PacketConn interface {
	ReadFromUDPAddrPort(b []byte) (n int, from netip.AddrPort, err error)
	WriteToUDPAddrPort(b []byte, to netip.AddrPort) (int, error)
	SetReadDeadline(t time.Time) error
	LocalAddr() net.Addr
	Close() error
}

var (
	_ PacketConn     = (*net.UDPConn)(nil)
	_ PacketConn     = (*PipeConn)(nil)
	_ net.PacketConn = (*PipeConn)(nil)
)

// The addresses of the ends of a Pipe, of the block for documentation (RFC 5737).
var (
	pipeAddrA = netip.MustParseAddrPort("192.0.2.1:40000")
	pipeAddrB = netip.MustParseAddrPort("192.0.2.2:50000")
)

// PipeConn is one end of a datagram network in memory. It uses no goroutine and
// waits on channels and timers only: made inside a synctest bubble it lives on
// the bubble's time. It may be used from several goroutines.
type PipeConn struct {
	local, remote netip.AddrPort
	in, out       *lane
}

// lane is one direction of a pipe.
type lane struct {
	mu       sync.Mutex
	flight   *inFlight
	deadline time.Time
	closed   bool          // the end that reads has closed
	changed  chan struct{} // closed and replaced whenever something above changes
}

// Pipe returns two ends joined by a network that is like link in both directions,
// each with dice of its own.
func Pipe(link Link) (a, b *PipeConn) {
	back := link
	back.Seed = ^link.Seed
	to, from := newLane(link), newLane(back)
	a = &PipeConn{local: pipeAddrA, remote: pipeAddrB, in: from, out: to}
	b = &PipeConn{local: pipeAddrB, remote: pipeAddrA, in: to, out: from}
	return a, b
}

func newLane(link Link) *lane {
	return &lane{flight: newInFlight(link), changed: make(chan struct{})}
}

// change runs f under the lock and wakes a waiting reader.
func (l *lane) change(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
	close(l.changed)
	l.changed = make(chan struct{})
}

// SetLink changes how packets sent from this end fare, from the next one on, with
// new dice. Those on their way stay as they are.
func (c *PipeConn) SetLink(link Link) {
	c.out.change(func() {
		fresh := newInFlight(link)
		c.out.flight.link, c.out.flight.rng = fresh.link, fresh.rng
	})
}

// Stats counts the packets sent from this end, by outcome.
func (c *PipeConn) Stats() LinkStats {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	return c.out.flight.stats
}

// WriteToUDPAddrPort sends one datagram. As on a network, success does not mean
// delivery; one to an address that is not the other end's is lost.
func (c *PipeConn) WriteToUDPAddrPort(b []byte, to netip.AddrPort) (int, error) {
	c.in.mu.Lock()
	closed := c.in.closed
	c.in.mu.Unlock()
	if closed {
		return 0, c.fail("write", net.ErrClosed)
	}
	if netip.AddrPortFrom(to.Addr().Unmap(), to.Port()) == c.remote {
		c.out.change(func() {
			if !c.out.closed {
				c.out.flight.send(b, time.Now())
			}
		})
	}
	return len(b), nil
}

// ReadFromUDPAddrPort waits for the next datagram. What b has no room for is cut.
func (c *PipeConn) ReadFromUDPAddrPort(b []byte) (n int, from netip.AddrPort, err error) {
	for {
		p, ok, wake, changed, err := c.poll()
		if err != nil {
			return 0, netip.AddrPort{}, err
		}
		if ok {
			return copy(b, p.data), c.remote, nil
		}
		if wake.IsZero() {
			<-changed
			continue
		}
		timer := time.NewTimer(time.Until(wake))
		select {
		case <-changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// poll returns a packet if one is here, else when to look again: at wake, unless
// it is zero, or as soon as changed is closed.
func (c *PipeConn) poll() (p packet, ok bool, wake time.Time, changed <-chan struct{}, err error) {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	now := time.Now()
	if c.in.closed {
		return packet{}, false, wake, nil, c.fail("read", net.ErrClosed)
	}
	late := c.in.deadline
	if !late.IsZero() && !now.Before(late) {
		return packet{}, false, wake, nil, c.fail("read", os.ErrDeadlineExceeded)
	}
	p, ok, wake = c.in.flight.next(now)
	if !late.IsZero() && (wake.IsZero() || late.Before(wake)) {
		wake = late
	}
	return p, ok, wake, c.in.changed, nil
}

// ReadFrom is ReadFromUDPAddrPort with a net.Addr.
func (c *PipeConn) ReadFrom(b []byte) (int, net.Addr, error) {
	n, from, err := c.ReadFromUDPAddrPort(b)
	if err != nil {
		return n, nil, err
	}
	return n, net.UDPAddrFromAddrPort(from), nil
}

// WriteTo is WriteToUDPAddrPort for a *net.UDPAddr.
func (c *PipeConn) WriteTo(b []byte, to net.Addr) (int, error) {
	udp, ok := to.(*net.UDPAddr)
	if !ok {
		return 0, c.fail("write", errors.New("not a UDP address"))
	}
	return c.WriteToUDPAddrPort(b, udp.AddrPort())
}

// Close wakes the readers of this end with net.ErrClosed and drops what was on its
// way to it. The other end does not notice.
func (c *PipeConn) Close() error {
	c.in.change(func() {
		c.in.closed = true
		c.in.flight.packets = nil
	})
	return nil
}

// LocalAddr is a *net.UDPAddr.
func (c *PipeConn) LocalAddr() net.Addr { return net.UDPAddrFromAddrPort(c.local) }

// RemoteAddr is the address of the other end, a *net.UDPAddr.
func (c *PipeConn) RemoteAddr() net.Addr { return net.UDPAddrFromAddrPort(c.remote) }

// SetReadDeadline makes reads fail from t on; the zero time takes that back.
func (c *PipeConn) SetReadDeadline(t time.Time) error {
	c.in.change(func() { c.in.deadline = t })
	return nil
}

// SetWriteDeadline has no effect: writing never waits.
func (c *PipeConn) SetWriteDeadline(time.Time) error { return nil }

// SetDeadline is SetReadDeadline.
func (c *PipeConn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

func (c *PipeConn) fail(op string, err error) error {
	return &net.OpError{Op: op, Net: "udp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}
