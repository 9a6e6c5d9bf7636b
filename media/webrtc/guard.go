package webrtc

import (
	"encoding/binary"
	"net"
	"net/netip"
	"time"

	"github.com/pion/ice/v4"
	"golang.org/x/time/rate"
)

// A client has one stream of audio at a time. The library makes a transceiver and
// goroutines of each that it sees, so others are dropped before it sees them: before they
// are authenticated, too. A packet forged from a client's address can so keep the
// client's stream out, but only until the forged one has been quiet for a while.
const (
	maxStreams  = 4 // in the life of an ICE session, one after the other
	streamQuiet = 2 * time.Second
	// Reports come every few seconds. The library keeps something of each source that one
	// names.
	reportEvery = 100 * time.Millisecond
	reportBurst = 30
)

// guard is the port as the library sees it.
type guard struct{ ice.UDPMux }

// GetConn implements ice.UDPMux.
func (g guard) GetConn(ufrag string, addr net.Addr) (net.PacketConn, error) {
	conn, err := g.UDPMux.GetConn(ufrag, addr)
	if err != nil {
		return nil, err
	}
	c := guarded{PacketConn: conn, streams: &streams{reports: rate.NewLimiter(rate.Every(reportEvery), reportBurst)}}
	if fast, ok := conn.(ice.AddrPortReaderWriter); ok {
		return &guardedFast{guarded: c, fast: fast}, nil
	}
	return &c, nil
}

// guarded is an ICE session's part of the port.
type guarded struct {
	net.PacketConn
	streams *streams
}

// ReadFrom implements net.PacketConn.
func (c *guarded) ReadFrom(b []byte) (n int, from net.Addr, err error) {
	for {
		if n, from, err = c.PacketConn.ReadFrom(b); err != nil || c.streams.pass(b[:n], time.Now()) {
			return n, from, err
		}
	}
}

// guardedFast is one that reads without allocating.
type guardedFast struct {
	guarded
	fast ice.AddrPortReaderWriter
}

// ReadFromAddrPort implements ice.AddrPortReaderWriter.
func (c *guardedFast) ReadFromAddrPort(b []byte) (n int, from netip.AddrPort, err error) {
	for {
		if n, from, err = c.fast.ReadFromAddrPort(b); err != nil || c.streams.pass(b[:n], time.Now()) {
			return n, from, err
		}
	}
}

// WriteToAddrPort implements ice.AddrPortReaderWriter.
func (c *guardedFast) WriteToAddrPort(b []byte, to netip.AddrPort) (int, error) {
	return c.fast.WriteToAddrPort(b, to)
}

// streams follows what arrives in an ICE session. It belongs to the session's reader.
type streams struct {
	ssrc    uint32 // of the stream that passes
	seen    time.Time
	count   int // streams so far
	reports *rate.Limiter
}

// pass says whether the library is to see a packet (RFC 7983, RFC 5761 section 4).
func (s *streams) pass(b []byte, now time.Time) bool {
	const rtpHeader = 12
	switch {
	case len(b) == 0 || b[0] < 128 || b[0] > 191:
		return true // STUN, DTLS
	case len(b) < rtpHeader:
		return false
	case b[1] >= 192 && b[1] <= 223: // RTCP
		return s.reports.AllowN(now, 1)
	}
	ssrc := binary.BigEndian.Uint32(b[8:])
	if s.count == 0 || ssrc != s.ssrc {
		if s.count == maxStreams || s.count > 0 && now.Sub(s.seen) < streamQuiet {
			return false
		}
		s.count++
		s.ssrc = ssrc
	}
	s.seen = now
	return true
}
