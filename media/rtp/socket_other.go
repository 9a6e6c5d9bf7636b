//go:build !linux

package rtp

import (
	"net"
	"net/netip"
	"syscall"
	"time"
)

// Socket is the PacketConn of a UDP connection where there is no recvmmsg(2): one system
// call for a datagram, times of arrival by our own clock, no traffic class. It is for trying
// things out. It belongs to one goroutine; the connection stays its owner's, who may close it
// at any time.
type Socket struct {
	conn *net.UDPConn
	raw  syscall.RawConn

	buf  []byte // to receive into
	n    int
	from syscall.Sockaddr
	err  error

	receiveFrom func(fd uintptr) bool // receive as a value, made once
}

// NewSocket prepares c.
func NewSocket(c *net.UDPConn) (*Socket, error) {
	raw, err := c.SyscallConn()
	if err == nil {
		err = raw.Control(func(uintptr) {}) // fails once c is closed
	}
	s := &Socket{conn: c, raw: raw}
	s.receiveFrom = s.receive
	return s, err
}

// Recv implements PacketConn.
func (s *Socket) Recv(buf []byte) (n int, from netip.AddrPort, at time.Time, ok bool) {
	s.buf = buf[:min(len(buf), maxDatagram)]
	if s.raw.Read(s.receiveFrom) != nil || s.err != nil {
		return 0, netip.AddrPort{}, time.Time{}, false
	}
	switch a := s.from.(type) {
	case *syscall.SockaddrInet4:
		from = netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port))
	case *syscall.SockaddrInet6:
		from = netip.AddrPortFrom(netip.AddrFrom16(a.Addr).Unmap(), uint16(a.Port))
	}
	return s.n, from, time.Now(), true
}

// receive asks for one datagram. The descriptor does not block, and the poller is not
// asked, hence always true.
func (s *Socket) receive(fd uintptr) bool {
	s.n, s.from, s.err = syscall.Recvfrom(int(fd), s.buf, 0)
	return true
}

// Send implements PacketConn.
func (s *Socket) Send(p []byte, to netip.AddrPort) error {
	_, err := s.conn.WriteToUDPAddrPort(p, to)
	return err
}
