package rtp

import (
	"net"
	"net/netip"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// batch is how many datagrams one system call may bring: a wake-up finds one,
	// and looks for a second only to learn that there is none.
	batch      = 2
	controlLen = 64
	// expedited is the DSCP class of voice (RFC 3246) as an IP traffic class byte.
	expedited = 46 << 2
	// maxAge bounds what a kernel timestamp may claim; beyond it the wall clock
	// was set meanwhile.
	maxAge = 5 * time.Second
)

// Socket is the PacketConn of a UDP connection, on Linux. Packets carry the kernel's
// time of arrival, and go out in the traffic class of voice. It belongs to one
// goroutine; the connection stays its owner's, who may close it at any time.
type Socket struct {
	raw syscall.RawConn
	v6  bool

	next, have int // datagrams of the batch: the next to hand out, how many
	drained    bool
	messages   [batch]message
	vectors    [batch]unix.Iovec
	names      [batch]unix.RawSockaddrInet6 // has room for an IPv4 address too
	controls   [batch][controlLen]byte
	data       [batch][maxDatagram]byte
	now        time.Time // after the batch was received

	to     netip.AddrPort // whose raw form is in to4 or to6
	to4    unix.RawSockaddrInet4
	to6    unix.RawSockaddrInet6
	packet []byte // being sent
	errno  syscall.Errno

	// The methods as values, made once so that no call allocates.
	receiveFrom, sendOn func(fd uintptr) bool
}

// message is struct mmsghdr of recvmmsg(2); the compiler adds its padding.
type message struct {
	header unix.Msghdr
	length uint32
}

// NewSocket prepares c.
func NewSocket(c *net.UDPConn) (*Socket, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	s := &Socket{raw: raw}
	var sysErr error
	err = raw.Control(func(fd uintptr) { sysErr = s.setOptions(int(fd)) })
	if err == nil {
		err = sysErr
	}
	if err != nil {
		return nil, err
	}
	s.receiveFrom, s.sendOn = s.receive, s.send
	for i := range s.messages {
		s.vectors[i].Base = &s.data[i][0]
		s.vectors[i].SetLen(maxDatagram)
		h := &s.messages[i].header
		h.Name = (*byte)(unsafe.Pointer(&s.names[i]))
		h.Iov = &s.vectors[i]
		h.SetIovlen(1)
		h.Control = &s.controls[i][0]
	}
	return s, nil
}

func (s *Socket) setOptions(fd int) error {
	family, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil {
		return err
	}
	s.v6 = family == unix.AF_INET6
	// Priority is a favour of the network: a refusal is no fault.
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_TOS, expedited)
	if s.v6 {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_TCLASS, expedited)
	}
	return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
}

// Recv implements PacketConn.
func (s *Socket) Recv(buf []byte) (n int, from netip.AddrPort, at time.Time, ok bool) {
	if s.next == s.have && !s.drained {
		s.next, s.have = 0, 0
		if s.raw.Read(s.receiveFrom) != nil {
			return 0, netip.AddrPort{}, time.Time{}, false
		}
		// Fewer than there was room for: no need to ask once more in this wake-up.
		s.drained = s.have < batch
		if s.have > 0 {
			s.now = time.Now()
		}
	}
	if s.next == s.have {
		s.drained = false // the next call asks the kernel again
		return 0, netip.AddrPort{}, time.Time{}, false
	}
	i := s.next
	s.next++
	n = copy(buf, s.data[i][:s.messages[i].length])
	return n, s.sender(i), s.arrival(i), true
}

// receive fills the batch with one system call. The scheduler is not involved, since
// the call cannot block; nor is the poller asked, hence always true.
func (s *Socket) receive(fd uintptr) bool {
	for i := range s.messages {
		h := &s.messages[i].header
		h.Namelen = unix.SizeofSockaddrInet6
		h.SetControllen(controlLen)
	}
	n, _, errno := syscall.RawSyscall6(unix.SYS_RECVMMSG, fd,
		uintptr(unsafe.Pointer(&s.messages)), batch, unix.MSG_DONTWAIT, 0, 0)
	if errno == 0 {
		s.have = int(n)
	}
	return true
}

func (s *Socket) sender(i int) netip.AddrPort {
	if s.names[i].Family == unix.AF_INET {
		a := (*unix.RawSockaddrInet4)(unsafe.Pointer(&s.names[i]))
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), swap(a.Port))
	}
	a := &s.names[i]
	return netip.AddrPortFrom(netip.AddrFrom16(a.Addr).Unmap(), swap(a.Port))
}

// arrival turns the kernel's wall-clock timestamp into a time that compares with
// ours even when the wall clock is being set.
func (s *Socket) arrival(i int) time.Time {
	h := &s.messages[i].header
	c := (*unix.Cmsghdr)(unsafe.Pointer(&s.controls[i]))
	if uint64(h.Controllen) < unix.SizeofCmsghdr+uint64(unsafe.Sizeof(unix.Timespec{})) ||
		c.Level != unix.SOL_SOCKET || c.Type != unix.SCM_TIMESTAMPNS {
		return s.now
	}
	stamp := (*unix.Timespec)(unsafe.Pointer(&s.controls[i][unix.SizeofCmsghdr]))
	age := time.Duration(s.now.UnixNano() - stamp.Nano())
	if age < 0 || age > maxAge {
		return s.now
	}
	return s.now.Add(-age)
}

// Send implements PacketConn.
func (s *Socket) Send(p []byte, to netip.AddrPort) error {
	if len(p) == 0 {
		return nil
	}
	if to != s.to {
		if err := s.address(to); err != nil {
			return err
		}
	}
	s.packet = p
	if err := s.raw.Write(s.sendOn); err != nil {
		return err
	}
	if s.errno != 0 {
		return s.errno
	}
	return nil
}

func (s *Socket) send(fd uintptr) bool {
	name, length := unsafe.Pointer(&s.to4), unsafe.Sizeof(s.to4)
	if s.v6 {
		name, length = unsafe.Pointer(&s.to6), unsafe.Sizeof(s.to6)
	}
	_, _, s.errno = syscall.RawSyscall6(unix.SYS_SENDTO, fd,
		uintptr(unsafe.Pointer(&s.packet[0])), uintptr(len(s.packet)), unix.MSG_DONTWAIT, uintptr(name), length)
	return true
}

// address prepares the raw form of to.
func (s *Socket) address(to netip.AddrPort) error {
	addr := to.Addr().Unmap()
	if !addr.IsValid() || (!s.v6 && !addr.Is4()) {
		return unix.EAFNOSUPPORT
	}
	s.to = to
	if s.v6 {
		s.to6 = unix.RawSockaddrInet6{Family: unix.AF_INET6, Port: swap(to.Port()), Addr: addr.As16()}
		return nil
	}
	s.to4 = unix.RawSockaddrInet4{Family: unix.AF_INET, Port: swap(to.Port()), Addr: addr.As4()}
	return nil
}

// swap converts between a port and its raw form in network byte order.
func swap(port uint16) uint16 {
	b := (*[2]byte)(unsafe.Pointer(&port))
	return uint16(b[0])<<8 | uint16(b[1])
}
