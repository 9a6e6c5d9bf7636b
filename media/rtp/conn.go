package rtp

import (
	"net/netip"
	"time"
)

// maxDatagram is more than any RTP or RTCP packet that crosses an Ethernet.
const maxDatagram = 1500

// PacketConn is a socket that never blocks. A Session calls it from the goroutine that
// conducts its call.
type PacketConn interface {
	// Recv copies the next waiting datagram to buf and says how long it is, who
	// sent it and when it arrived. It returns false when none is waiting; what
	// does not fit in buf is cut off.
	Recv(buf []byte) (n int, from netip.AddrPort, at time.Time, ok bool)

	// Send sends p at once or drops it.
	Send(p []byte, to netip.AddrPort) error
}
