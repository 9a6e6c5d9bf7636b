package rtp

import (
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Sizes of a Socket's buffers.
const (
	// batch is how many datagrams one system call may bring: a wake-up finds one,
	// or two when the network jitters.
	batch      = 4
	controlLen = 64
)

// expedited is the DSCP class of voice (RFC 3246) as an IP traffic class byte.
const expedited = 46 << 2

// maxAge bounds what a kernel timestamp may claim; beyond it the wall clock was set.
const maxAge = 5 * time.Second

// Socket is a PacketConn over UDP, on Linux only. It takes its socket out of the
// runtime's network poller. There, each packet would wake a thread although nobody
// waits for it: its reader comes 2 ms later by the clock. With few calls that wake-up
// costs as much as all else. Packets carry the kernel's time of arrival, and the
// traffic class of voice is set.
//
// Recv and Send belong to one goroutine; Close and Release to any.
type Socket struct {
	mu sync.Mutex // held for each system call, so that fd is not closed under it
	fd int        // -1 when closed
	v6 bool

	next, have int // datagrams of the batch: the next to hand out, how many
	drained    bool
	messages   [batch]message
	vectors    [batch]unix.Iovec
	names      [batch]unix.RawSockaddrInet6 // has room for an IPv4 address too
	controls   [batch][controlLen]byte
	data       [batch][maxDatagram]byte
	now        time.Time // after the batch was received

	to  netip.AddrPort // whose raw form is in to4 or to6
	to4 unix.RawSockaddrInet4
	to6 unix.RawSockaddrInet6
}

// message is struct mmsghdr of recvmmsg(2); the compiler adds its padding.
type message struct {
	header unix.Msghdr
	length uint32
}

// NewSocket takes the socket of c over and closes c, also when it fails. The port
// stays bound until Close, or belongs to the caller again after Release.
func NewSocket(c *net.UDPConn) (*Socket, error) {
	defer c.Close()
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	s := &Socket{fd: -1}
	var sysErr error
	err = raw.Control(func(fd uintptr) {
		var family int
		if family, sysErr = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_DOMAIN); sysErr != nil {
			return
		}
		s.v6 = family == unix.AF_INET6
		if sysErr = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1); sysErr != nil {
			return
		}
		// Priority is a favour of the network: a refusal is no fault.
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_TOS, expedited)
		if s.v6 {
			_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_IPV6, unix.IPV6_TCLASS, expedited)
		}
		s.fd, sysErr = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0)
	})
	if err == nil {
		err = sysErr
	}
	if err != nil {
		return nil, err
	}
	s.prepare()
	return s, nil
}

func (s *Socket) prepare() {
	for i := range s.messages {
		s.vectors[i].Base = &s.data[i][0]
		s.vectors[i].SetLen(maxDatagram)
		h := &s.messages[i].header
		h.Name = (*byte)(unsafe.Pointer(&s.names[i]))
		h.Iov = &s.vectors[i]
		h.SetIovlen(1)
		h.Control = &s.controls[i][0]
	}
}

// Recv implements PacketConn.
func (s *Socket) Recv(buf []byte) (n int, from netip.AddrPort, at time.Time, ok bool) {
	if s.next == s.have && !s.drained {
		s.receive()
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

// receive fills the batch with one system call. It does not tell the scheduler,
// since the call cannot block.
func (s *Socket) receive() {
	for i := range s.messages {
		h := &s.messages[i].header
		h.Namelen = unix.SizeofSockaddrInet6
		h.SetControllen(controlLen)
	}
	s.next, s.have = 0, 0
	s.mu.Lock()
	if s.fd >= 0 {
		n, _, errno := syscall.RawSyscall6(unix.SYS_RECVMMSG, uintptr(s.fd),
			uintptr(unsafe.Pointer(&s.messages)), batch, unix.MSG_DONTWAIT, 0, 0)
		if errno == 0 {
			s.have = int(n)
		}
	}
	s.mu.Unlock()
	// Fewer than there was room for: no need to ask once more in this wake-up.
	s.drained = s.have < batch
	if s.have > 0 {
		s.now = time.Now()
	}
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
	name, length := unsafe.Pointer(&s.to4), unsafe.Sizeof(s.to4)
	if s.v6 {
		name, length = unsafe.Pointer(&s.to6), unsafe.Sizeof(s.to6)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fd < 0 {
		return net.ErrClosed
	}
	_, _, errno := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(s.fd),
		uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, uintptr(name), length)
	if errno != 0 {
		return errno
	}
	return nil
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

// Release gives the socket back as an ordinary connection, still bound, for whoever
// keeps a port busy after its call. The Socket is closed.
func (s *Socket) Release() (*net.UDPConn, error) {
	f := os.NewFile(uintptr(s.detach()), "udp")
	if f == nil {
		return nil, net.ErrClosed
	}
	defer f.Close()
	c, err := net.FilePacketConn(f)
	if err != nil {
		return nil, err
	}
	return c.(*net.UDPConn), nil
}

// Close unbinds the port. It may be called more than once.
func (s *Socket) Close() error {
	fd := s.detach()
	if fd < 0 {
		return nil
	}
	return unix.Close(fd)
}

func (s *Socket) detach() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	fd := s.fd
	s.fd = -1
	return fd
}

// swap converts between a port and its raw form in network byte order.
func swap(port uint16) uint16 {
	b := (*[2]byte)(unsafe.Pointer(&port))
	return uint16(b[0])<<8 | uint16(b[1])
}
