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

// Path is what comes to a media port besides media: the far end's connectivity checks and its DTLS handshake. A Session calls it
// from the conductor's goroutine. It answers by itself.
type Path interface {
	// Checked says whether the far end makes connectivity checks: then it is where they say, which is Config.Remote at first.
	Checked() bool

	// Passed says whether a check has come from a source: the far end's media may, too.
	Passed(from netip.AddrPort) bool

	// Receive takes a datagram, which it does not keep, and returns where the far end is by its checks; not valid: unknown.
	Receive(b []byte, from netip.AddrPort) netip.AddrPort

	// ReceiveControl is Receive for the port of RTCP.
	ReceiveControl(b []byte, from netip.AddrPort) netip.AddrPort
}

// IsMedia says whether a datagram is RTP or RTCP, by its first byte; what is not goes to a Path (RFC 7983 section 7).
func IsMedia(b []byte) bool { return len(b) > 0 && b[0]>>6 == 2 }
